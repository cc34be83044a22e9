"""Derivatives that have no closed form, as series that converge fast, made of ops."""

from __future__ import annotations

from typing import Any

from .array import zeros_like
from .elementwise import add, divide, log, multiply, pow, subtract

# Of Bernoulli: B(2j) / (2j)! for j = 1, 2, …
_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
    -174611 / 802857662698291200000,
)
_TERMS = 12


def hurwitz_zeta_slope(x: Any, q: Any) -> Any:
    """The derivative of Hurwitz's zeta function by `x`, for positive `q`.

    The sum of ``-log(q + k) / (q + k) ** x``: a few terms of it, and the rest by the formula of
    Euler and Maclaurin, which also continues it to `x` below one.
    """
    if not hasattr(q, "dtype"):
        q = zeros_like(x) + q
    total = -multiply(log(q), pow(q, -x))
    for k in range(1, _TERMS):
        total = total - multiply(log(q + k), pow(q + k, -x))
    end = q + _TERMS
    size, power = log(end), pow(end, -x)
    rest = divide(multiply(end, add(size, 1 / (x - 1))), x - 1)
    total = total - power * (rest + size / 2)
    # The product of x, x + 1, … up to an even number of factors less one, and its derivative.
    product, slope, scale = x, zeros_like(x) + 1.0, power / end
    for j, number in enumerate(_BERNOULLI):
        total = total + number * scale * subtract(slope, multiply(product, size))
        for factor in (x + (2 * j + 1), x + (2 * j + 2)):
            product, slope = product * factor, multiply(slope, factor) + product
        scale = scale / (end * end)
    return total
