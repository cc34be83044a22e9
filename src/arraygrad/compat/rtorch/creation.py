"""New tensors that R makes in its own way: `torch_tensor`, `torch_arange` and the like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...arrays.tensor import Tensor
from ...ops import expand_dims
from ..arguments import single_precision_tensor
from .numbers import FLOAT, dtype_of, sizes, whole


def torch_tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A new leaf tensor. Numbers get an axis of length one, floats get single precision.

    >>> from arraygrad.compat.rtorch import torch_tensor
    >>> torch_tensor(0.5)
    tensor([0.5], dtype=float32)
    """
    if hasattr(data, "shape"):
        data = data if data.shape else expand_dims(data)
    elif not isinstance(data, Iterable):
        data = [data]
    return single_precision_tensor(data, dtype_of(dtype), device, requires_grad)


def torch_scalar_tensor(value: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor without dimensions."""
    return single_precision_tensor(value, dtype_of(dtype), None, requires_grad)


def _new(array: Any, dtype: Any, requires_grad: bool) -> Tensor:
    return single_precision_tensor(array, dtype_of(dtype) or FLOAT, None, requires_grad)


def torch_arange(
    start: Any, end: Any, step: Any = 1, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """The numbers from `start` to `end` in equal steps; like R's `seq`, with the end.

    >>> from arraygrad.compat.rtorch import torch_arange
    >>> torch_arange(1, 3)
    tensor([1., 2., 3.], dtype=float32)
    """
    if step == 0 or (end - start) / step < 0:
        raise ValueError(f"step {step} does not lead from start {start} to end {end}")
    count = int(np.floor((end - start) / step * (1 + 1e-10))) + 1
    return _new(start + step * np.arange(count), dtype, requires_grad)


def torch_randint(
    low: Any, high: Any, size: Any, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Whole numbers drawn from `low` to `high - 1`, in single precision by default."""
    from .. import torch  # which takes time to import

    drawn = torch.randint(whole(low, "low"), whole(high, "high"), sizes([size]))
    return _new(drawn.numpy(), dtype, requires_grad)


def torch_manual_seed(seed: Any) -> None:
    """Let the random numbers start anew from a seed."""
    from .. import torch

    torch.manual_seed(whole(seed, "seed"))


def runif(n: int, min: float = 0.0, max: float = 1.0) -> list[float]:
    """Draw `n` numbers from the uniform distribution, like R's `runif`."""
    drawn: list[float] = np.random.default_rng().uniform(min, max, n).tolist()
    return drawn
