"""What an op is, and how one is declared."""

from ...core.kinds import AlongAxis, Contracts, Elementwise, Matrices, Moves, Opaque, Reduces
from .op import Op, Own, binary, constant, declare, unary

__all__ = [
    "AlongAxis",
    "Contracts",
    "Elementwise",
    "Matrices",
    "Moves",
    "Op",
    "Opaque",
    "Own",
    "Reduces",
    "binary",
    "constant",
    "declare",
    "unary",
]
