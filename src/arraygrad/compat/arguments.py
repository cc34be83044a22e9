"""Reading arguments in the ways that more than one of the systems shares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import ops
from ..arrays.creation import tensor
from ..arrays.tensor import Tensor
from ..autograd import enable_grad


def several(value: Any, single: bool, name: str, kinds: str) -> list[Any]:
    """One thing, or an iterable of them, as a list; `kinds` says what it may be."""
    if single:
        return [value]
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {kinds}, not {type(value).__name__}")
    return list(value)


def tensors(value: Any, name: str) -> list[Tensor]:
    """One tensor, or an iterable of them, as a list."""
    single = isinstance(value, Tensor)
    found = several(value, single, name, "a Tensor or an iterable of them")
    for i, item in enumerate(found):
        if not isinstance(item, Tensor):
            raise TypeError(f"{name}[{i}] must be a Tensor, not {type(item).__name__}")
    return found


def stretched(output: Tensor, seed: Any) -> tuple[Tensor, Any]:
    """An output and its cotangent, broadcast against each other as NumPy would.

    For systems that do not compare the two shapes: a smaller cotangent is repeated, and a larger
    one belongs to an output that is.
    """
    if seed is None or seed.shape == output.shape:
        return output, seed
    shape = ops.broadcast_shapes(output.shape, seed.shape)
    with enable_grad():
        return ops.broadcast_to(output, shape), ops.broadcast_to(seed, shape)


def single_precision_tensor(data: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """A tensor in which Python's floats and complex numbers have single precision.

    Data that carries a dtype keeps it. Integers that should require gradients are a RuntimeError,
    as in libtorch.
    """
    if dtype is None and not _carries_dtype(data):
        kind = np.asarray(data).dtype.kind
        dtype = {"f": np.float32, "c": np.complex64}.get(kind)
    made = tensor(data, dtype=dtype, device=device)
    if not requires_grad:
        return made
    try:
        return made.requires_grad_()
    except TypeError as error:
        raise RuntimeError(f"requires_grad=True: {error}") from None


def _carries_dtype(data: Any) -> bool:
    if isinstance(data, list | tuple):
        return any(map(_carries_dtype, data))
    return hasattr(data, "dtype")
