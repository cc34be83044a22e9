"""From a program of ops to the core program, of the few kinds of values that native code has."""
