"""Activation functions of neural networks that are ops of their own, so that they are one pass."""

from __future__ import annotations

from typing import Any

from ...backends.special import kernel
from ..define.library import unary
from .normal import _density, ndtr
from .sigmoids import expit


def _silu_slope(x: Any) -> Any:
    share = expit(x)
    return share * (1 + x * (1 - share))


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
