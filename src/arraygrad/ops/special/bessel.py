"""Modified Bessel functions of the first kind, of orders zero and one.

The derivatives use the recurrence between neighbouring orders, because it has no pole at zero.
"""

from __future__ import annotations

from ..elementwise import sign
from .libraries import library_binary, library_unary

__all__ = ["i0", "i0e", "i1", "i1e"]

i0 = library_unary(
    "i0", d=lambda x: i1(x), doc="The modified Bessel function of the first kind of order zero."
)
i1 = library_unary(
    "i1",
    d=lambda x: (i0(x) + _iv(2, x)) * 0.5,
    doc="The modified Bessel function of the first kind of order one.",
)
i0e = library_unary(
    "i0e",
    d=lambda x, out: i1e(x) - sign(x) * out,
    doc="``exp(-abs(x)) * i0(x)``: it does not overflow.",
)
i1e = library_unary(
    "i1e",
    d=lambda x, out: (i0e(x) + _ive(2, x)) * 0.5 - sign(x) * out,
    doc="``exp(-abs(x)) * i1(x)``: it does not overflow.",
)
_iv = library_binary("iv", vjp_y=lambda g, x, y: g * (_iv(x - 1, y) + _iv(x + 1, y)) * 0.5)
_ive = library_binary(
    "ive",
    vjp_y=lambda g, x, y, out: g * ((_ive(x - 1, y) + _ive(x + 1, y)) * 0.5 - sign(y) * out),
)
