"""The error function and the normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ...backends.numpy import special as numpy_special
from ...backends.special import kernel
from ..define.library import unary
from ..elementwise import exp
from .libraries import library_unary

__all__ = ["erf", "erfc", "erfinv", "log_ndtr", "ndtr", "ndtri"]

erf = unary(
    "erf",
    d=lambda x: 2 / math.sqrt(math.pi) * exp(-x * x),
    compute=lambda xp, x: (
        numpy_special.erf(x) if numpy_special.is_many_float32(x) else kernel(xp, "erf")(x)
    ),
    doc="The error function.",
)
erfc = library_unary(
    "erfc",
    d=lambda x: -2 / math.sqrt(math.pi) * exp(-x * x),
    doc="One minus the error function, accurate even if the error function is nearly one.",
)
erfinv = library_unary(
    "erfinv",
    d=lambda out: math.sqrt(math.pi) / 2 * exp(out * out),
    doc="The inverse of the error function.",
)
ndtr = library_unary(
    "ndtr",
    d=lambda x: _density(x),
    doc="The distribution function P(X < x) of the standard normal distribution.",
)
log_ndtr = library_unary(
    "log_ndtr",
    d=lambda x: _hazard(x),
    doc="The logarithm of `ndtr`, accurate even if `ndtr` underflows.",
)
ndtri = library_unary(
    "ndtri",
    vjp=lambda g, out: g / _density(out),
    doc="The inverse of `ndtr`: the quantiles of the standard normal distribution.",
)
# The density divided by the distribution function. For very negative x, both underflow.
_hazard = unary(
    "normal_hazard",
    d=lambda x, out: -out * _excess(x),
    compute=lambda xp, x: _hazard_of(xp, x),
)


def _hazard_of(xp: Any, x: Any) -> Any:
    return math.sqrt(2 / math.pi) / kernel(xp, "erfcx")(x * -math.sqrt(0.5))


def _excess_of(xp: Any, x: Any) -> Any:
    # For very negative x, the sum loses all digits; there a continued fraction converges fast.
    far = x < -8
    t = xp.where(far, -x, 8 + 0 * x)
    fraction = 0 * t
    for k in range(40, 1, -1):
        fraction = k / (t + fraction)
    return xp.where(far, 1 / (t + fraction), x + _hazard_of(xp, x))


# The hazard plus x: for very negative x, the hazard approaches -x.
_excess = unary("normal_excess", d=lambda x, out: 1 + out * (x - out), compute=_excess_of)


def _density(x: Any) -> Any:
    return exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
