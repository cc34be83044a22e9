"""The standard's namespace for MLX: the functions that MLX lacks, or that differ in MLX.

Any other name is MLX's own. Linear algebra is in `linalg`.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import mlx.core as mx

from . import linalg as linalg
from .reductions import (  # noqa: F401  (functions of the namespace)
    all,
    any,
    count_nonzero,
    max,
    mean,
    min,
    prod,
    sum,
)

__all__ = ["linalg"]

bool = mx.bool_


def __getattr__(name: str) -> Any:
    if name == "complex128":
        raise AttributeError("MLX has no complex128: use complex64", name=name)
    return getattr(mx, name)


# --- creation ------------------------------------------------------------------------------------


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    """An array from numbers, sequences or an array; NumPy's float64 stays, where MLX has it."""
    if isinstance(obj, mx.array):
        if dtype is not None and dtype != obj.dtype:
            return obj.astype(dtype, stream=device)
        return mx.array(obj) if copy else obj
    name = getattr(getattr(obj, "dtype", None), "name", None)
    if dtype is None and name is not None:
        # GPUs have no doubles, and complex numbers are single precision everywhere.
        double = mx.float64 if (device or mx.default_device()) == mx.Device(mx.cpu) else mx.float32
        dtype = {"float64": double, "complex128": mx.complex64}.get(name)
    return mx.array(obj) if dtype is None else mx.array(obj, dtype=dtype)


def reshape(x: Any, /, shape: Any, *, copy: Any = None) -> Any:
    """The elements in another shape."""
    out = mx.reshape(x, shape)
    return mx.array(out) if copy else out


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros."""
    return mx.zeros(shape, dtype or mx.float32, stream=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones."""
    return mx.ones(shape, dtype or mx.float32, stream=device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros: MLX has no uninitialized arrays."""
    return zeros(shape, dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere."""
    return mx.full(shape, fill_value, dtype, stream=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros with the shape of another array."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones with the shape of another array."""
    return ones(x.shape, dtype=dtype or x.dtype, device=device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros with the shape of another array."""
    return zeros_like(x, dtype=dtype, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere, with the shape of another array."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """Evenly spaced values."""
    start, stop = (0, start) if stop is None else (start, stop)
    return mx.arange(start, stop, step, dtype, stream=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: Any = 1
) -> Any:
    """Evenly spaced values between two ends."""
    steps = arange(num, dtype=mx.int32, device=device).astype(dtype or mx.float32)
    gaps = builtins.max(num - 1 if endpoint else num, 1)
    return start + (stop - start) / gaps * steps


def eye(
    n_rows: int, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Any:
    """Ones on a diagonal."""
    made = mx.eye(n_rows, n_cols or n_rows, k, mx.float32, stream=device)
    return made.astype(dtype or mx.float32)


# --- dtypes --------------------------------------------------------------------------------------


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    """The array converted to a dtype."""
    return x.astype(dtype, stream=device)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype of a result of arrays, dtypes and Python numbers together."""
    numbers = [a for a in arrays_and_dtypes if isinstance(a, int | float | complex)]
    others = [a for a in arrays_and_dtypes if not isinstance(a, int | float | complex)]
    found = mx.result_type(*others)
    for number in numbers:
        found = (mx.zeros(1, found) * number).dtype
    return found


# --- elementwise ---------------------------------------------------------------------------------


def _array(x: Any, like: Any) -> Any:
    """An operand as an array: a Python number gets the dtype of the sum with `like`."""
    return x if isinstance(x, mx.array) else mx.zeros((), like.dtype) + x


def _both(x: Any, y: Any) -> tuple[Any, Any]:
    return _array(x, y), _array(y, x)


def expm1(x: Any, /) -> Any:
    """``exp(x) - 1``, accurate near zero, also for complex numbers."""
    if x.dtype != mx.complex64:
        return mx.expm1(x)
    a, b = mx.real(x), mx.imag(x)
    return mx.expm1(a) * mx.cos(b) - 2 * mx.sin(b / 2) ** 2 + 1j * (mx.exp(a) * mx.sin(b))


def hypot(x: Any, y: Any, /) -> Any:
    """The length of the hypotenuse, without overflow."""
    x, y = (mx.abs(part) for part in _both(x, y))
    large, small = mx.maximum(x, y), mx.minimum(x, y)
    ratio = small / mx.where(large == 0, 1, large)
    out = large * mx.sqrt(1 + ratio * ratio)
    return mx.where(mx.isinf(large), math.inf, out)


_BITS = {2: mx.int16, 4: mx.int32, 8: mx.int64}


def signbit(x: Any, /) -> Any:
    """Where the sign bit is set, also for zero and NaN."""
    if mx.issubdtype(x.dtype, mx.floating):
        x = mx.view(x, _BITS[x.itemsize])
    return x < 0


def copysign(x: Any, y: Any, /) -> Any:
    """The absolute values of one array with the signs of another."""
    x, y = _both(x, y)
    return mx.where(signbit(x) == signbit(y), x, -x)


def nextafter(x: Any, y: Any, /) -> Any:
    """The next floating-point number after `x` in the direction of `y`."""
    dtype = mx.result_type(*_both(x, y))
    x, y = mx.broadcast_arrays(*(part.astype(dtype) for part in _both(x, y)))
    bits = mx.view(x, _BITS[x.itemsize])
    away = (y > x) == (x > 0)
    moved = mx.view(mx.where(away, bits + 1, bits - 1), dtype)
    smallest = mx.view(mx.ones_like(bits), dtype)
    moved = mx.where(x == 0, mx.where(y > 0, smallest, -smallest), moved)
    return mx.where((x != x) | (y != y), math.nan, mx.where(x == y, y, moved))


def _on_floats(name: str) -> Any:
    """A rounding function that returns integers unchanged."""
    function = getattr(mx, name)

    def rounded(x: Any, /) -> Any:
        return function(x) if mx.issubdtype(x.dtype, mx.inexact) else x

    return rounded


floor, ceil, trunc, round = map(_on_floats, ("floor", "ceil", "trunc", "round"))


# --- rearranging, ordering, counting -------------------------------------------------------------


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Elements shifted along axes; the last ones come back at the start."""
    return mx.roll(x, shift, axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """One element for each index; the other axes broadcast."""
    axis %= x.ndim
    shape = [builtins.max(n, m) for n, m in zip(x.shape, indices.shape, strict=True)]
    whole, wanted = list(shape), list(shape)
    whole[axis], wanted[axis] = x.shape[axis], indices.shape[axis]
    return mx.take_along_axis(
        mx.broadcast_to(x, whole), mx.broadcast_to(indices, wanted), axis=axis
    )


def argsort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Any:
    """The indices that sort an array."""
    if not descending:
        return mx.argsort(x, axis=axis).astype(mx.int64)
    # Flip before and after, so that equal elements stay in their order.
    turned = mx.argsort(mx.flip(x, axis=axis), axis=axis).astype(mx.int64)
    return x.shape[axis] - 1 - mx.flip(turned, axis=axis)


def sort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Any:
    """A sorted array."""
    ordered = mx.sort(x, axis=axis)
    return mx.flip(ordered, axis=axis) if descending else ordered


def argmax(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """The index of the largest element."""
    return mx.argmax(x, axis=axis, keepdims=keepdims).astype(mx.int64)


def argmin(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """The index of the smallest element."""
    return mx.argmin(x, axis=axis, keepdims=keepdims).astype(mx.int64)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left") -> Any:
    """The indices at which the elements of `x2` belong in the sorted array `x1`."""
    dtype = mx.result_type(x1, x2)
    return mx.searchsorted(x1.astype(dtype), x2.astype(dtype), side=side).astype(mx.int64)


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """The indices of the elements that are not zero. Their number has to be computed."""
    flags = mx.reshape(x != 0, (-1,))
    count = int(mx.sum(flags).item()) if x.size else 0
    if not count:
        return tuple(mx.zeros((0,), mx.int64) for _ in x.shape)
    places = mx.sort(mx.where(flags, mx.arange(x.size, dtype=mx.int64), x.size))[:count]
    found: list[Any] = []
    for n in reversed(x.shape):
        found.insert(0, mx.remainder(places, n))
        places = mx.floor_divide(places, n)
    return tuple(found)


def unique_all(x: Any, /) -> tuple[Any, ...]:
    """The distinct values, their first indices, the inverse, and counts, after a computation."""
    flat = mx.reshape(x, (-1,))
    if not x.size:
        nothing = mx.zeros((0,), mx.int64)
        return flat, nothing, mx.reshape(nothing, x.shape), nothing
    ordered = mx.sort(flat)
    count = 1 + int(mx.sum(ordered[1:] != ordered[:-1]).item())
    values, *rest = mx.unique(
        flat, count, return_index=True, return_inverse=True, return_counts=True
    )
    first, inverse, counts = (part.astype(mx.int64) for part in rest)
    return values, first, mx.reshape(inverse, x.shape), counts


# --- reductions and products ---------------------------------------------------------------------


def cumulative_prod(x: Any, /, *, axis: int) -> Any:
    """The running product."""
    return mx.cumprod(x.astype(mx.int32) if x.dtype == mx.bool_ else x, axis=axis)


def var(x: Any, /, *, axis: Any = None, correction: float = 0, keepdims: Any = False) -> Any:
    """The variance; `correction` may be any number."""
    spread = x - mean(x, axis=axis, keepdims=True)
    square = mx.abs(spread) ** 2 if x.dtype == mx.complex64 else spread * spread
    total = sum(square, axis=axis, keepdims=keepdims)
    count = x.size // total.size if total.size else 0
    left = count - correction
    return total / (left if left > 0 else math.nan if not count else 0)


def std(x: Any, /, *, axis: Any = None, correction: float = 0, keepdims: Any = False) -> Any:
    """The standard deviation."""
    return mx.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def matmul(x: Any, y: Any, /) -> Any:
    """The product of matrices, also of integers."""
    dtype = mx.result_type(x, y)
    if mx.issubdtype(dtype, mx.inexact):
        return mx.matmul(x, y)
    rows = x[None, :] if x.ndim == 1 else x
    columns = y[:, None] if y.ndim == 1 else y
    out = sum(rows[..., None].astype(dtype) * columns[..., None, :, :].astype(dtype), axis=-2)
    out = out[..., 0] if y.ndim == 1 else out
    return out if x.ndim > 1 else out[0] if y.ndim == 1 else out[..., 0, :]
