"""What an op is, and how one is declared."""

from .op import Op, binary, constant, declare, unary

__all__ = ["Op", "binary", "constant", "declare", "unary"]
