"""The logistic sigmoid, its logarithm, integral and inverse."""

from __future__ import annotations

import math

from ..define.library import unary
from ..elementwise import expit, isnan, where
from .libraries import library_unary

__all__ = ["expit", "log_expit", "logit", "softplus"]

softplus = unary(
    "softplus",
    d=lambda x: expit(x),
    compute=lambda xp, x: xp.log1p(xp.exp(-xp.abs(x))) + xp.where(x > 0, x, xp.zeros_like(x)),
    doc="``log(1 + exp(x))``, accurate for large `x` of either sign.",
)
log_expit = unary(
    "log_expit",
    d=lambda x: expit(-x),
    compute=lambda xp, x: xp.where(x < 0, x, xp.zeros_like(x)) - xp.log1p(xp.exp(-xp.abs(x))),
    doc="The logarithm of `expit`, accurate even if `expit` underflows.",
)


logit = library_unary(
    "logit",
    vjp=lambda g, x, out: where(isnan(out), math.nan, g / (x * (1 - x))),
    doc="``log(x / (1 - x))``, the inverse of `expit`. At 0 and 1, its derivative is infinite.",
)
