"""Elliptic integrals of Legendre's form, and the elliptic functions of Jacobi.

Where a formula divides by the parameter `m`, another one is used near zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops import abs, cos, less, logical_and, logical_or, round, sin, sqrt, where
from ..twins import array_like, twin
from .declaring import SCIPY, op, special
from .hypergeometric import hyp2f1

__all__ = ["ellipe", "ellipeinc", "ellipj", "ellipk", "ellipkinc", "ellipkm1"]

_NEAR = 0.1


def _near_zero(m: Any) -> tuple[Any, Any, Any]:
    """Whether `m` is near zero, and `m` for each of the two formulas."""
    near = less(abs(m), _NEAR)
    return near, where(near, m, 0), where(near, 0.5, m)


def _ellipk_slope(m: Any) -> Any:
    near, small, other = _near_zero(m)
    series = hyp2f1(1.5, 1.5, 2.0, small) * (math.pi / 8)
    left = 1 - other
    return where(near, series, (ellipe(other) - left * ellipk(other)) / (2 * other * left))


def _ellipe_slope(m: Any) -> Any:
    near, small, other = _near_zero(m)
    series = hyp2f1(0.5, 1.5, 2.0, small) * (-math.pi / 8)
    return where(near, series, (ellipe(other) - ellipk(other)) / (2 * other))


def _ellipkm1_slope(p: Any) -> Any:
    near, small, other = _near_zero(1 - p)
    series = hyp2f1(1.5, 1.5, 2.0, small) * (-math.pi / 8)
    other, m = where(near, 0.5, p), other
    return where(near, series, (ellipkm1(other) * other - ellipe(m)) / (2 * m * other))


ellipk = special("ellipk", "m", d_m=_ellipk_slope)
ellipe = special("ellipe", "m", d_m=_ellipe_slope)
ellipkm1 = special("ellipkm1", "p", d_p=_ellipkm1_slope)

# --- incomplete ----------------------------------------------------------------------------------

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def _integral(phi: Any, m: Any, power: float) -> Any:
    """The integral of ``sin(t)**2 (1 - m sin(t)**2)**power`` up to `phi`, for small `m`.

    `phi` is at most a quarter turn, so that a Gauss rule is exact to rounding.
    """
    total: Any = 0.0
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        square = sin(phi * (0.5 * (node + 1))) ** 2
        total = total + square * (1 - m * square) ** power * (0.5 * weight)
    return total * phi


def _turns(phi: Any) -> Any:
    """Half turns that are left out, for the rest to be at most a quarter turn: a constant."""
    return round(phi * (1 / math.pi))


def _ellipkinc_by_m(phi: Any, m: Any) -> Any:
    near, small, _ = _near_zero(m)
    turns = _turns(phi)
    around = turns * 2 * _ellipk_slope(small)
    # Near one, the formula divides by almost zero; the integral is smooth but at a quarter turn.
    near = logical_or(near, logical_and(less(abs(m - 1), 0.03), less(abs(phi), 1.3)))
    series = _integral(phi - turns * math.pi, where(near, m, 0), -1.5) * 0.5 + around
    other = where(near, 0.5, m)
    left = 1 - other
    root = sqrt(1 - other * sin(phi) ** 2)
    formula = (
        ellipeinc(phi, other) / (2 * other * left)
        - ellipkinc(phi, other) / (2 * other)
        - sin(2 * phi) / (4 * left * root)
    )
    return where(near, series, formula)


def _ellipeinc_by_m(phi: Any, m: Any) -> Any:
    near, small, other = _near_zero(m)
    turns = _turns(phi)
    series = _integral(phi - turns * math.pi, small, -0.5) * -0.5 + turns * 2 * _ellipe_slope(small)
    formula = (ellipeinc(phi, other) - ellipkinc(phi, other)) / (2 * other)
    return where(near, series, formula)


ellipkinc = special(
    "ellipkinc",
    "phi",
    "m",
    d_phi=lambda phi, m: 1 / sqrt(1 - m * sin(phi) ** 2),
    d_m=lambda phi, m: _ellipkinc_by_m(phi + 0 * m, m + 0 * phi),
)
ellipeinc = special(
    "ellipeinc",
    "phi",
    "m",
    d_phi=lambda phi, m: sqrt(1 - m * sin(phi) ** 2),
    d_m=lambda phi, m: _ellipeinc_by_m(phi + 0 * m, m + 0 * phi),
)

# --- Jacobi's functions --------------------------------------------------------------------------

# The amplitude is the inverse of `ellipkinc`; the other functions follow from it.
_amplitude = op(
    "amplitude",
    "u",
    "m",
    compute=lambda u, m: SCIPY.ellipj(u, m)[3],
    d_u=lambda out, m: sqrt(1 - m * sin(out) ** 2),
    d_m=lambda out, m: -_ellipkinc_by_m(out, m + 0 * out) * sqrt(1 - m * sin(out) ** 2),
)


@twin(SCIPY.ellipj)
def ellipj(u: Any, m: Any) -> Any:
    """Jacobi's elliptic functions sn, cn, dn, and the amplitude."""
    u, m = array_like(u), array_like(m)
    amplitude = _amplitude(u, m)
    sn = sin(amplitude)
    return sn, cos(amplitude), sqrt(1 - m * sn**2), amplitude
