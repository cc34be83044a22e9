"""LLVM: how its text is written, elementary functions as instructions, and machine code."""
