"""The base of the package: array types, levels, kinds of ops, nodes, modes, writes to memory.

No op, no backend and no sweep lives here.
"""
