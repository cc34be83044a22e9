"""The gamma and beta functions, and derivatives of their logarithms.

Incomplete gamma and beta functions are in `incomplete`.
"""

from __future__ import annotations

import math
from typing import Any

from ..elementwise import is_complex, less, real, sin, where
from .libraries import library_binary, library_unary

__all__ = ["betaln", "digamma", "gamma", "gammaln", "polygamma", "psi"]

gammaln = library_unary(
    "gammaln",
    d=lambda x: digamma(x),
    doc="The logarithm of the absolute value of the gamma function.",
)


def _trigamma(x: Any) -> Any:
    """The derivative of `digamma`; of complex numbers, which no library has it for, by its series.

    On the left of one half it is reflected there, on the right the series follows a few terms of
    the sum of ``1 / (x + k) ** 2``.
    """
    if not is_complex(x):
        return polygamma(1, x)
    left = less(real(x), 0.5)
    right = where(left, 1 - x, x)
    total = 0 * x
    for k in range(_TERMS):
        total = total + 1 / (right + k) ** 2
    end = right + _TERMS
    inverse = 1 / (end * end)
    total = total + 1 / end + inverse / 2
    power = inverse / end
    for number in _BERNOULLI:
        total = total + number * power
        power = power * inverse
    reflected = (math.pi / sin(math.pi * where(left, x, 0.5))) ** 2 - total
    return where(left, reflected, total)


# Bernoulli numbers: B(2j) for j = 1, 2, …
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
_TERMS = 12

digamma = library_unary(
    "digamma", d=lambda x: _trigamma(x), doc="The derivative of the gamma function's logarithm."
)
psi = digamma
polygamma = library_binary(
    "polygamma",
    vjp_y=lambda g, x, y: g * polygamma(x + 1, y),
    doc="""``polygamma(n, x)``: the derivative of `digamma` of order `n`, an integer, at `x`.

    >>> ag.special.polygamma(1, ag.tensor([1.0, 2.0]))
    tensor([1.64493407, 0.64493407])
    """,
)
betaln = library_binary(
    "betaln",
    vjp_x=lambda g, x, y: g * (digamma(x) - digamma(x + y)),
    vjp_y=lambda g, x, y: g * (digamma(y) - digamma(x + y)),
    doc="The logarithm of the absolute value of the beta function.",
)
gamma = library_unary(
    "gamma", vjp=lambda g, x, out: g * (out * digamma(x)), doc="The gamma function."
)
