"""The compiler: turns a function of arrays into a program. Nothing imports it until it is used.

Each folder is a stage. From the call of a function down to machine code, these are `call`, `loops`,
`run`, `emit`, `fuse`, `lower`, `llvm` and `trace`. A stage uses only those that come after it.
"""
