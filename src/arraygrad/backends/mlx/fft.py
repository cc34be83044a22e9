"""The standard's Fourier transforms for MLX, which computes them in single precision."""

from __future__ import annotations

from typing import Any

import mlx.core as mx


def fftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The transform along some axes."""
    return mx.fft.fftn(x.astype(mx.complex64), s=s, axes=axes, norm=norm)


def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The inverse of `fftn`."""
    return mx.fft.ifftn(x.astype(mx.complex64), s=s, axes=axes, norm=norm)


def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The transform of real numbers, without the half that follows by symmetry."""
    return mx.fft.rfftn(x.astype(mx.float32), s=s, axes=axes, norm=norm)


def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The inverse of `rfftn`."""
    return mx.fft.irfftn(x.astype(mx.complex64), s=s, axes=axes, norm=norm)
