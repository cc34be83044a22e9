"""Normalisation: elements with mean zero and variance one, or vectors of length one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import linalg, ops
from ....ops.special.standardizing import standardize
from ..autograd import no_grad
from ..functions.axes import checked
from ..handles import Tensor
from ..publish import ArgumentError, function
from .resampling import weighted


def _standard(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    if eps >= 0:
        return standardize(x, axis=axes, eps=eps)
    centred = x - ops.mean(x, axis=axes, keepdims=True)
    return centred / ops.sqrt(ops.mean(ops.square(centred), axis=axes, keepdims=True) + eps)


def _scaled(x: Any, weight: Any, bias: Any, shape: tuple[int, ...]) -> Any:
    """The elements times a weight plus a bias, which are of a shape."""
    x = x if weight is None else x * ops.reshape(weight, shape)
    return x if bias is None else x + ops.reshape(bias, shape)


def _last_axes(x: Any, normalized_shape: Any, **parameters: Any) -> tuple[int, ...]:
    given = normalized_shape
    shape = (given,) if isinstance(given, int) else tuple(given)
    if not shape or tuple(x.shape[-len(shape) :]) != shape:
        raise RuntimeError(f"the last axes of input {tuple(x.shape)} must be {shape}")
    for name, value in parameters.items():
        if value is not None and tuple(value.shape) != shape:
            raise RuntimeError(f"{name} must have the shape {shape}, not {tuple(value.shape)}")
    return shape


@function(method=False)
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Elements with mean zero and variance one along the last axes."""
    shape = _last_axes(input, normalized_shape, weight=weight, bias=bias)
    return _scaled(_standard(input, tuple(range(-len(shape), 0)), eps), weight, bias, shape)


@function(method=False)
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    """Elements whose squares have the mean one along the last axes."""
    shape = _last_axes(input, normalized_shape, weight=weight)
    eps = float(np.finfo(input.dtype).eps) if eps is None else eps
    mean = ops.mean(ops.square(input), axis=tuple(range(-len(shape), 0)), keepdims=True)
    return _scaled(input / ops.sqrt(mean + eps), weight, None, shape)


@function(method=False)
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Elements with mean zero and variance one in each group of channels of a sample."""
    if input.ndim < 2:
        raise RuntimeError(f"input must have two axes or more, not shape {tuple(input.shape)}")
    samples, channels = input.shape[:2]
    if num_groups < 1 or channels % num_groups:
        raise RuntimeError(f"{channels} channels cannot be divided into {num_groups} groups")
    if samples and math.prod(input.shape) // (samples * num_groups) <= 1:
        raise ArgumentError(
            f"Expected more than 1 value per channel when training, got input size "
            f"{tuple(input.shape)}"
        )
    grouped = (samples, num_groups, channels // num_groups, *input.shape[2:])
    out = _standard(ops.reshape(input, grouped), tuple(range(2, len(grouped))), eps)
    shape = (channels, *(1,) * (input.ndim - 2))
    return _scaled(ops.reshape(out, input.shape), weight, bias, shape)


# --- with running statistics ---


@function(method=False)
def _normed(
    input: Any, axes: tuple[int, ...], mean: Any, var: Any, weight: Any, bias: Any, eps: float
) -> Any:
    """Channels with mean zero and variance one: over axes, or by a mean and a variance."""
    if input.ndim < 2 or not input.size:
        if input.size:
            raise RuntimeError(f"input must have two axes or more, not shape {tuple(input.shape)}")
        return input * 1
    shape = (input.shape[1], *(1,) * (input.ndim - 2))
    if mean is None:
        out = _standard(input, axes, eps)
    else:
        out = (input - ops.reshape(mean, shape)) / ops.sqrt(ops.reshape(var, shape) + eps)
    return _scaled(out, weight, bias, shape)


@no_grad()
def _follow(input: Tensor, axes: list[int], mean: Any, var: Any, momentum: float) -> None:
    """Move the running mean and variance towards those of a batch."""
    if not input.numel():
        return
    now = input.detach()
    count = math.prod(input.shape[a] for a in axes)
    for running, found in ((mean, now.mean(axes)), (var, now.var(axes, unbiased=count > 1))):
        if running is not None:
            found = found.mean(0) if found.ndim > 1 else found  # instances have one each
            running.mul_(1 - momentum).add_(found, alpha=momentum)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Channels with mean zero and variance one over a batch; in training, over this batch."""
    axes = [a for a in range(input.ndim) if a != 1]
    if eps < 0 or (training and not eps):
        raise ValueError(f"batch_norm eps must be positive, but is {eps}")
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("running_mean and running_var are needed unless training=True")
        return _normed(input, (), running_mean, running_var, weight, bias, eps)
    if math.prod(input.shape[a] for a in axes) == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{tuple(input.shape)}"
        )
    out = _normed(input, tuple(axes), None, None, weight, bias, eps)
    _follow(input, axes, running_mean, running_var, momentum)
    return out


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Channels with mean zero and variance one in each sample."""
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "running_mean and running_var are needed unless use_input_stats=True"
            )
        return _normed(input, (), running_mean, running_var, weight, bias, eps)
    axes = list(range(2, input.ndim))
    if math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, got input size "
            f"{tuple(input.shape)}"
        )
    out = _normed(input, tuple(axes), None, None, weight, bias, eps)
    _follow(input, axes, running_mean, running_var, momentum)
    return out


# --- by norms ---


@function(method=False)
def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """Vectors divided by their norms."""
    x = input if input.ndim else ops.reshape(input, (1,))
    many = dim if isinstance(dim, tuple | list) else (dim,)
    axes = tuple(checked(d, x.ndim) for d in many)
    size = linalg.vector_norm(x, axis=axes, keepdims=True, ord=p)
    return ops.reshape(x / ops.where(size < eps, eps, size), input.shape)


@function(method=False)
def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Elements divided by a power of the mean square over neighbouring channels."""
    if input.ndim < 3:
        raise ArgumentError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    channels = input.shape[1]
    near = np.arange(channels) + np.arange(size)[:, None] - size // 2
    near = np.where((near >= 0) & (near < channels), near, -1)
    mean = weighted(ops.square(input), 1 - input.ndim, near) / size
    return input / ops.pow(mean * alpha + k, beta)
