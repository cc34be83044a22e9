"""What all losses share: the sum or the mean of them, and targets of other dtypes."""

from __future__ import annotations

import warnings
from typing import Any

from .... import ops
from ..publish import ArgumentError


def chosen(reduction: str, size_average: Any, reduce: Any) -> str:
    """The reduction, from its name or from PyTorch's two old parameters for it."""
    if size_average is not None or reduce is not None:
        average = size_average is None or size_average
        reduction = "none" if reduce is not None and not reduce else "mean" if average else "sum"
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction={reduction!r} instead.",
            stacklevel=4,
        )
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentError(f"{reduction!r} is not a valid value for reduction: none, mean, sum")
    return reduction


def reduced(loss: Any, reduction: str, size_average: Any = None, reduce: Any = None) -> Any:
    """The losses, their mean or their sum."""
    how = chosen(reduction, size_average, reduce)
    return loss if how == "none" else ops.mean(loss) if how == "mean" else ops.sum(loss)


def like(target: Any, input: Any) -> Any:
    """Integers and booleans in the dtype of the input."""
    return ops.astype(target, input.dtype) if target.dtype.kind in "biu" else target


def same_shape(input: Any, target: Any) -> None:
    """Raise if the shapes differ."""
    if tuple(input.shape) != tuple(target.shape):
        raise ArgumentError(
            f"target must have the shape of input {tuple(input.shape)}, not {tuple(target.shape)}"
        )


def above_zero(x: Any) -> Any:
    """Elements from zero on, and zeros; the slope at zero is one."""
    return ops.where(x < 0, 0, x)
