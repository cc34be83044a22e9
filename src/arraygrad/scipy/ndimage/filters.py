"""Linear filters of images, by the image and by the weights.

A filter is a correlation of the image, continued beyond its edges, with weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import backend_of
from ...backends.filled import zeros_like
from ...core.array import Array
from ...core.axes import many_axes, one_axis
from ...core.kinds import Contracts
from ...ops import concat, conj, flip, is_complex, reshape, stack, take
from ...ops import sum as _sum
from ...ops.define.library import declare
from ..names import scipy_module
from ..signal.convolution import convolved
from ..signal.lines import padded_places
from ..twins import array_like, by_scipy, floating, in_precision_of, twin

__all__ = [
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "laplace",
    "prewitt",
    "sobel",
    "uniform_filter",
    "uniform_filter1d",
]

SCIPY = scipy_module("scipy.ndimage")


def image_of(input: Any) -> Any:
    """An image of floating-point numbers; SciPy rounds what it makes of others."""
    image = array_like(input)
    if backend_of(image).kind(image.dtype) not in "fc":
        raise TypeError(
            f"images of {image.dtype} have no derivatives, because SciPy rounds results to it: "
            "convert the image to floating-point numbers"
        )
    return image


def _padded(x: Any, axis: int, before: int, after: int, mode: str) -> Any:
    """The image, continued along an axis; zeros for the mode "constant"."""
    n = x.shape[axis]
    places = padded_places(n, before, after, mode)
    if (places < 0).any():
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        x = concat((x, zeros_like(x, shape)), axis=axis)
        places = np.where(places < 0, n, places)
    return take(x, places, axis=axis)


# --- sums over a window --------------------------------------------------------------------------

_MANY = 64  # from this number of weights on, Fourier transforms give their cotangents


def _sliding_of(x: Any, w: Any) -> Any:
    long = [axis for axis, n in enumerate(w.shape) if n > 1]
    part = tuple(slice(n // 2, n // 2 + m - n + 1) for m, n in zip(x.shape, w.shape, strict=True))
    if len(long) == 1 and not (np.iscomplexobj(x) or np.iscomplexobj(w)):
        return SCIPY.correlate1d(x, w.reshape(-1), long[0], mode="constant")[part]
    return SCIPY.correlate(x, np.conj(w), mode="constant")[part]  # SciPy takes the conjugate, too


def _sliding_by_x(g: Any, w: Any) -> Any:
    for axis, n in enumerate(w.shape):
        g = _padded(g, axis, n - 1, n - 1, "constant")
    return _sliding(g, flip(w, axis=None))


def _sliding_by_w(g: Any, x: Any, w_shape: Any) -> Any:
    if np.prod(w_shape) > _MANY:
        return convolved(x, flip(g, axis=None), "valid", "auto", "correlate")
    found = []
    for start in np.ndindex(*w_shape):
        part = tuple(slice(k, k + n) for k, n in zip(start, g.shape, strict=True))
        found.append(_sum(g * x[part]))
    return reshape(stack(found), tuple(w_shape))


# At each place where the weights fit inside, the sum of the elements times the weights.
_sliding = declare(
    "scipy.ndimage.sliding",
    "x",
    "w",
    kind=Contracts(),
    compute=by_scipy(_sliding_of),
    vjp_x=_sliding_by_x,
    vjp_w=_sliding_by_w,
)


def modes_of(mode: Any, count: int) -> list[str]:
    """One boundary mode for each axis."""
    modes = [mode] * count if isinstance(mode, str) else list(mode)
    if len(modes) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return modes


def numbers(value: Any, count: int) -> list[Any]:
    """One number for each axis."""
    if isinstance(value, Array) and value.ndim:
        value = list(value)  # type: ignore[call-overload]
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    values = list(value) if isinstance(value, list | tuple | np.ndarray) else [value] * count
    if len(values) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return values


def _correlated(x: Any, weights: Any, mode: Any, cval: Any, origin: Any) -> Any:
    """The correlation, where `weights` has as many axes as the image."""
    modes, origins = modes_of(mode, x.ndim), numbers(origin, x.ndim)
    constant = any(m in ("constant", "grid-constant") for m in modes)
    shifted = x - cval if constant and cval else x
    for axis in range(x.ndim):
        size = weights.shape[axis]
        before = size // 2 + origins[axis]
        if not 0 <= before < max(size, 1):
            raise ValueError("invalid origin")
        shifted = _padded(shifted, axis, before, size - 1 - before, modes[axis])
    out = _sliding(shifted, weights)
    return in_precision_of(out + cval * _sum(weights) if constant and cval else out, x)


def _in_axes(x: Any, weights: Any, axes: Any) -> Any:
    """Weights over some axes, with axes of length one for the others."""
    along = axes_of(x, axes)
    if weights.ndim != len(along):
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({len(along)})")
    shape = [1] * x.ndim
    for axis, size in zip(sorted(along), weights.shape, strict=True):
        shape[axis] = size
    return reshape(weights, tuple(shape))


def _turned(origins: list[int], weights: Any) -> list[int]:
    """The origins of weights in reverse order."""
    return [-o - (1 if n % 2 == 0 else 0) for o, n in zip(origins, weights.shape, strict=True)]


def axes_of(x: Any, axes: Any) -> list[int]:
    """The axes of a filter, in the order in which they were given."""
    if axes is None:
        return list(range(x.ndim))
    along = list(many_axes(axes, x.ndim) or ())
    if len(set(along)) != len(along):
        raise ValueError("axes must be unique")
    return along


def for_all_axes(value: Any, x: Any, axes: Any, default: Any) -> list[Any]:
    """One value for each axis of the image, from values for some axes.

    As in SciPy, the order of axes counts only if there are fewer axes than the image has.
    """
    along = axes_of(x, axes)
    values = numbers(value, len(along))
    if len(along) == x.ndim:
        return values
    out = [default] * x.ndim
    for axis, one in zip(along, values, strict=True):
        out[axis] = one
    return out


def _one_mode(mode: Any) -> str:
    if not isinstance(mode, str):
        raise RuntimeError("A sequence of modes is not supported")
    return mode


def _conjugate(weights: Any) -> Any:
    weights = floating(weights)
    return conj(weights) if is_complex(weights) else weights


# SciPy's older versions have no `axes` in some functions.
@twin(SCIPY.correlate)
def correlate(input: Any, weights: Any, mode: Any, cval: Any, origin: Any, axes: Any = None) -> Any:
    """The correlation of an image with weights."""
    x, w = image_of(input), _conjugate(weights)
    origins = for_all_axes(origin, x, axes, 0)
    return _correlated(x, _in_axes(x, w, axes), _one_mode(mode), cval, origins)


@twin(SCIPY.convolve)
def convolve(input: Any, weights: Any, mode: Any, cval: Any, origin: Any, axes: Any = None) -> Any:
    """The convolution of an image with weights."""
    x, w = image_of(input), floating(weights)
    weights = _in_axes(x, flip(w, axis=None), axes)
    origins = _turned(for_all_axes(origin, x, axes, 0), weights)
    return _correlated(x, weights, _one_mode(mode), cval, origins)


def along_axis(x: Any, weights: Any, axis: int, mode: str, cval: Any, origin: int) -> Any:
    """The correlation with a vector along an axis."""
    axis = one_axis(axis, x.ndim)
    shape = [1] * x.ndim
    shape[axis] = weights.shape[0]
    origins = [origin if k == axis else 0 for k in range(x.ndim)]
    modes = [mode if k == axis else "nearest" for k in range(x.ndim)]
    return _correlated(x, reshape(weights, tuple(shape)), modes, cval, origins)


@twin(SCIPY.correlate1d)
def correlate1d(input: Any, weights: Any, axis: int, mode: str, cval: Any, origin: int) -> Any:
    """The correlation with a vector along an axis."""
    return along_axis(image_of(input), _conjugate(weights), axis, mode, cval, origin)


@twin(SCIPY.convolve1d)
def convolve1d(input: Any, weights: Any, axis: int, mode: str, cval: Any, origin: int) -> Any:
    """The convolution with a vector along an axis."""
    w = floating(weights)
    turned = _turned([origin], w)[0]
    return along_axis(image_of(input), flip(w, axis=0), axis, mode, cval, turned)


# --- means and differences ------------------------------------------------------------------------


@twin(SCIPY.uniform_filter1d)
def uniform_filter1d(input: Any, size: int, axis: int, mode: str, cval: Any, origin: int) -> Any:
    """The mean of neighbours along an axis."""
    return along_axis(image_of(input), np.full(size, 1.0 / size), axis, mode, cval, origin)


@twin(SCIPY.uniform_filter)
def uniform_filter(input: Any, size: Any, mode: Any, cval: Any, origin: Any, axes: Any) -> Any:
    """The mean of neighbours."""
    x = image_of(input)
    along = axes_of(x, axes)
    count = len(along)
    every = zip(
        along, numbers(size, count), modes_of(mode, count), numbers(origin, count), strict=True
    )
    for axis, width, one_mode, start in every:
        x = uniform_filter1d(x, width, axis, None, one_mode, cval, start) if width > 1 else x
    return x


def _edges(input: Any, axis: int, mode: Any, cval: Any, smooth: list[float]) -> Any:
    x = image_of(input)
    axis = one_axis(axis, x.ndim)
    modes = modes_of(mode, x.ndim)
    out = along_axis(x, np.array([-1.0, 0.0, 1.0]), axis, modes[axis], cval, 0)
    for k in range(x.ndim):
        if k != axis:
            out = along_axis(out, np.array(smooth), k, modes[k], cval, 0)
    return out


@twin(SCIPY.sobel)
def sobel(input: Any, axis: int, mode: Any, cval: Any) -> Any:
    """Sobel's filter: differences along an axis."""
    return _edges(input, axis, mode, cval, [1.0, 2.0, 1.0])


@twin(SCIPY.prewitt)
def prewitt(input: Any, axis: int, mode: Any, cval: Any) -> Any:
    """Prewitt's filter: differences along an axis."""
    return _edges(input, axis, mode, cval, [1.0, 1.0, 1.0])


@twin(SCIPY.laplace)
def laplace(input: Any, mode: Any, cval: Any, axes: Any = None) -> Any:
    """The sum of second differences."""
    x = image_of(input)
    along = axes_of(x, axes)
    modes = modes_of(mode, len(along))
    weights = np.array([1.0, -2.0, 1.0])
    parts = [along_axis(x, weights, a, m, cval, 0) for a, m in zip(along, modes, strict=True)]
    return sum(parts[1:], start=parts[0]) if parts else x * 1.0
