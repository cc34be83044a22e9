"""Reading and checking arguments, where several systems do it in the same way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import ops
from ..arrays.creation import tensor
from ..arrays.tensor import Tensor
from ..autograd import enable_grad


def several(value: Any, single: bool, name: str, kinds: str) -> list[Any]:
    """A single value, or an iterable of values, as a list. `kinds` describes them in errors."""
    if single:
        return [value]
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {kinds}, not {type(value).__name__}")
    return list(value)


def tensors(value: Any, name: str) -> list[Tensor]:
    """A tensor, or an iterable of tensors, as a list."""
    single = isinstance(value, Tensor)
    found = several(value, single, name, "a Tensor or an iterable of them")
    for i, item in enumerate(found):
        if not isinstance(item, Tensor):
            raise TypeError(f"{name}[{i}] must be a Tensor, not {type(item).__name__}")
    return found


def class_places(target: Any, shape: tuple[int, ...]) -> Any:
    """The places of the right classes, one for each row of logits of a shape (rows, classes)."""
    places = np.asarray(target)
    if len(shape) != 2 or places.shape not in ((shape[0],), (shape[0], 1)):
        raise ValueError(
            f"the target must have one class for each row of a matrix of logits: its shape is "
            f"{places.shape}, and that of the logits {tuple(shape)}"
        )
    whole = places.astype(np.int64).reshape(-1)
    if (whole != places.reshape(-1)).any() or (whole < 0).any() or (whole >= shape[1]).any():
        raise ValueError(
            f"the target must be whole numbers from 0 to {shape[1] - 1}, the places of the classes"
        )
    return whole


def stretched(output: Tensor, seed: Any) -> tuple[Tensor, Any]:
    """An output and its cotangent, broadcast against each other as in NumPy.

    For systems that do not compare the two shapes. A smaller cotangent is repeated; for a larger
    cotangent, the output is repeated.
    """
    if seed is None or seed.shape == output.shape:
        return output, seed
    shape = ops.broadcast_shapes(output.shape, seed.shape)
    with enable_grad():
        return ops.broadcast_to(output, shape), ops.broadcast_to(seed, shape)


def single_precision_tensor(data: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """A tensor in which Python's floats and complex numbers have single precision.

    Data with a dtype keeps it. Integers with `requires_grad=True` raise RuntimeError, as in
    libtorch.
    """
    if dtype is None and not carries_dtype(data):
        kind = np.asarray(data).dtype.kind
        dtype = {"f": np.float32, "c": np.complex64}.get(kind)
    made = tensor(data, dtype=dtype, device=device)
    if not requires_grad:
        return made
    try:
        return made.requires_grad_()
    except TypeError as error:
        raise RuntimeError(f"requires_grad=True: {error}") from None


def carries_dtype(data: Any) -> bool:
    """Whether data, or some part of nested sequences, has a dtype of its own."""
    if isinstance(data, list | tuple):
        return any(map(carries_dtype, data))
    return hasattr(data, "dtype")
