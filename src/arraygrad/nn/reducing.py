"""What all losses share: the sum or the mean of them, and targets of other dtypes."""

from __future__ import annotations

from typing import Any

from .. import ops
from .common import OptionError, as_floats, check_arrays


def checked_reduction(reduction: str) -> str:
    """The reduction, if it is one."""
    if reduction not in ("none", "mean", "sum"):
        raise OptionError(f"{reduction!r} is not a valid value for reduction: none, mean, sum")
    return reduction


def reduced(values: Any, reduction: str) -> Any:
    """The losses, their mean or their sum."""
    how = checked_reduction(reduction)
    return values if how == "none" else ops.mean(values) if how == "mean" else ops.sum(values)


def weighted_mean(loss: Any, weight: Any, reduction: str) -> Any:
    """Losses times weights, reduced; the mean is that of the weights."""
    if weight is None:
        return reduced(loss, reduction)
    check_arrays(weight=weight)
    weight = as_floats(weight, loss)
    total = loss * weight
    if reduction == "mean":
        return ops.sum(total) / ops.sum(ops.broadcast_to(weight, loss.shape))
    return reduced(total, reduction)


def above_zero(x: Any) -> Any:
    """Elements from zero on, and zeros; the slope at zero is one."""
    return ops.where(x < 0, 0, x)
