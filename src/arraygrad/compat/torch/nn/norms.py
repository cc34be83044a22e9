"""Layers that normalise channels, with running statistics."""

from __future__ import annotations

from typing import Any

from ..creation import ones, tensor, zeros
from ..handles import Tensor
from . import functional as F  # noqa: N812
from .forms import classes
from .module import Module
from .parameter import Parameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d",
]  # fmt: skip


def _add_count(module: Any, state: Any, prefix: str, about: Any, *_: Any) -> None:
    """Let the number of batches be missing where PyTorch's older programs did not save it."""
    if about.get("version", 1) < 2 and module.num_batches_tracked is not None:
        state.setdefault(f"{prefix}num_batches_tracked", module.num_batches_tracked)


class _Tracking(Module):
    """Channels with mean zero and variance one, and running statistics of them."""

    _version = 2  # of what `state_dict` has
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
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine = self._affine if affine is None else affine
        tracks = self._tracks if track_running_stats is None else track_running_stats
        self.track_running_stats = tracks
        n, of = num_features, {"dtype": dtype, "device": device}
        self.register_parameter("weight", Parameter(ones(n, **of)) if self.affine else None)
        own = Parameter(zeros(n, **of)) if self.affine and bias else None
        self.register_parameter("bias", own)
        self.register_buffer("running_mean", zeros(n, **of) if tracks else None)
        self.register_buffer("running_var", ones(n, **of) if tracks else None)
        self.register_buffer("num_batches_tracked", tensor(0) if tracks else None)
        self.register_load_state_dict_pre_hook(_add_count)

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
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
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
        uses_batch = self.training or not self.track_running_stats
        held = (self.running_mean, self.running_var, self.weight, self.bias)
        share = 0.0 if self.momentum is None else self.momentum
        out = F.instance_norm(x, *held, uses_batch, share, self.eps)
        return out.squeeze(0) if single else out


InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = classes(
    _InstanceNorm, "InstanceNorm", _axes=lambda n: (n + 1, n + 2)
)
