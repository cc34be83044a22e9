"""The backend for NumPy, which is the default, and faster kernels than NumPy's own functions."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from ...core.cpython import POPPED, getrefcount
from ..base import Backend, Kernel, is_short_float
from . import fused, reductions
from . import indexing as numpy_indexing
from .blocks import LARGE, Blocks, blockwise, for_large, in_two_steps, rowwise
from .scipy import solve, transform

_KINDS = {"b": "b", "i": "i", "u": "i", "f": "f", "c": "c"}


class NumpyBackend(Backend):
    """NumPy arrays and NumPy scalars."""

    defers = True

    def kind(self, dtype: Any) -> str:
        return _KINDS.get(dtype.kind) or ("f" if is_short_float(dtype) else "o")

    def kernel(self, op: Any) -> Kernel:
        found = super().kernel(op)
        for_op = getattr(found, "for_op", None)
        return for_op(op) if for_op is not None else found

    def elementwise(self, kernel: Kernel, types: tuple[type, ...], op: Any) -> Kernel:
        if kernel in _ARITHMETIC:
            if types[0] is complex:  # its operators give Python's numbers for NumPy's scalars
                return UFUNCS[kernel]
            return _ARITHMETIC[kernel] if types[0] is np.ndarray else kernel
        return for_large(kernel, types, op) if np.ndarray in types else kernel

    def full(self, like: Any, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
        return np.full(shape, value, dtype)

    def dtype(self, dtype: Any) -> Any:
        return np.dtype(dtype)

    def integers(self, like: Any, values: list[int]) -> Any:
        return np.array(values, np.intp)

    def device(self, array: Any) -> Any:
        return "cpu"

    def copy(self, array: Any) -> Any:
        return np.array(array)

    def own(self, held: list[Any]) -> Any:
        array = held.pop()
        if type(array) is np.ndarray and getrefcount(array) <= POPPED:
            base = array.base
            if base is None and array.flags.carray:
                return array
            if type(base) is np.ndarray and getrefcount(base) <= POPPED + 1:
                # Nobody else refers to the base, and this is its only view. If the view contains
                # all elements, in any order, it can be given away like the base itself.
                whole = base.base is None and base.size == array.size and base.flags.carray
                if whole and array.flags.writeable:
                    return array
        return np.array(array, order="C")

    def add_into(self, array: Any, other: Any) -> bool:
        if not array.flags.writeable:
            return False
        np.add(array, other, out=array)
        return True


# --- arithmetic ----------------------------------------------------------------------------------
# Operators are as fast as ufuncs on arrays, and many times faster on NumPy scalars, which replace
# 0-d arrays. These are the most frequent calls, so each one has its own function.

_add_large, _subtract_large = blockwise(np.add), blockwise(np.subtract)
_multiply_large, _divide_large = blockwise(np.multiply), blockwise(np.divide)


def _add(x: Any, y: Any) -> Any:
    return x + y if x.size < LARGE else _add_large(x, y)


def _subtract(x: Any, y: Any) -> Any:
    return x - y if x.size < LARGE else _subtract_large(x, y)


def _multiply(x: Any, y: Any) -> Any:
    return x * y if x.size < LARGE else _multiply_large(x, y)


def _divide(x: Any, y: Any) -> Any:
    return x / y if x.size < LARGE else _divide_large(x, y)


_ARITHMETIC: dict[Any, Kernel] = {
    operator.add: _add,
    operator.sub: _subtract,
    operator.mul: _multiply,
    operator.truediv: _divide,
    operator.neg: operator.neg,
}

# They give NumPy's scalars for numbers of Python, and can write to an array of the caller.
UFUNCS: dict[Any, Kernel] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.neg: np.negative,
}

# --- reductions, products and parts --------------------------------------------------------------


def _matmul(x: Any, y: Any) -> Any:
    try:
        if x.shape[-1] == 1 == y.shape[-2] and x.size > 32:
            return _outer(x, y)
    except (AttributeError, IndexError):  # not matrices
        pass
    return np.matmul(x, y)


def _outer(x: Any, y: Any) -> Any:
    # Outer products, as for the gradient of a matrix in a product with a vector. They sum nothing,
    # and BLAS would be called once for each of them.
    if y.shape[-1] <= 16 and x.ndim > 2 and x.shape[-2] >= 2 * y.shape[-1]:
        # Writing few long lines is several times faster than writing many short ones.
        return np.swapaxes(_outer(np.swapaxes(y, -1, -2), np.swapaxes(x, -1, -2)), -1, -2)
    blocks = Blocks.of((x, y), rows=True) if x.size * y.shape[-1] >= LARGE else None
    if blocks is None:
        return np.einsum("...ij,...jk->...ik", x, y)
    blocks.widen()
    out = blocks.empty(np.result_type(x, y))

    def write(block: list[Any], place: slice) -> None:
        np.einsum("...ij,...jk->...ik", *block, out=out[place])

    blocks.each(write)
    return out


def _stack(*arrays: Any, axis: int) -> Any:
    shape, dtype = arrays[0].shape, arrays[0].dtype
    if axis == 0 and all(
        a.shape == shape and a.dtype == dtype and a.flags.c_contiguous for a in arrays
    ):
        return np.array(arrays)  # in less time, and in C order
    return np.stack(arrays, axis)


def _broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    x = np.asarray(x)
    extra = len(shape) - x.ndim
    if extra < 0 or 0 in shape or not x.flags.c_contiguous:
        return np.broadcast_to(x, shape)
    # The same view in a fraction of the time. The gradient of every sum needs it.
    strides = [0] * extra
    for n, wanted, step in zip(x.shape, shape[extra:], x.strides, strict=True):
        if n not in (1, wanted):
            return np.broadcast_to(x, shape)  # raises, and explains the error
        strides.append(step if n == wanted else 0)
    out: Any = np.ndarray(shape, x.dtype, x, 0, strides)
    out.flags.writeable = False
    return out


def _diagonal(x: Any, offset: int) -> Any:
    out = x.diagonal(offset, -2, -1)
    if x.flags.writeable:  # NumPy's view cannot be written, whatever its base is
        out.flags.writeable = True
    return out


def _floor_divide(x: Any, y: Any) -> Any:
    out = np.floor_divide(x, y)
    if out.dtype.kind == "f":
        infinite = np.isinf(x) | np.isinf(y)
        if infinite.any():  # the standard requires the quotient; NumPy returns NaN or -1
            out = np.where(infinite, np.divide(x, y), out)
    return out


# For these exponents, a few products are many times faster than NumPy's power.
_SMALL_POWERS = frozenset(range(3, 9))


def _by_products(x: Any, n: int) -> Any:
    square = x * x
    out = square * (square if n % 2 == 0 else x)
    for _ in range((n - 3) // 2):
        out *= square
    return out


def _pow(x: Any, y: Any) -> Any:
    if type(x) is np.ndarray and type(y) in (int, float) and y in _SMALL_POWERS:
        if x.ndim and x.dtype.char in "fd":
            return _by_products(x, int(y))
    if type(y) is not int and np.equal(y, 0.5).any() and np.less_equal(x, 0).any():
        # NumPy takes the square root. The standard's power differs from it at -0 and -inf.
        with np.errstate(invalid="ignore"):
            out = x**y
        if out.dtype.kind == "f":
            out = np.where(np.equal(y, 0.5), np.where(np.equal(x, -np.inf), np.inf, out + 0.0), out)
        return out
    return x**y


def _expm1(x: Any) -> Any:
    if not np.iscomplexobj(x):
        return np.expm1(x)
    size = np.abs(x)
    if size.size and size.min() > 0 and size.max() < 88:  # usual; exp(89) overflows in float32
        return np.expm1(x)
    x = np.asarray(x)
    with np.errstate(invalid="ignore"):
        out = np.asarray(np.expm1(x))
    # For these numbers np.exp follows the standard, but np.expm1 gives NaN for zero times infinity.
    special = ~((np.abs(x.real) < 88) & np.isfinite(x.imag)) | (size == 0)
    exp = np.exp(x[special])
    exp.real -= 1
    out[special] = exp
    return out if out.ndim else out[()]


def _acosh(x: Any) -> Any:
    # Some builds of NumPy have code of their own that loses the imaginary part of an imaginary NaN.
    out = np.acosh(x)
    if not np.iscomplexobj(out):
        return out
    lost = (np.real(x) == 0) & np.isnan(np.imag(x))
    return np.where(lost, out.dtype.type(complex(np.nan, np.pi / 2)), out) if lost.any() else out


def _astype(x: Any, dtype: Any, copy: bool) -> Any:
    return np.asarray(x).astype(dtype, copy=copy)


numpy_backend = NumpyBackend(
    "numpy",
    np,
    {
        # Operators are faster; `x ** 2` also has shortcuts that `np.power` lacks.
        "add": operator.add,
        "subtract": operator.sub,
        "multiply": operator.mul,
        "divide": operator.truediv,
        "negative": operator.neg,
        "floor_divide": _floor_divide,
        "acosh": _acosh if np.isnan(np.acosh(complex(0, np.nan)).imag) else np.acosh,
        "expm1": _expm1,
        "pow": _pow,
        # Reductions of ufuncs, without the Python code around them in np.sum and similar functions.
        "sum": in_two_steps(reductions.sum_),
        "mean": in_two_steps(reductions.mean),
        "var": reductions.in_single(np.var),
        "std": reductions.in_single(np.std),
        "cumulative_sum": reductions.in_single(np.cumulative_sum),
        "vector_norm": reductions.in_single(np.linalg.vector_norm),
        "stack": _stack,
        "broadcast_to": _broadcast_to,
        # Methods are faster than the functions that call them.
        "reshape": lambda x, shape, **copy: x.reshape(shape, **copy),
        "permute_dims": lambda x, axes: x.transpose(axes),
        # NumPy's gives a number for an array with no axes, which is no view.
        "flip": lambda x, axis: np.flip(x, axis) if axis else x[...],
        "diagonal": _diagonal,
        "matmul": _matmul,
        "max": reductions.max_,
        # np.count_nonzero returns a Python int in older versions.
        "count_nonzero": lambda x, axis, keepdims: np.add.reduce(
            np.not_equal(x, 0), axis=axis, keepdims=keepdims, dtype=np.intp
        ),
        "min": reductions.min_,
        "getitem": numpy_indexing.getitem,
        "index_add": numpy_indexing.index_add,
        "take_along_axis": numpy_indexing.take_along_axis,
        "put": numpy_indexing.put,
        "convolve": np.convolve,
        "convolve_within": functools.partial(np.convolve, mode="valid"),
        # NumPy's own functions cannot sort in descending order.
        "argsort": numpy_indexing.argsort,
        "sort": numpy_indexing.sort,
        "expit": fused.expit,
        "relu": lambda x: np.maximum(x, np.asarray(x).dtype.type(0)),
        "silu": fused.silu,
        "softplus": fused.softplus,
        "log_expit": fused.log_expit,
        "softmax": rowwise(fused.softmax),
        "shifted_softmax": rowwise(fused.softmax_at),
        "softmax_tangent": rowwise(fused.softmax_tangent),
        "log_softmax": rowwise(fused.log_softmax),
        "log_softmax_pullback": rowwise(fused.log_softmax_pullback),
        "logsumexp": rowwise(fused.logsumexp, reduces=True),
        "standardize": rowwise(fused.standardize),
        "standardize_pullback": rowwise(fused.standardize_pullback),
        "xlogy": fused.times_log(np.log),
        "xlog1py": fused.times_log(np.log1p),
        "sinc": np.sinc,
        # One axis takes one call, and real numbers do not become complex first.
        "fft": functools.partial(transform, "fft"),
        "ifft": functools.partial(transform, "ifft"),
        "rfft": functools.partial(transform, "rfft"),
        "irfft": functools.partial(transform, "irfft"),
        "solve": solve,
        "copy": np.array,
        "astype": _astype,
        "astype_constant": _astype,
    },
)
