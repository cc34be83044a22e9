"""From a call of a compiled function to its program: signatures, guards, the trace, derivatives."""
