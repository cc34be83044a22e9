"""Functions along dimensions: sums, extremes, order. Places in results count from one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...arrays.tensor import Tensor
from ...ops import norms
from ...ops.special import softmax as softmax_ops
from .elementwise import BINARY
from .numbers import axes, axis, dtype_of, whole


def _reduced(op: Callable[..., Any], floats: bool = False) -> Callable[..., Tensor]:
    def function(self: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
        if dtype is not None:
            self = ops.astype(self, dtype_of(dtype))
        if floats and self.dtype.kind in "biu":
            raise RuntimeError(
                "the mean and the variance need floating point numbers: convert the tensor by "
                "$to(dtype = torch_float()) first"
            )
        result: Tensor = op(self, axis=axes(dim, self.ndim), keepdims=keepdim)
        return result

    return function


sum = _reduced(ops.sum)
mean = _reduced(ops.mean, floats=True)
prod = _reduced(ops.prod)
logsumexp = _reduced(softmax_ops.logsumexp)


def all(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements hold."""
    return ops.all(self, axis=axes(dim, self.ndim), keepdims=keepdim)


def any(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether at least one element holds."""
    return ops.any(self, axis=axes(dim, self.ndim), keepdims=keepdim)


def var(self: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    """The variance; unbiased, with one less than the number of elements in the denominator."""
    correction = float(unbiased)
    return ops.var(self, axis=axes(dim, self.ndim), correction=correction, keepdims=keepdim)


def std(self: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    """The standard deviation, the square root of `var`."""
    correction = float(unbiased)
    return ops.std(self, axis=axes(dim, self.ndim), correction=correction, keepdims=keepdim)


def norm(self: Tensor, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The p-norm of the elements."""
    where = axes(dim, self.ndim)
    return norms.vector_norm(self, axis=where, ord=float(p), keepdims=keepdim)


def _extreme(
    all_of: Callable[..., Any], place: Callable[..., Any], two: Callable[[Any, Any], Tensor]
) -> Callable[..., Any]:
    def function(self: Tensor, dim: Any = None, keepdim: bool = False, other: Any = None) -> Any:
        if other is not None or isinstance(dim, Tensor):
            return two(self, dim if other is None else other)
        if dim is None:
            return all_of(self)
        along = axis(dim, self.ndim)
        index = place(self, axis=along, keepdims=True)
        values = ops.take_along_axis(self, index, axis=along)
        if not keepdim:
            index, values = (ops.squeeze(v, axis=along) for v in (index, values))
        return values, index + 1

    return function


max = _extreme(ops.max, ops.argmax, BINARY["maximum"])
min = _extreme(ops.min, ops.argmin, BINARY["minimum"])


def argmax(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Where the largest element is, counted from one."""
    return ops.argmax(self, axis=_one(dim, self), keepdims=keepdim) + 1


def argmin(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Where the smallest element is, counted from one."""
    return ops.argmin(self, axis=_one(dim, self), keepdims=keepdim) + 1


def _one(dim: Any, self: Tensor) -> int | None:
    return None if dim is None else axis(dim, self.ndim)


def argsort(self: Tensor, dim: Any = -1, descending: bool = False) -> Tensor:
    """The places that the elements have in order, counted from one."""
    return ops.argsort(self, axis=axis(dim, self.ndim), descending=descending) + 1


def sort(self: Tensor, dim: Any = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """The elements in order, and the places where they were, counted from one."""
    along = axis(dim, self.ndim)
    order = ops.argsort(self, axis=along, descending=descending)
    return ops.take_along_axis(self, order, axis=along), order + 1


def topk(self: Tensor, k: Any, dim: Any = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The `k` largest or smallest elements in order, and their places, counted from one."""
    along = axis(dim, self.ndim)
    order = ops.argsort(self, axis=along, descending=largest)
    first = ops.take(order, np.arange(whole(k, "k")), axis=along)
    return ops.take_along_axis(self, first, axis=along), first + 1


def cumsum(self: Tensor, dim: Any) -> Tensor:
    """The running sum."""
    return ops.cumulative_sum(self, axis=axis(dim, self.ndim))


def cumprod(self: Tensor, dim: Any) -> Tensor:
    """The running product."""
    return ops.cumulative_prod(self, axis=axis(dim, self.ndim))


def log_softmax(self: Tensor, dim: Any) -> Tensor:
    """The logarithm of `softmax`."""
    return softmax_ops.log_softmax(self, axis=axis(dim, self.ndim))


def softmax(self: Tensor, dim: Any) -> Tensor:
    """Exponentials that add up to one along a dimension."""
    return softmax_ops.softmax(self, axis=axis(dim, self.ndim))
