"""What all losses share: the sum or the mean of them, old parameters, targets of other dtypes."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, overload

from .... import ops
from ..publish import AnyFunction, ArgumentError, Published, function


@overload
def loss_function(native: AnyFunction, *, between: str | None = None) -> Published: ...
@overload
def loss_function(*, between: str) -> Callable[[AnyFunction], Published]: ...
def loss_function(native: Any = None, *, between: str | None = None) -> Any:
    """PyTorch's function for a loss, which also takes the two old parameters for `reduction`.

    They stand before `reduction`, with the parameter `between` between them.
    """
    if native is None:
        return functools.partial(loss_function, between=between)
    own = inspect.signature(native)
    names = list(own.parameters)
    first = names.index("reduction" if between is None else between)
    middle = [] if between is None else [between]
    rest = [n for n in names[first:] if n != between]
    order = [*names[:first], "size_average", *middle, "reduce", *rest]
    published = function(native, method=False)

    @functools.wraps(native)
    def made(*args: Any, **keywords: Any) -> Any:
        if first < len(args) <= len(order):
            keywords = dict(zip(order, args, strict=False)) | keywords
            args = ()
        average, each = keywords.pop("size_average", None), keywords.pop("reduce", None)
        if average is not None or each is not None:
            keywords["reduction"] = _chosen(average, each)
        return published(*args, **keywords)

    old = inspect.Parameter("old", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    all_of_them = [own.parameters[n] if n in names else old.replace(name=n) for n in order]
    made.__signature__ = own.replace(parameters=all_of_them)  # type: ignore[attr-defined]
    return made


def _chosen(size_average: Any, reduce: Any) -> str:
    """The reduction that the two old parameters mean."""
    average = size_average is None or size_average
    reduction = "none" if reduce is not None and not reduce else "mean" if average else "sum"
    warnings.warn(
        "size_average and reduce args will be deprecated, please use "
        f"reduction={reduction!r} instead.",
        stacklevel=3,
    )
    return reduction


def checked_reduction(reduction: str) -> str:
    """The reduction, if it is one."""
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentError(f"{reduction!r} is not a valid value for reduction: none, mean, sum")
    return reduction


def reduced(values: Any, reduction: str) -> Any:
    """The losses, their mean or their sum."""
    how = checked_reduction(reduction)
    return values if how == "none" else ops.mean(values) if how == "mean" else ops.sum(values)


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
