"""The class `Op`, and the functions that declare ops. The ops themselves are in `ops`."""

from ...core.kinds import AlongAxis, Contracts, Elementwise, Matrices, Moves, Opaque, Reduces
from .op import Op, Own, binary, constant, declare, unary

__all__ = [
    "AlongAxis", "Contracts", "Elementwise", "Matrices", "Moves", "Op", "Opaque", "Own", "Reduces",
    "binary", "constant", "declare", "unary",
]  # fmt: skip
