"""Kelvin functions: the real and imaginary parts of Bessel functions along a diagonal.

Each has its derivative under a name of its own in SciPy. The second derivative follows from the
differential equation, with x f'' + f' = ∓x g for a pair of functions f and g.
"""

from __future__ import annotations

from typing import Any

from ...ops import equal, where
from ..twins import array_like, twin
from .declaring import SCIPY, special

__all__ = ["bei", "beip", "ber", "berp", "kei", "keip", "kelvin", "ker", "kerp"]


def _bend(slope: Any, other: Any, at_zero: float, x: Any) -> Any:
    zero = equal(x, 0)
    return where(zero, at_zero, other - slope / where(zero, 1, x))


ber = special("ber", "x", d_x=lambda x: berp(x))
bei = special("bei", "x", d_x=lambda x: beip(x))
ker = special("ker", "x", d_x=lambda x: kerp(x))
kei = special("kei", "x", d_x=lambda x: keip(x))
berp = special("berp", "x", d_x=lambda x, out: _bend(out, -bei(x), 0.0, x))
beip = special("beip", "x", d_x=lambda x, out: _bend(out, ber(x), 0.5, x))
kerp = special("kerp", "x", d_x=lambda x, out: _bend(out, -kei(x), float("inf"), x))
keip = special("keip", "x", d_x=lambda x, out: _bend(out, ker(x), float("inf"), x))


@twin(SCIPY.kelvin)
def kelvin(x: Any) -> Any:
    """All Kelvin functions and their derivatives, as complex numbers."""
    x = array_like(x)
    pairs = (ber, bei), (ker, kei), (berp, beip), (kerp, keip)
    return tuple(real(x) + 1j * imaginary(x) for real, imaginary in pairs)
