"""Activation functions of neural networks that are ops of their own, so that they are one pass."""

from __future__ import annotations

from typing import Any

from ...backends.special import kernel
from ..define.library import unary
from ..elementwise import less_equal, where
from .normal import _density, ndtr
from .sigmoids import expit


def _silu_slope(x: Any) -> Any:
    share = expit(x)
    return share * (1 + x * (1 - share))


relu = unary(
    "relu",
    vjp=lambda g, out: where(less_equal(out, 0), 0, g),
    compute=lambda xp, x: xp.where(x <= 0, xp.zeros_like(x), x),
    doc="The larger of each element and zero. The slope at zero is zero.",
)
gelu = unary(
    "gelu",
    d=lambda x: ndtr(x) + x * _density(x),
    compute=lambda xp, x: x * kernel(xp, "ndtr")(x),
    doc="Each element times the share of the normal distribution below it.",
)
silu = unary(
    "silu",
    d=_silu_slope,
    compute=lambda xp, x: x / (1 + xp.exp(-x)),
    doc="Each element times its logistic sigmoid.",
)
