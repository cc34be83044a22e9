"""Images at other coordinates: by the image, the coordinates, and the parameters of a map.

The image becomes a spline, by a filter whose inverse is known; then each coordinate takes a
weighted sum of neighbours. Which neighbours is decided by the values.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ...core.array import plain
from ...core.axes import one_axis
from ...core.kinds import AlongAxis, Elementwise
from ...ops import (
    astype,
    clip,
    concat,
    cos,
    floor,
    greater,
    less,
    logical_or,
    matmul,
    moveaxis,
    reshape,
    sin,
    take,
    where,
)
from ...ops.define.library import constant, declare
from ..names import scipy_module
from ..signal.lines import padded_places
from ..twins import array_like, by_scipy, double, floating, in_precision_of, twin
from ..values import attach
from .filters import SCIPY, image_of

__all__ = [
    "affine_transform",
    "map_coordinates",
    "rotate",
    "shift",
    "spline_filter",
    "spline_filter1d",
    "zoom",
]

_MIRROR = {"constant", "grid-constant", "mirror", "wrap"}
_SHORT = 50  # up to this length, the filter is not symmetric to the last digit


def _filter_adjoint(g: Any, axis: int, order: int, mode: str) -> Any:
    """The adjoint of the spline filter: it is symmetric, but for the weights of mirrored ends."""
    n = g.shape[axis]
    if mode not in _MIRROR and 1 < n <= _SHORT and mode != "grid-wrap":
        # SciPy cuts off sums over reflections, so that the filter of a short line has an error.
        matrix = SCIPY.spline_filter1d(np.eye(n), order, 0, np.float64, mode)
        return moveaxis(matmul(moveaxis(g, axis, -1), matrix), -1, axis)
    if mode not in _MIRROR or n == 1:
        return _spline_filter(g, axis=axis, order=order, mode=mode)
    ends = np.ones(n)
    ends[[0, -1]] = 0.5
    ends = ends.reshape((-1,) + (1,) * (g.ndim - 1 - axis))
    return _spline_filter(g / ends, axis=axis, order=order, mode=mode) * ends


_spline_filter = declare(
    "scipy.ndimage.spline_filter1d",
    "x",
    kind=AlongAxis(linear=True),
    compute=by_scipy(
        lambda x, *, axis, order, mode: SCIPY.spline_filter1d(
            x, order, axis, np.complex128 if np.iscomplexobj(x) else np.float64, mode
        )
    ),
    vjp=_filter_adjoint,
    holomorphic=False,
)


@twin(SCIPY.spline_filter1d)
def spline_filter1d(input: Any, order: int, axis: int, mode: str) -> Any:
    """The coefficients of a spline through the image, along an axis."""
    x = floating(input)
    if order not in range(6):
        raise RuntimeError("spline order not supported")
    if order < 2:
        return double(x)
    return _spline_filter(x, axis=one_axis(axis, x.ndim), order=order, mode=mode)


@twin(SCIPY.spline_filter)
def spline_filter(input: Any, order: int, mode: str) -> Any:
    """The coefficients of a spline through the image."""
    if order not in range(2, 6):
        raise RuntimeError("spline order not supported")
    x = floating(input)
    for axis in range(x.ndim):
        x = _spline_filter(x, axis=axis, order=order, mode=mode)
    return x


# --- the weights of neighbours -------------------------------------------------------------------


def _weights(t: Any, order: int) -> list[Any]:
    """The weights of `order + 1` neighbours, by the distance `t` from the last knot before.

    They are the B-splines on equal steps that are not zero between two knots.
    """
    weights: list[Any] = [0 * t + 1]
    for degree in range(1, order + 1):
        before, after = [0.0, *weights], [*weights, 0.0]
        weights = [
            ((degree - j + t) * before[j] + (j + 1 - t) * after[j]) * (1 / degree)
            for j in range(degree + 1)
        ]
    return weights


def _mapped(x: Any, n: int, mode: str) -> Any:
    """Coordinates inside of the image, for those outside."""
    if mode in ("constant", "grid-constant"):
        return x
    if mode == "nearest":
        return clip(x, 0, n - 1)
    if n == 1:
        return 0 * x
    if mode == "mirror":
        period = 2 * n - 2
        u = x - period * floor(x / period)
        return where(greater(u, n - 1), period - u, u)
    if mode == "reflect":
        period = 2 * n
        outside = logical_or(less(x, 0), greater(x, n - 1))
        u = x - period * floor(x / period)
        return where(outside, where(u < n, u, period - 1 - u), x)
    if mode == "wrap":
        period = n - 1
        outside = logical_or(less(x, 0), greater(x, n - 1))
        return where(outside, x - period * floor(x / period), x)
    return x - n * floor(x / n)  # grid-wrap


def _neighbour(index: Any, n: int, mode: str) -> Any:
    """The place of a neighbour that is outside of the image."""
    if mode == "grid-wrap":
        return index % n
    if mode == "nearest":
        return clip(index, 0, n - 1)
    if mode == "reflect":
        k = index % (2 * n)
        return where(k < n, k, 2 * n - 1 - k)
    if n == 1:
        return index * 0
    k = index % (2 * n - 2)
    return where(k < n, k, 2 * n - 2 - k)


def _interpolated(
    image: Any, coordinates: list[Any], order: int, mode: str, cval: Any, prefilter: bool
) -> Any:
    """The image at coordinates, one array for each axis."""
    known = {"reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror"}
    if mode not in known | {"wrap", "grid-wrap"}:
        raise RuntimeError("boundary mode not supported")
    mode = "reflect" if mode == "grid-mirror" else mode
    if order not in range(6):
        raise RuntimeError("spline order not supported")
    given, pad = image, 0
    if prefilter and order > 1:
        if mode in ("nearest", "grid-constant"):
            pad = 12
            image = _surrounded(image, pad, mode, cval)
        image = spline_filter(image, order, mode=mode)
    sizes = tuple(image.shape)
    strides = [math.prod(sizes[k + 1 :]) for k in range(len(sizes))]
    places, weights, beyond = [], [], None
    for x, n in zip(coordinates, sizes, strict=True):
        x = x + pad if pad else x
        if mode == "constant":
            out_of = logical_or(less(x, 0), greater(x, n - 1))
            beyond = out_of if beyond is None else logical_or(beyond, out_of)
            x = where(out_of, 0, x)
        if mode != "nearest" or order < 2:  # a spline has its edge as neighbours outside
            x = _mapped(x, n, mode)
        after = x if order % 2 else x + 0.5  # knots are at elements, or between them
        base = floor(after)
        first = _whole(base) - order // 2
        weights.append(_weights(after - base, order))
        places.append([first + j for j in range(order + 1)])
    flat = concat((reshape(image, (-1,)), array_like(cval) * np.ones(1)), axis=0)
    outside = math.prod(sizes)
    total: Any = 0.0
    for corner in itertools.product(range(order + 1), repeat=len(sizes)):
        weight: Any = 1.0
        place: Any = 0
        missing: Any = False
        for k, j in enumerate(corner):
            index, n = places[k][j], sizes[k]
            weight = weight * weights[k][j]
            if mode == "grid-constant":
                missing = logical_or(missing, logical_or(less(index, 0), index >= n))
                index = clip(index, 0, n - 1)
            else:
                index = _neighbour(index, n, mode)
            place = place + index * strides[k]
        if mode == "grid-constant":
            place = where(missing, outside, place)
        total = total + weight * _taken(flat, place)
    return in_precision_of(total if beyond is None else where(beyond, cval, total), given)


def _whole(x: Any) -> Any:
    """Numbers without a fraction, as integers: constants."""
    return astype(x, np.dtype(np.int64))


def _taken(flat: Any, place: Any) -> Any:
    return reshape(take(flat, reshape(place, (-1,)), axis=0), place.shape)


def _surrounded(image: Any, pad: int, mode: str, cval: Any) -> Any:
    """The image with a border, of its edges or of a constant."""
    for axis, n in enumerate(image.shape):
        places = padded_places(n, pad, pad, "nearest" if mode == "nearest" else "constant")
        if mode == "grid-constant":
            shape = (*image.shape[:axis], 1, *image.shape[axis + 1 :])
            image = concat((image, np.full(shape, float(cval))), axis=axis)
            places = np.where(places < 0, n, places)
        image = take(image, places, axis=axis)
    return image


# --- SciPy's functions ---------------------------------------------------------------------------


@twin(SCIPY.map_coordinates)
def map_coordinates(
    input: Any, coordinates: Any, order: int, mode: str, cval: Any, prefilter: bool
) -> Any:
    """The image at coordinates, by both."""
    image, at = image_of(input), floating(coordinates)
    if at.shape[0] != image.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    parts = [at[k] for k in range(image.ndim)]
    return _interpolated(image, parts, order, mode, cval, prefilter)


def _grid(shape: Any) -> Any:
    return np.indices(tuple(int(n) for n in shape)).astype(float)


@twin(SCIPY.affine_transform)
def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any,
    output_shape: Any,
    order: int,
    mode: str,
    cval: Any,
    prefilter: bool,
) -> Any:
    """The image under an affine map, by the image, the matrix and the offset."""
    image, matrix = image_of(input), floating(matrix)
    n = image.ndim
    if matrix.ndim == 2 and matrix.shape[1] == n + 1:
        offset, matrix = matrix[:n, n], matrix[:n, :n]
    offset = floating(offset)
    shifts = [offset if offset.ndim == 0 else offset[k] for k in range(n)]
    at = _grid(image.shape if output_shape is None else output_shape)
    parts = []
    for k in range(n):
        if matrix.ndim == 1:
            parts.append(at[k] * matrix[k] + shifts[k])
            continue
        x = shifts[k]
        for j in range(len(at)):
            x = x + at[j] * matrix[k, j]
        parts.append(x)
    return _interpolated(image, parts, order, mode, cval, prefilter)


@twin(SCIPY.shift)
def shift(input: Any, shift: Any, order: int, mode: str, cval: Any, prefilter: bool) -> Any:
    """The image moved by a vector, by both."""
    image, by = image_of(input), floating(shift)
    if by.ndim and by.shape != (image.ndim,):
        raise RuntimeError("sequence argument must have length equal to input rank")
    at = _grid(image.shape)
    parts = [at[k] - (by if by.ndim == 0 else by[k]) for k in range(image.ndim)]
    return _interpolated(image, parts, order, mode, cval, prefilter)


@twin(SCIPY.zoom)
def zoom(input: Any, zoom: Any, order: int, mode: str, cval: Any, prefilter: bool) -> Any:
    """The image at another size. The factor is a constant: it decides the shape."""
    image = image_of(input)
    factors = np.broadcast_to(np.asarray(zoom), (image.ndim,))
    shape = [round(n * float(z)) for n, z in zip(image.shape, factors, strict=True)]
    if (factors == 1).all() and prefilter:
        return image * 1.0
    at = _grid(shape)
    steps = [(n - 1) / (m - 1) if m > 1 else 1.0 for n, m in zip(image.shape, shape, strict=True)]
    parts = [at[k] * steps[k] for k in range(image.ndim)]
    return _interpolated(image, parts, order, mode, cval, prefilter)


_SPECIAL = scipy_module("scipy.special")
_cosine = constant("scipy.special.cosdg", "x", kind=Elementwise(), compute=by_scipy(_SPECIAL.cosdg))
_sine = constant("scipy.special.sindg", "x", kind=Elementwise(), compute=by_scipy(_SPECIAL.sindg))


@twin(SCIPY.rotate)
def rotate(
    input: Any, angle: Any, reshape: bool, order: int, mode: str, cval: Any, prefilter: bool
) -> Any:
    """The image turned by an angle in degrees, by both; with `reshape`, the shape is a constant."""
    image = image_of(input)
    if image.ndim != 2:
        raise NotImplementedError("rotate of tensors takes images of two dimensions")
    degrees = floating(angle)
    turn = degrees * (math.pi / 180)
    # SciPy's functions of degrees are exact for right angles.
    c, s = attach(_cosine(degrees), cos(turn)), attach(_sine(degrees), sin(turn))
    size = np.array(image.shape)
    if reshape:
        values = np.unique(np.stack((np.ravel(plain(c)), np.ravel(plain(s)))), axis=1)
        if values.shape[1] > 1:
            raise NotImplementedError("angles of a batch give images of different shapes")
        known = np.array([[values[0, 0], values[1, 0]], [-values[1, 0], values[0, 0]]])
        bounds = known @ [[0, 0, size[0], size[0]], [0, size[1], 0, size[1]]]
        shape = (np.ptp(bounds, axis=1) + 0.5).astype(int)
    else:
        shape = size
    middle, centre = (shape - 1) / 2, (size - 1) / 2
    at = _grid(shape)
    rows = ((c, s), (-s, c))
    parts = []
    for k, (first, second) in enumerate(rows):
        x = centre[k] - (first * middle[0] + second * middle[1])
        parts.append(x + at[0] * first + at[1] * second)
    return _interpolated(image, parts, order, mode, cval, prefilter)
