"""Layers of filters: convolutions and their transposes."""

from __future__ import annotations

import math
from typing import Any

from ....nn.common import each
from ..creation import empty
from ..handles import Tensor
from . import functional as F  # noqa: N812
from .forms import applied, classes
from .layers import draw
from .module import Module
from .parameter import Parameter

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
]  # fmt: skip


class _Filters(Module):
    """Filters along some axes."""

    _convolve: Any
    _axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        of: dict[str, Any],
        transposed: bool,
    ) -> None:
        super().__init__()
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"in_channels {in_channels} and out_channels {out_channels} must be divisible by "
                f"groups {groups}"
            )
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                "padding_mode must be one of zeros, reflect, replicate and circular, not "
                f"{padding_mode!r}"
            )
        if transposed and padding_mode != "zeros":
            raise ValueError(f"{type(self).__name__} has only padding_mode='zeros'")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        count = self._axes
        self.kernel_size = each(kernel_size, count, "kernel_size")
        self.stride, self.dilation = (
            each(stride, count, "stride"),
            each(dilation, count, "dilation"),
        )
        self.padding = padding if isinstance(padding, str) else each(padding, count, "padding")
        self.padding_mode = padding_mode
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(empty(first, second // groups, *self.kernel_size, **of))
        self.register_parameter("bias", Parameter(empty(out_channels, **of)) if bias else None)
        draw(self, 1 / math.sqrt(second // groups * math.prod(self.kernel_size)))

    def extra_repr(self) -> str:
        """Its sizes."""
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )


class _Convolution(_Filters):
    """Sums of products of filters and the windows of a signal."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        of = {"dtype": dtype, "device": device}
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            of,
            False,
        )

    def forward(self, input: Tensor) -> Any:
        """Apply the filters."""
        padding: Any = self.padding
        if self.padding_mode != "zeros" and padding != "valid":
            if padding == "same":
                spans = zip(self.dilation, self.kernel_size, strict=True)
                extra = [d * (k - 1) for d, k in spans]
                ends = [(n // 2, n - n // 2) for n in extra]
            else:
                ends = [(p, p) for p in padding]
            input = F.pad(input, [n for pair in ends[::-1] for n in pair], self.padding_mode)
            padding = 0
        options = (self.stride, padding, self.dilation, self.groups)
        return type(self)._convolve(input, self.weight, self.bias, *options)


Conv1d, Conv2d, Conv3d = classes(_Convolution, "Conv", _convolve=applied("conv"), _axes=int)


class _Transposed(_Filters):
    """Each element of a signal adds a multiple of a filter."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        of = {"dtype": dtype, "device": device}
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            of,
            True,
        )
        self.output_padding = each(output_padding, self._axes, "output_padding")

    def forward(self, input: Tensor, output_size: Any = None) -> Any:
        """Apply the transpose; `output_size` chooses among the sizes that it can have."""
        more: Any = self.output_padding
        if output_size is not None:
            count = self._axes
            lengths: Any = input.shape[-count:]
            of: Any = (self.stride, self.padding, self.dilation, self.kernel_size)
            usual = [
                (n - 1) * s - 2 * p + d * (k - 1) + 1
                for n, s, p, d, k in zip(lengths, *of, strict=True)
            ]
            wanted = tuple(output_size)[-count:]
            more = tuple(w - n for w, n in zip(wanted, usual, strict=True))
            if any(not 0 <= m < s for m, s in zip(more, self.stride, strict=True)):
                raise ValueError(f"output_size must be from {usual} on, by less than the stride")
        options = (self.stride, self.padding, more, self.groups, self.dilation)
        return type(self)._convolve(input, self.weight, self.bias, *options)


ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = classes(
    _Transposed, "ConvTranspose", _convolve=applied("conv_transpose"), _axes=int
)
