"""Layers that normalise, with a weight and a bias to learn and, for some, running statistics."""

from __future__ import annotations

from typing import Any

from ..creation import ones, tensor, zeros
from ..handles import Tensor
from . import functional as F  # noqa: N812
from .forms import classes
from .module import Module
from .parameter import Parameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d", "LayerNorm", "RMSNorm",
]  # fmt: skip


class LayerNorm(Module):
    """Elements with mean zero and variance one along the last axes."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        given, of = normalized_shape, {"dtype": dtype, "device": device}
        self.normalized_shape = (given,) if isinstance(given, int) else tuple(given)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape, affine = self.normalized_shape, elementwise_affine
        self.register_parameter("weight", Parameter(ones(*shape, **of)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(*shape, **of)) if affine and bias else None)

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """Elements whose squares have the mean one along the last axes."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        given = normalized_shape
        self.normalized_shape = (given,) if isinstance(given, int) else tuple(given)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape = self.normalized_shape
        weight = Parameter(ones(*shape, dtype=dtype, device=device)) if elementwise_affine else None
        self.register_parameter("weight", weight)

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Module):
    """Groups of channels with mean zero and variance one."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels {num_channels} is no multiple of {num_groups} groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        of = {"dtype": dtype, "device": device}
        self.register_parameter("weight", Parameter(ones(num_channels, **of)) if affine else None)
        self.register_parameter("bias", Parameter(zeros(num_channels, **of)) if affine else None)

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class _Tracking(Module):
    """Channels with mean zero and variance one, and running statistics of them."""

    _axes: tuple[int, ...]  # how many axes an input can have
    _affine = True
    _tracks = True

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool | None = None,
        track_running_stats: bool | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine = self._affine if affine is None else affine
        tracks = self._tracks if track_running_stats is None else track_running_stats
        self.track_running_stats = tracks
        n, of = num_features, {"dtype": dtype, "device": device}
        self.register_parameter("weight", Parameter(ones(n, **of)) if self.affine else None)
        self.register_parameter("bias", Parameter(zeros(n, **of)) if self.affine else None)
        self.register_buffer("running_mean", zeros(n, **of) if tracks else None)
        self.register_buffer("running_var", ones(n, **of) if tracks else None)
        self.register_buffer("num_batches_tracked", tensor(0) if tracks else None)

    def _check(self, input: Tensor) -> None:
        if input.ndim not in self._axes:
            wanted = " or ".join(f"{n}D" for n in self._axes)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")

    def reset_running_stats(self) -> None:
        """Forget the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def extra_repr(self) -> str:
        """Its options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Tracking):
    """Channels with mean zero and variance one over a batch."""

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        self._check(input)
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                share = 1.0 / self.num_batches_tracked.item()
        uses_batch = self.training or self.running_mean is None
        follows = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if follows else (None, None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, uses_batch, share, self.eps)


BatchNorm1d, BatchNorm2d, BatchNorm3d = classes(
    _BatchNorm, "BatchNorm", _axes={1: (2, 3), 2: (4,), 3: (5,)}.__getitem__
)


class _InstanceNorm(_Tracking):
    """Channels with mean zero and variance one in each sample."""

    _affine = False
    _tracks = False

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        self._check(input)
        single = input.ndim == self._axes[0]
        x = input.unsqueeze(0) if single else input
        out = F.instance_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out.squeeze(0) if single else out


InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = classes(
    _InstanceNorm, "InstanceNorm", _axes=lambda n: (n + 1, n + 2)
)
