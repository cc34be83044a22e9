"""The normalised sinc function, and its derivatives of all orders."""

from __future__ import annotations

import math
from typing import Any

from ...core.kinds import Elementwise
from ..define.library import declare, unary

__all__ = ["sinc"]


def _sinc_derivative_of(xp: Any, x: Any, n: int) -> Any:
    """The derivative of order `n` of ``sin(πx) / πx``.

    With z = πx, the derivatives of f(z) = sin(z) / z satisfy ``z f⁽ⁿ⁾ + n f⁽ⁿ⁻¹⁾ = sin⁽ⁿ⁾(z)``. So
    each follows from the one before. Near zero, the power series is more accurate.
    """
    z = x * math.pi
    near = xp.abs(z) < 1 + 0.28 * n  # at this bound, both lose the same number of digits
    small = xp.where(near, z, xp.zeros_like(z))
    large = xp.where(near, xp.ones_like(z), z)
    waves = [xp.sin(large), xp.cos(large)]
    derivative = waves[0] / large
    for k in range(1, n + 1):
        wave = waves[k % 2] if k % 4 < 2 else -waves[k % 2]
        derivative = (wave - k * derivative) / large
    # The sum over j >= n / 2 of (-1)ʲ z²ʲ⁻ⁿ / ((2j - n)! (2j + 1)); the smallest term comes first.
    series, square = xp.zeros_like(z), small * small
    first = (n + 1) // 2
    for j in range(first + 12 + n // 2, first - 1, -1):
        power = 2 * j - n
        ratio = (power + 1) * (power + 2)  # of the factorials of the next term and this one
        series = (-1) ** j / (2 * j + 1) + square / ratio * series
    series = series if n % 2 == 0 else series * small
    return xp.where(near, series, derivative) * math.pi**n


sinc = unary(
    "sinc",
    d=lambda x: _sinc_derivative(x, n=1),
    compute=lambda xp, x: _sinc_of(xp, x),
    doc="``sin(πx) / πx``, and one at zero. Derivatives of all orders are accurate at zero, too.",
)
_sinc_derivative = declare(
    "sinc_derivative",
    "x",
    compute=_sinc_derivative_of,
    vjp=lambda g, x, n: g * _sinc_derivative(x, n=n + 1),
    kind=Elementwise(),
)


def _sinc_of(xp: Any, x: Any) -> Any:
    z = x * math.pi
    z = xp.where(z == 0, xp.full_like(z, xp.finfo(z.dtype).eps), z)
    return xp.sin(z) / z
