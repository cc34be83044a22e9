"""Convolutions and correlations in any number of dimensions.

One op carries them: the part of the full convolution that starts at `starts` and has `sizes`. Its
derivatives are convolutions with a flipped operand, which are other parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.filled import zeros_like
from ...core.axes import one_axis
from ...core.kinds import Contracts
from ...fft import fftn, ifftn, irfftn, rfftn
from ...ops import conj, flip, is_complex, take
from ...ops.define.library import declare
from ..twins import by_scipy, floating, twin
from .lines import SCIPY, padded_places

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve", "oaconvolve"]

Sizes = tuple[int, ...]


def _part_of(x: Any, y: Any, *, starts: Sizes, sizes: Sizes, method: str) -> Any:
    larger = all(n >= m for n, m in zip(x.shape, y.shape, strict=True))
    valid = tuple(n - m + 1 for n, m in zip(x.shape, y.shape, strict=True))
    if larger and sizes == valid and starts == tuple(m - 1 for m in y.shape):
        return SCIPY.convolve(x, y, mode="valid", method=method)
    if larger and sizes == x.shape and starts == tuple((m - 1) // 2 for m in y.shape):
        return SCIPY.convolve(x, y, mode="same", method=method)
    full = SCIPY.convolve(x, y, mode="full", method=method)
    pads = [
        (max(-start, 0), max(start + size - n, 0))
        for start, size, n in zip(starts, sizes, full.shape, strict=True)
    ]
    if any(p for pair in pads for p in pair):
        full = np.pad(full, pads)
    begins = [start + before for start, (before, _) in zip(starts, pads, strict=True)]
    return full[tuple(slice(b, b + size) for b, size in zip(begins, sizes, strict=True))]


def _by(g: Any, other: Any, shape: Sizes, starts: Sizes, method: str) -> Any:
    return _convolve(
        g,
        flip(other, axis=None),
        starts=tuple(m - 1 - start for m, start in zip(other.shape, starts, strict=True)),
        sizes=tuple(shape),
        method=method,
    )


_convolve = declare(
    "scipy.signal.convolve",
    "x",
    "y",
    kind=Contracts(),
    compute=by_scipy(_part_of),
    vjp_x=lambda g, x_shape, y, starts, method: _by(g, y, x_shape, starts, method),
    vjp_y=lambda g, x, y_shape, starts, method: _by(g, x, y_shape, starts, method),
)


def _region(x: Sizes, y: Sizes, mode: str, name: str, round_up: int = 0) -> tuple[Sizes, Sizes]:
    """Where the part of the full convolution starts, and its sizes."""
    if mode == "full":
        return (0,) * len(x), tuple(n + m - 1 for n, m in zip(x, y, strict=True))
    if mode == "same":
        return tuple((m - 1 + round_up) // 2 for m in y), x
    if mode == "valid":
        larger = [n >= m for n, m in zip(x, y, strict=True)]
        if not all(larger) and not all(m >= n for n, m in zip(x, y, strict=True)):
            raise ValueError(
                f"{name}: for 'valid' mode, one must be at least as large as the other in every "
                "dimension"
            )
        return (
            tuple(min(n, m) - 1 for n, m in zip(x, y, strict=True)),
            tuple(abs(n - m) + 1 for n, m in zip(x, y, strict=True)),
        )
    raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")


def convolved(x: Any, y: Any, mode: str, method: str = "auto", name: str = "convolve") -> Any:
    """The convolution of two arrays of the same number of dimensions."""
    x, y = floating(x), floating(y)
    if x.ndim != y.ndim:
        raise ValueError(f"{name}: in1 and in2 should have the same dimensionality")
    if x.ndim == 0:
        return x * y
    starts, sizes = _region(tuple(x.shape), tuple(y.shape), mode, name)
    return _convolve(x, y, starts=starts, sizes=sizes, method=method)


def _flipped(y: Any) -> Any:
    y = floating(y)
    turned = flip(y, axis=None) if y.ndim else y
    return conj(turned) if is_complex(y) else turned


@twin(SCIPY.convolve)
def convolve(in1: Any, in2: Any, mode: str, method: str) -> Any:
    """The convolution of two arrays."""
    return convolved(in1, in2, mode, method)


@twin(SCIPY.correlate)
def correlate(in1: Any, in2: Any, mode: str, method: str) -> Any:
    """The correlation of two arrays."""
    return convolved(in1, _flipped(in2), mode, method, "correlate")


def _by_transforms(in1: Any, in2: Any, mode: str, axes: Any, name: str) -> Any:
    x, y = floating(in1), floating(in2)
    if x.ndim != y.ndim:
        raise ValueError(f"{name}: in1 and in2 should have the same dimensionality")
    if not x.size or not y.size:
        return zeros_like(x, (0,))
    along = list(range(x.ndim))
    if axes is not None:
        along = [one_axis(a, x.ndim) for a in np.atleast_1d(axes).tolist()]
    if mode == "valid":  # axes of length one are repeated
        along = [a for a in along if x.shape[a] != 1 != y.shape[a]]
        if not along:
            return x * y
    if len(along) == x.ndim:
        return convolved(x, y, mode, "fft", name)
    starts, sizes = _region(
        tuple(x.shape[a] for a in along), tuple(y.shape[a] for a in along), mode, name
    )
    s = tuple(x.shape[a] + y.shape[a] - 1 for a in along)
    if is_complex(x) or is_complex(y):
        out = ifftn(fftn(x, s=s, axes=along) * fftn(y, s=s, axes=along), s=s, axes=along)
    else:
        out = irfftn(rfftn(x, s=s, axes=along) * rfftn(y, s=s, axes=along), s=s, axes=along)
    part = [slice(None)] * out.ndim
    for a, start, size in zip(along, starts, sizes, strict=True):
        part[a] = slice(start, start + size)
    return out[tuple(part)]


@twin(SCIPY.fftconvolve)
def fftconvolve(in1: Any, in2: Any, mode: str, axes: Any) -> Any:
    """The convolution of two arrays by Fourier transforms."""
    return _by_transforms(in1, in2, mode, axes, "fftconvolve")


@twin(SCIPY.oaconvolve)
def oaconvolve(in1: Any, in2: Any, mode: str, axes: Any) -> Any:
    """The convolution of two arrays by Fourier transforms, of parts if one is long."""
    return _by_transforms(in1, in2, mode, axes, "oaconvolve")


_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "reflect"}


def _in_plane(x: Any, y: Any, mode: str, boundary: str, fillvalue: Any, name: str) -> Any:
    x, y = floating(x), floating(y)
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError(f"{name} inputs must both be 2-D arrays")
    if boundary not in _BOUNDARIES:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symm'")
    if mode == "valid" and any(n < m for n, m in zip(x.shape, y.shape, strict=True)):
        x, y = y, x
    # With an even number of rows, the middle of a correlation is half a row further on.
    round_up = int(name == "correlate2d")
    starts, sizes = _region(tuple(x.shape), tuple(y.shape), mode, name, round_up)
    if boundary == "fill" or mode == "valid":
        if not fillvalue or mode == "valid":
            return _convolve(x, y, starts=starts, sizes=sizes, method="direct")
        inner = _convolve(x - fillvalue, y, starts=starts, sizes=sizes, method="direct")
        return inner + fillvalue * y.sum()
    pads = tuple(m - 1 for m in y.shape)
    for axis, (n, pad) in enumerate(zip(x.shape, pads, strict=True)):
        x = take(x, padded_places(n, pad, pad, _BOUNDARIES[boundary]), axis=axis)
    begins = tuple(start + pad for start, pad in zip(starts, pads, strict=True))
    return _convolve(x, y, starts=begins, sizes=sizes, method="direct")


@twin(SCIPY.convolve2d)
def convolve2d(in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any) -> Any:
    """The convolution of two planes."""
    return _in_plane(in1, in2, mode, boundary, fillvalue, "convolve2d")


@twin(SCIPY.correlate2d)
def correlate2d(in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any) -> Any:
    """The correlation of two planes."""
    return _in_plane(in1, _flipped(in2), mode, boundary, fillvalue, "correlate2d")
