"""Writing to arrays in place.

============== ====================================================================
`methods`      what can be done in place: assignments, `+=`, methods like `add_`
`tensors`      how a tensor is written: its memory, and its place in the graph
`transforms`   how an array under a transform is written: the array inside is replaced
`views`        arrays that are a part of another one: a write to one shows in the other
============== ====================================================================

The op `put`, by which writes are recorded, is in `ops.writing`; `core.versions` knows which memory
was written when.
"""
