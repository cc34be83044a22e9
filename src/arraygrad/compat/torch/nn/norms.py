"""Layers that shift and scale their input to mean zero and variance one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops
from ..autograd import no_grad
from ..creation import ones, tensor, zeros
from ..dtypes import int64
from ..handles import Tensor
from ..publish import function
from .module import Module
from .parameter import Parameter


def batch_norm(
    input: Tensor,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Channels with mean zero and variance one over a batch, or by the statistics so far."""
    shape = (1, -1) + (1,) * (input.ndim - 2)
    axes = [a for a in range(input.ndim) if a != 1]
    if training or running_mean is None:
        count = input.numel() / input.shape[1]
        if count <= 1:
            raise ValueError(
                f"Expected more than 1 value per channel when training, got {tuple(input.shape)}"
            )
        mean, var = input.mean(axes), input.var(axes, unbiased=False)
        if running_mean is not None:
            with no_grad():
                unbiased = var.detach() * (count / (count - 1))
                running_mean.mul_(1 - momentum).add_(mean.detach(), alpha=momentum)
                running_var.mul_(1 - momentum).add_(unbiased, alpha=momentum)
    else:
        mean, var = running_mean, running_var
    out = (input - mean.view(shape)) / (var.view(shape) + eps).sqrt()
    out = out if weight is None else out * weight.view(shape)
    return out if bias is None else out + bias.view(shape)


def _scaled(out: Any, weight: Any, bias: Any, ndim: int) -> Any:
    """Each channel times a weight, plus a bias."""
    shape = (1, -1) + (1,) * (ndim - 2)
    out = out if weight is None else out * ops.reshape(weight, shape)
    return out if bias is None else out + ops.reshape(bias, shape)


@function(method=False)
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Groups of channels with mean zero and variance one in each sample."""
    if input.shape[1] % num_groups:
        raise RuntimeError(
            f"group_norm(): {input.shape[1]} channels cannot be divided into {num_groups} groups"
        )
    rows = ops.reshape(input, (input.shape[0], num_groups, -1))
    centred = rows - ops.mean(rows, axis=-1, keepdims=True)
    spread = ops.mean(ops.square(centred), axis=-1, keepdims=True)
    out = ops.reshape(centred / ops.sqrt(spread + eps), input.shape)
    return _scaled(out, weight, bias, input.ndim)


@function(method=False)
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    """Elements divided by the root of their mean square along the last axes."""
    axes = tuple(range(-len(tuple(normalized_shape)), 0))
    small = float(np.finfo(input.dtype).eps) if eps is None else eps
    out = input / ops.sqrt(ops.mean(ops.square(input), axis=axes, keepdims=True) + small)
    return out if weight is None else out * weight


class _BatchNorm(Module):
    """Channels with mean zero and variance one over a batch."""

    _axes: tuple[int, ...]
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = Parameter(ones(num_features, **options)) if affine else None
        self.bias = Parameter(zeros(num_features, **options)) if affine else None
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **options) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **options) if tracked else None)
        count = tensor(0, dtype=int64) if tracked else None
        self.register_buffer("num_batches_tracked", count)

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        if input.ndim not in self._axes:
            raise ValueError(f"expected {self._axes} axes, got {input.ndim}")
        momentum = self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked = self.num_batches_tracked + 1
            if momentum is None:  # the mean of all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        own = self.training or not self.track_running_stats
        return batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            own,
            0.0 if momentum is None else momentum,
            self.eps,
        )

    def extra_repr(self) -> str:
        """Its options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Channels with mean zero and variance one over a batch of vectors or sequences."""

    _axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Channels with mean zero and variance one over a batch of images."""

    _axes = (4,)


class GroupNorm(Module):
    """Groups of channels with mean zero and variance one in each sample."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True
    ) -> None:
        super().__init__()
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = Parameter(ones(num_channels)) if affine else None
        self.bias = Parameter(zeros(num_channels)) if affine else None

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """Elements divided by the root of their mean square along the last axes."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True
    ) -> None:
        super().__init__()
        given = normalized_shape
        self.normalized_shape = (given,) if isinstance(given, int) else tuple(given)
        self.eps = eps
        self.weight = Parameter(ones(*self.normalized_shape)) if elementwise_affine else None

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        return rms_norm(input, self.normalized_shape, self.weight, self.eps)
