"""Products of numbers and logarithms (`xlogy`), and entropies."""

from __future__ import annotations

from typing import Any

from ...core.array import AnyFunction
from ..define.library import binary
from ..elementwise import equal, less_equal, log, log1p, logical_and, where
from .libraries import both_arrays, library_binary, library_unary

__all__ = ["entr", "kl_div", "rel_entr", "xlog1py", "xlogy"]


def _log_unless(flat: Any, logarithm: AnyFunction, y: Any) -> Any:
    """The logarithm; where `flat`, the result and its derivatives of all orders are zero."""
    return where(flat, 0, logarithm(where(flat, 1, y)))


def _product(xp: Any, logarithm: Any, x: Any, y: Any) -> Any:
    """`x` times a logarithm of `y`; zero where `x` is zero, unless `y` is NaN."""
    x, y = both_arrays(xp, x, y)
    silent = (x == 0) & (y == y)
    out = x * logarithm(xp.where(silent, xp.ones_like(y), y))
    return xp.where(silent, xp.zeros_like(out), out)


xlogy = binary(
    "xlogy",
    vjp_x=lambda g, x, y: g * _log_unless(logical_and(equal(x, 0), less_equal(y, 0)), log, y),
    vjp_y=lambda g, x, y: g * (x / y),
    compute=lambda xp, x, y: _product(xp, xp.log, x, y),
    doc="``x * log(y)``, and zero wherever `x` is zero. By `y`, the derivative at (0, 0) is NaN.",
)
xlog1py = binary(
    "xlog1py",
    vjp_x=lambda g, x, y: g * _log_unless(logical_and(equal(x, 0), less_equal(y, -1)), log1p, y),
    vjp_y=lambda g, x, y: g * (x / (y + 1)),
    compute=lambda xp, x, y: _product(xp, xp.log1p, x, y),
    doc="``x * log1p(y)``, and zero where `x` is zero. By `y`, the derivative at (0, -1) is NaN.",
)


entr = library_unary(
    "entr",
    vjp=lambda g, x: -g * (log(x) + 1),
    doc="``-x * log(x)``, the contribution of an element to an entropy; zero at zero, where the "
    "derivative is infinite.",
)
rel_entr = library_binary(
    "rel_entr",
    vjp_x=lambda g, x, y: g * (log(x / y) + 1),
    vjp_y=lambda g, x, y: -g * _ratio(x, y),
    doc="``x * log(x / y)``, an element's part of a relative entropy; zero where `x` is zero, with "
    "derivatives minus infinity by `x` and zero by `y` for positive `y`.",
)
kl_div = library_binary(
    "kl_div",
    vjp_x=lambda g, x, y: g * log(x / y),
    vjp_y=lambda g, x, y: g * (1 - _ratio(x, y)),
    doc="``x * log(x / y) - x + y``: like `rel_entr`, but never negative.",
)


def _ratio(x: Any, y: Any) -> Any:
    """`x / y`, and zero where both are zero: for zero `x`, the divergence is constant in `y`."""
    return x / where(logical_and(equal(x, 0), equal(y, 0)), 1, y)
