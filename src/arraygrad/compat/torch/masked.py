"""`torch.masked`: reductions of the elements where a mask is true, and functions along an axis.

What a mask leaves out counts as the element that changes nothing: zero in a sum, one in a product,
minus infinity in a maximum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg as native
from ... import ops, special
from .functions import reductions
from .functions.axes import axes_of
from .publish import floating
from .publish import function as _function

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]


def __dir__() -> list[str]:
    return __all__


def _filled(input: Any, mask: Any, neutral: Any, dtype: Any = None) -> Any:
    """The tensor with the neutral element where the mask is false."""
    x = input if dtype is None or dtype == input.dtype else ops.astype(input, dtype)
    if mask is None:
        return x
    if mask.dtype.kind != "b":
        raise TypeError(f"mask must be a boolean tensor, not of {mask.dtype}")
    if x.dtype.kind in "iub" and neutral in (np.inf, -np.inf):
        neutral = _bound(x.dtype, neutral > 0)
    chosen = ops.broadcast_to(mask, ops.broadcast_shapes(mask.shape, x.shape))
    return ops.where(chosen, x, np.asarray(neutral, x.dtype))


def _bound(dtype: Any, high: bool) -> Any:
    """The largest, or the smallest, number of a dtype of integers."""
    if dtype.kind == "b":
        return high
    return np.iinfo(dtype).max if high else np.iinfo(dtype).min


def _wide(input: Any, dtype: Any) -> Any:
    """The dtype of a sum or product: short integers and booleans become int64."""
    return np.int64 if dtype is None and input.dtype.kind in "biu" else dtype


def _along(native_function: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return native_function(x, axis=axes_of(dim, x.ndim), keepdims=keepdim)


@_function(method=False)
def sum(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The sum."""
    return _along(ops.sum, _filled(input, mask, 0, _wide(input, dtype)), dim, keepdim)


@_function(method=False)
def prod(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The product."""
    return _along(ops.prod, _filled(input, mask, 1, _wide(input, dtype)), dim, keepdim)


@_function(method=False)
def amax(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The largest element."""
    return _along(ops.max, _filled(input, mask, -np.inf, dtype), dim, keepdim)


@_function(method=False)
def amin(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The smallest element."""
    return _along(ops.min, _filled(input, mask, np.inf, dtype), dim, keepdim)


@_function(method=False)
def argmax(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Where the largest element is; as in PyTorch, in the dtype of the elements."""
    found = _along(ops.argmax, _filled(input, mask, -np.inf, dtype), dim, keepdim)
    return ops.astype(found, input.dtype if dtype is None else dtype)


@_function(method=False)
def argmin(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """Where the smallest element is; as in PyTorch, in the dtype of the elements."""
    found = _along(ops.argmin, _filled(input, mask, np.inf, dtype), dim, keepdim)
    return ops.astype(found, input.dtype if dtype is None else dtype)


def _count(x: Any, mask: Any, dim: Any, keepdim: bool) -> Any:
    """How many elements a mask leaves."""
    ones = ops.astype(ops.ones_like(x.detach()), np.int64)
    return _along(ops.sum, _filled(ones, mask, 0), dim, keepdim)


@_function(method=False)
def mean(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The mean; NaN of no elements."""
    if dtype is None and input.dtype.kind in "biu":
        raise RuntimeError(f"mean() needs floating-point or complex numbers, not {input.dtype}")
    total = _along(ops.sum, _filled(input, mask, 0, dtype), dim, keepdim)
    return ops.divide(total, ops.astype(_count(input, mask, dim, keepdim), total.dtype))


@_function(method=False)
def median(
    input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The element in the middle; of an even number of elements, the lower one."""
    x = _filled(input, mask, np.nan, dtype)
    if x.dtype.kind != "f":
        raise ValueError(f"median() needs floating-point numbers, not {x.dtype}")
    if mask is None:
        return reductions.median.__wrapped__(x, dim, keepdim)[0]
    return reductions.nanmedian.__wrapped__(x, dim, keepdim)[0]


@_function(method=False)
def logsumexp(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The logarithm of the sum of exponentials; as in PyTorch, in the dtype of the elements."""
    wanted = input.dtype if dtype is None else dtype
    x = floating(ops.astype(input, wanted))
    return ops.astype(_along(special.logsumexp, _filled(x, mask, -np.inf), dim, keepdim), wanted)


@_function(method=False)
def logaddexp(
    input: Any,
    other: Any,
    *,
    dtype: Any = None,
    input_mask: Any = None,
    other_mask: Any = None,
) -> Any:
    """The logarithm of the sum of two exponentials."""
    x = _filled(input, input_mask, -np.inf, dtype)
    return ops.logaddexp(x, _filled(other, other_mask, -np.inf, dtype))


@_function(method=False)
def norm(
    input: Any,
    ord: Any = 2.0,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """The norm of vectors."""
    x = _filled(input, mask, np.inf if ord == -np.inf else 0, dtype)
    return native.vector_norm(x, axis=axes_of(dim, x.ndim), keepdims=keepdim, ord=ord)


def _spread(
    input: Any, dim: Any, unbiased: Any, correction: Any, keepdim: bool, dtype: Any, mask: Any
) -> Any:
    """The mean square distance from the mean."""
    if unbiased is not None and correction is not None:
        raise RuntimeError("pass either unbiased or correction, not both")
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    x = input if dtype is None else ops.astype(input, dtype)
    x = floating(x)
    count = ops.astype(_count(x, mask, dim, True), ops.real(x).dtype)
    middle = ops.divide(_along(ops.sum, _filled(x, mask, 0), dim, True), count)
    apart = ops.subtract(x, middle)
    squares = ops.multiply(apart, ops.conj(apart)) if x.dtype.kind == "c" else ops.square(apart)
    total = _along(ops.sum, _filled(squares, mask, 0), dim, keepdim)
    left = ops.maximum(ops.reshape(count, total.shape) - correction, 0)
    return ops.divide(total, left)


@_function(method=False)
def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """The variance."""
    return _spread(input, dim, unbiased, correction, keepdim, dtype, mask)


@_function(method=False)
def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Any:
    """The standard deviation."""
    return ops.sqrt(_spread(input, dim, unbiased, correction, keepdim, dtype, mask))


# --- along one axis ---


@_function(method=False)
def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The softmax."""
    x = _filled(floating(input), mask, -np.inf, dtype)
    return reductions.softmax.__wrapped__(x, dim)


@_function(method=False)
def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of the softmax."""
    x = _filled(floating(input), mask, -np.inf, dtype)
    return reductions.log_softmax.__wrapped__(x, dim)


@_function(method=False)
def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The softmax of the negative elements."""
    x = _filled(floating(input), mask, np.inf, dtype)
    return reductions.softmax.__wrapped__(-x, dim)


@_function(method=False)
def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The running sum."""
    return reductions.cumsum.__wrapped__(_filled(input, mask, 0, dtype), dim)


@_function(method=False)
def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The running product."""
    return reductions.cumprod.__wrapped__(_filled(input, mask, 1, dtype), dim)


@_function(method=False)
def normalize(
    input: Any, ord: Any, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Any:
    """Vectors along an axis, divided by their norm; no norm counts as less than `eps`."""
    x = _filled(input, mask, 0, dtype)
    size = norm.__wrapped__(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return ops.divide(x, ops.maximum(size, eps))
