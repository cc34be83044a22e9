"""Questions about tensors and dtypes, and what PyTorch asks of its machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...arrays.batched import Batched
from ...core.array import plain
from ...interop.torch_files import TYPE_NAMES
from .creation import legacy
from .dtypes import NAMED, RANKS, dtype, of_numpy
from .dtypes import promote as _promote
from .dtypes import result_type as _result_type
from .handles import Tensor, attach, unwrap
from .publish import function

# The names of `torch` that are made here.
__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor",
    "IntTensor", "LongTensor", "ShortTensor", "allclose", "can_cast", "detach",
    "equal", "is_complex", "is_conj", "is_floating_point", "is_inference", "is_neg", "is_nonzero",
    "is_same_size", "is_tensor", "isclose", "numel", "promote_types", "result_type",
]  # fmt: skip


@function(name="isclose")
def isclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether elements are close."""
    for name, bound in (("rtol", rtol), ("atol", atol)):
        if bound < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {bound}")
    if input.dtype != other.dtype:
        raise RuntimeError(f"isclose() of different dtypes: {input.dtype} and {other.dtype}")
    if input.dtype.kind == "b":
        return ops.equal(input, other)
    bound = atol + rtol * ops.abs(other)
    close = ops.equal(input, other) | (ops.isfinite(other) & (ops.abs(input - other) <= bound))
    return close | (ops.isnan(input) & ops.isnan(other)) if equal_nan else close


def _plain(x: Tensor, name: str) -> Any:
    if isinstance(x._t, Batched):
        raise RuntimeError(
            f"Batching rule not implemented for {name}(): it gives one answer, not one for each "
            "member of a batch. Use isclose() or eq() inside vmap"
        )
    return np.asarray(plain(x._t))


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements are close."""
    if input.dtype != other.dtype:
        raise RuntimeError(f"allclose() of different dtypes: {input.dtype} and {other.dtype}")
    return bool(
        np.allclose(_plain(input, "allclose"), _plain(other, "allclose"), rtol, atol, equal_nan)
    )


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shape and all elements are equal."""
    return input.shape == other.shape and bool(
        np.array_equal(_plain(input, "equal"), _plain(other, "equal"))
    )


def is_tensor(obj: Any) -> bool:
    """Whether something is a tensor."""
    return isinstance(obj, Tensor)


def _asked(name: str) -> Callable[..., Any]:
    """The function that asks a tensor for what its method says."""

    def function(input: Tensor, *args: Any) -> Any:
        return getattr(input, name)(*args)

    function.__name__, function.__doc__ = name, f"`Tensor.{name}` as a function."
    return function


is_floating_point, is_complex = _asked("is_floating_point"), _asked("is_complex")
is_conj, is_neg, is_nonzero = _asked("is_conj"), _asked("is_neg"), _asked("is_nonzero")
is_inference, is_same_size = _asked("is_inference"), _asked("is_same_size")
numel, detach = _asked("numel"), _asked("detach")


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype of a result of two tensors or numbers."""
    return of_numpy(_result_type(unwrap(tensor1), unwrap(tensor2)))


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The dtype of a result of two dtypes."""
    return of_numpy(_promote(type1.dtype, type2.dtype))


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether values of one dtype can be written to another."""
    return RANKS[from_.kind] <= RANKS[to.kind]


class _Typed(type):
    """The types of tensors of one dtype, such as `FloatTensor`."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype == cls._dtype  # type: ignore[attr-defined]

    def __call__(cls, *args: Any) -> Any:
        return legacy(Tensor, args, cls._dtype)  # type: ignore[attr-defined]


def _typed(name: str) -> type:
    members = {"_dtype": NAMED[name], "dtype": NAMED[name]}
    return _Typed(f"{TYPE_NAMES[name]}Tensor", (), members)


FloatTensor, DoubleTensor, HalfTensor = _typed("float32"), _typed("float64"), _typed("float16")
LongTensor, IntTensor, ShortTensor = _typed("int64"), _typed("int32"), _typed("int16")
ByteTensor, CharTensor, BoolTensor = _typed("uint8"), _typed("int8"), _typed("bool")


attach(isclose=isclose, allclose=allclose, equal=equal)
