"""New tensors: `torch_tensor`, `torch_zeros`, `torch_randn` and the like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...arrays.tensor import Tensor
from ...ops import expand_dims
from ...random import Stream
from ..arguments import single_precision_tensor
from .numbers import FLOAT, LONG, dtype_of, sizes, whole

_random = Stream()


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


def torch_full(
    size: Any, fill_value: Any, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor with one value everywhere."""
    values = np.full(sizes([size]), fill_value)
    return single_precision_tensor(
        values if dtype or values.dtype.kind != "f" else values.astype(FLOAT),
        dtype_of(dtype),
        None,
        requires_grad,
    )


def torch_zeros(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    return _new(np.zeros(sizes(size)), dtype, requires_grad)


def torch_ones(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    return _new(np.ones(sizes(size)), dtype, requires_grad)


def torch_empty(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor whose values are yet to be written. Here they are zeros."""
    return torch_zeros(*size, dtype=dtype, requires_grad=requires_grad)


def torch_eye(n: Any, m: Any = None, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A matrix with ones on its diagonal."""
    columns = None if m is None else whole(m, "m")
    return _new(np.eye(whole(n, "n"), columns), dtype, requires_grad)


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


def torch_linspace(
    start: Any, end: Any, steps: Any = 100, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """A number of equidistant points, with both ends."""
    return _new(np.linspace(start, end, whole(steps, "steps")), dtype, requires_grad)


def torch_rand(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Numbers drawn from the uniform distribution between 0 and 1."""
    return _new(_random.generator().random(sizes(size)), dtype, requires_grad)


def torch_randn(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Numbers drawn from the standard normal distribution."""
    return _new(_random.generator().standard_normal(sizes(size)), dtype, requires_grad)


def torch_randint(
    low: Any, high: Any, size: Any, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """Whole numbers drawn from `low` to `high - 1`."""
    drawn = _random.generator().integers(whole(low, "low"), whole(high, "high"), sizes([size]))
    return _new(drawn, dtype, requires_grad)


def torch_randperm(n: Any) -> Tensor:
    """The numbers from 1 to `n` in random order."""
    return _new(_random.generator().permutation(whole(n, "n")) + 1, LONG, False)


def torch_logspace(
    start: Any,
    end: Any,
    steps: Any = 100,
    base: Any = 10,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Powers of a base, with equidistant exponents."""
    exponents = np.linspace(start, end, whole(steps, "steps"))
    return _new(base**exponents, dtype, requires_grad)


def torch_bernoulli(self: Tensor) -> Tensor:
    """Ones, drawn with the probabilities that the elements are, and zeros."""
    drawn = _random.generator().random(self.shape) < self.detach().numpy()
    return _new(drawn.astype(self.dtype), self.dtype, False)


def torch_normal(mean: Any, std: Any, size: Any = None) -> Tensor:
    """Normal numbers with a mean and a standard deviation, each a number or a tensor."""
    centre, width = (v.detach().numpy() if isinstance(v, Tensor) else v for v in (mean, std))
    shape = np.broadcast_shapes(np.shape(centre), np.shape(width)) if size is None else None
    return _new(_random.generator().normal(centre, width, shape or sizes([size])), None, False)


def torch_multinomial(self: Tensor, num_samples: Any, replacement: bool = False) -> Tensor:
    """Places, counted from one, drawn with the weights along the last dimension."""
    weights = self.detach().numpy().astype(np.float64)
    lines = weights.reshape(-1, weights.shape[-1])
    count = whole(num_samples, "num_samples")
    drawn = [_random.generator().choice(len(w), count, replacement, w / w.sum()) + 1 for w in lines]
    return _new(np.reshape(drawn, (*weights.shape[:-1], count)), LONG, False)


def torch_complex(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers with these real and imaginary parts."""
    return real + 1j * imag


def torch_manual_seed(seed: Any) -> None:
    """Let the random numbers start anew from a seed."""
    _random.restart(whole(seed, "seed"))


def _like(fill: Any, input: Tensor, dtype: Any, requires_grad: bool) -> Tensor:
    return _new(fill(input.shape), dtype or input.dtype, requires_grad)


def torch_zeros_like(input: Tensor, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape of a tensor."""
    return _like(np.zeros, input, dtype, requires_grad)


def torch_ones_like(input: Tensor, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape of a tensor."""
    return _like(np.ones, input, dtype, requires_grad)


def torch_empty_like(input: Tensor, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor in the shape of another, with values that are yet to be written. Here: zeros."""
    return _like(np.zeros, input, dtype, requires_grad)


def torch_full_like(
    input: Tensor, fill_value: Any, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """One value in the shape of a tensor."""
    return _like(lambda shape: np.full(shape, fill_value), input, dtype, requires_grad)


def torch_rand_like(input: Tensor, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform numbers in the shape of a tensor."""
    return _like(_random.generator().random, input, dtype, requires_grad)


def torch_randn_like(input: Tensor, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Normal numbers in the shape of a tensor."""
    return _like(_random.generator().standard_normal, input, dtype, requires_grad)


def runif(n: int, min: float = 0.0, max: float = 1.0) -> list[float]:
    """Draw `n` numbers from the uniform distribution, like R's `runif`."""
    drawn: list[float] = np.random.default_rng().uniform(min, max, n).tolist()
    return drawn
