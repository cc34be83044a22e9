"""Differences, integrals, interpolation, convolution and products, with NumPy's names.

The products of the standard (`matmul`, `tensordot`, …) are in `contractions`.
"""

from __future__ import annotations

import operator
from typing import Any

from ..backends import backend_of
from ..core.array import plain
from ..core.axes import many_axes, one_axis
from ..core.kinds import Contracts
from .contractions import matmul, tensordot
from .define.adoption import as_arrays
from .define.arguments import naming
from .define.library import declare
from .define.op import Own
from .define.signatures import one_array, three_arrays, two_arrays
from .elementwise import (
    conj,
    equal,
    greater,
    is_complex,
    less,
    multiply,
    not_equal,
    remainder,
    where,
)
from .indexing import argsort, take
from .reductions import sum
from .searching import searchsorted
from .shape import _reshape, as_inexact, broadcast_to, concat, expand_dims, flip, ravel

__all__ = [
    "convolve", "correlate", "diff", "dot", "gradient", "inner", "interp", "kron", "trapezoid",
    "vdot",
]  # fmt: skip


def _part(axis: int, *ends: int | None) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, slice(*ends), ...)


# --- differences and integrals -------------------------------------------------------------------


@one_array
def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """The differences between neighbours along an axis, taken `n` times.

    Parameters
    ----------
    x : array
    axis : int
    n : int
        How many times to take differences.
    prepend, append : arrays, optional
        Values to join to the start and the end of `x` first.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 4.0, 9.0], requires_grad=True)
    >>> ag.grad(ag.diff(x)[0], x)
    tensor([-1.,  1.,  0.])
    """
    axis, n = one_axis(axis, x.ndim), operator.index(n)
    if x.ndim == 0:
        raise ValueError("diff needs at least one dimension: x is 0-d")
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    if n == 0:
        return x
    if prepend is not None or append is not None:
        parts = [_line(p, x, axis) for p in (prepend,) if p is not None]
        parts += [x, *(_line(p, x, axis) for p in (append,) if p is not None)]
        x = concat(parts, axis=axis)
    for _ in range(n):
        after, before = x[_part(axis, 1, None)], x[_part(axis, None, -1)]
        booleans = backend_of(x).kind(x.dtype) == "b"
        x = not_equal(after, before) if booleans else after - before
    return x


def _line(value: Any, x: Any, axis: int) -> Any:
    """The array to join to `x` along an axis: a number is repeated along the other axes."""
    if not isinstance(value, int | float | complex):
        _, value = as_arrays(x, value)
    if getattr(value, "ndim", 0):
        return value
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    if hasattr(value, "dtype"):
        return broadcast_to(value, shape)
    return backend_of(x).full(plain(x), shape, value, x.dtype)


@one_array
def trapezoid(y: Any, /, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array
        The values of the integrand.
    x : array, optional
        The coordinates of the values: one-dimensional, or of a shape that broadcasts with `y`.
    dx : number
        The distance between neighbours, if `x` is not given.
    axis : int

    Examples
    --------
    >>> import arraygrad as ag
    >>> y = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.trapezoid(y), y)
    tensor([0.5, 1. , 0.5])
    """
    axis = one_axis(axis, y.ndim)
    step = dx
    if x is not None:
        _, x = as_arrays(y, x)
        if x.ndim == 1:
            step = diff(x)
            step = _reshape(step, shape=(step.shape[0],) + (1,) * (y.ndim - axis - 1))
        else:
            step = diff(x, axis=axis)
    pairs = y[_part(axis, 1, None)] + y[_part(axis, None, -1)]
    return sum(multiply(step, pairs) / 2.0, axis=axis)


@naming("f", "*varargs")
def gradient(f: Any, /, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slopes of sampled values along axes: central differences, and one-sided ones at the ends.

    Parameters
    ----------
    f : array
    *varargs : numbers or arrays
        The distance between samples, or their coordinates: one for all axes, or one for each.
    axis : int or tuple of int, optional
        By default all axes.
    edge_order : 1 or 2
        The order of the differences at the ends.

    Returns
    -------
    array, or a tuple of them for several axes

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.gradient(ag.tensor([1.0, 4.0, 9.0, 16.0]))
    tensor([3., 4., 6., 7.])
    """
    axes = many_axes(axis, f.ndim)
    axes = tuple(range(f.ndim)) if axes is None else axes
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(f"varargs must be none, one or {len(axes)} spacings, got {len(varargs)}")
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order must be 1 or 2, got {edge_order}")
    spacings = varargs or (1.0,)
    spacings = spacings * len(axes) if len(spacings) == 1 else spacings
    f = as_inexact(f)
    slopes = tuple(_slope(f, a, h, edge_order) for a, h in zip(axes, spacings, strict=True))
    return slopes[0] if len(slopes) == 1 else slopes


def _slope(f: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    n = f.shape[axis]
    if n < edge_order + 1:
        raise ValueError(f"axis {axis} needs at least {edge_order + 1} elements, it has {n}")
    if getattr(spacing, "ndim", 0) or isinstance(spacing, list | tuple):
        _, places = as_arrays(f, spacing)
        if places.shape != (n,):
            raise ValueError(f"coordinates for axis {axis} must have length {n}")
        steps = diff(places)
        steps = _reshape(steps, shape=(n - 1,) + (1,) * (f.ndim - axis - 1))
        a, b = (steps[:-1], steps[1:])
        first, last = (steps[:1], steps[1:2]), (steps[-1:], steps[-2:-1])
    else:
        a = b = spacing
        first = last = (spacing, spacing)

    def at(start: int | None, stop: int | None) -> Any:
        return f[_part(axis, start, stop)]

    if a is b:
        inner = (at(2, None) - at(None, -2)) / (2 * a)
    else:  # the derivative, in the middle, of the parabola through three neighbours
        inner = (at(2, None) * a * a + at(1, -1) * (b * b - a * a) - at(None, -2) * b * b) / (
            a * b * (a + b)
        )
    if edge_order == 1:
        left = (at(1, 2) - at(0, 1)) / first[0]
        right = (at(-1, None) - at(-2, -1)) / last[0]
    else:
        left = _one_sided(at(0, 1), at(1, 2), at(2, 3), *first)
        right = -_one_sided(at(-1, None), at(-2, -1), at(-3, -2), *last)
    return concat((left, inner, right), axis=axis)


def _one_sided(f0: Any, f1: Any, f2: Any, a: Any, b: Any) -> Any:
    """The slope at the first of three points that are `a` and `b` apart."""
    return (-f0 * (2 * a + b) * b + f1 * (a + b) * (a + b) - f2 * a * a) / (a * b * (a + b))


# --- interpolation -------------------------------------------------------------------------------


@three_arrays
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Linear interpolation between points, differentiable in all three arrays.

    At a point, the slope is that to its right; at the last point, that to its left.

    Parameters
    ----------
    x : array or number
        The coordinates at which to interpolate.
    xp, fp : arrays
        The coordinates and values of the points, one-dimensional. `xp` must be in ascending order
        unless `period` is given.
    left, right : numbers, optional
        The values outside the points; by default, those of the first and the last point.
    period : number, optional
        The period of `x` and `xp`, for a periodic function.

    Examples
    --------
    >>> import arraygrad as ag
    >>> y = ag.tensor([0.0, 10.0, 30.0], requires_grad=True)
    >>> ag.grad(ag.interp(ag.tensor(1.25), ag.tensor([0.0, 1.0, 2.0]), y), y)
    tensor([0.  , 0.75, 0.25])
    """
    x, xp, fp = as_arrays(x, xp, fp)
    if xp.ndim != 1 or fp.ndim != 1 or xp.shape != fp.shape or not xp.shape[0]:
        raise ValueError(
            f"xp and fp must be one-dimensional, of one length and not empty, got {xp.shape} and "
            f"{fp.shape}"
        )
    if period is not None:
        if period == 0:
            raise ValueError("period must not be zero")
        period = abs(period)
        x, xp = remainder(x, period), remainder(xp, period)
        order = argsort(xp)
        xp, fp = take(xp, order, axis=0), take(fp, order, axis=0)
        xp = concat((xp[-1:] - period, xp, xp[:1] + period))
        fp = concat((fp[-1:], fp, fp[:1]))
        left = right = None
    n = xp.shape[0]
    if n == 1:
        inside = fp[0] + 0.0 * x
    else:
        below = searchsorted(xp[1:-1], x, side="right")
        x0, x1 = take(xp, below, axis=0), take(xp, below + 1, axis=0)
        f0, f1 = take(fp, below, axis=0), take(fp, below + 1, axis=0)
        width = x1 - x0
        flat = equal(width, 0)
        inside = f0 + (f1 - f0) * ((x - x0) / where(flat, 1, width))
    inside = where(less(x, xp[0]), fp[0] if left is None else left, inside)
    return where(greater(x, xp[n - 1]), fp[n - 1] if right is None else right, inside)


# --- convolution ---------------------------------------------------------------------------------


def _windows_product(x: Any, y: Any) -> Any:
    """The full convolution along the last axis, by windows of `x`; leading axes broadcast."""
    m = y.shape[-1]
    zeros = backend_of(x).full(plain(x), (*x.shape[:-1], m - 1), 0, x.dtype)
    return _windows_within(concat((zeros, x, zeros), axis=-1), y)


def _windows_within(x: Any, y: Any) -> Any:
    """The part of the convolution where `y` is within `x`, along the last axis."""
    m = y.shape[-1]
    count = x.shape[-1] - m + 1
    places = [i + j for i in range(count) for j in range(m)]
    windows = take(x, backend_of(x).integers(plain(x), places), axis=-1)
    windows = _reshape(windows, shape=(*x.shape[:-1], count, m))
    out = matmul(windows, expand_dims(flip(y, axis=-1), axis=-1))
    return _reshape(out, shape=out.shape[:-1])


_convolve = declare(
    "convolve",
    "x",
    "y",
    compute=lambda xp, x, y: _windows_product(x, y),
    vjp_x=lambda g, y: _convolve_within(g, flip(y, axis=0)),
    vjp_y=lambda g, x: _convolve_within(g, flip(x, axis=0)),
    kind=Contracts(),
    own=Own(batch=lambda op, arrays, batched, params: _windows_product(*arrays)),
)

# The part where `y`, which is not longer, is within `x`.
_convolve_within = declare(
    "convolve_within",
    "x",
    "y",
    compute=lambda xp, x, y: _windows_within(x, y),
    vjp_x=lambda g, y: _convolve(g, flip(y, axis=0)),
    vjp_y=lambda g, x: flip(_convolve_within(x, flip(g, axis=0)), axis=0),
    kind=Contracts(),
    own=Own(batch=lambda op, arrays, batched, params: _windows_within(*arrays)),
)


@two_arrays
def convolve(a: Any, v: Any, /, mode: str = "full") -> Any:
    """The convolution of two one-dimensional arrays.

    Parameters
    ----------
    a, v : arrays
    mode : "full", "same" or "valid"
        "full": the whole convolution. "same": the middle part, as long as the longer array.
        "valid": the part where both arrays overlap completely.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ag.convolve(x, ag.tensor([0.0, 1.0, 0.5])).detach()
    tensor([0. , 1. , 2.5, 4. , 1.5])
    """
    a, v = as_arrays(a, v)
    for name, x in (("a", a), ("v", v)):
        if x.ndim > 1 or 0 in x.shape:
            raise ValueError(f"{name} must be one-dimensional and not empty, got shape {x.shape}")
    a, v = (_reshape(x, shape=(1,)) if x.ndim == 0 else x for x in (a, v))
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    n, m = a.shape[0], v.shape[0]
    if mode == "full":
        return _convolve(a, v)
    if mode == "same":
        start = (m - 1) // 2
        return _convolve(a, v)[start : start + n]
    if mode == "valid":
        return _convolve_within(a, v)
    raise ValueError(f"mode must be 'full', 'same' or 'valid', not {mode!r}")


@two_arrays
def correlate(a: Any, v: Any, /, mode: str = "valid") -> Any:
    """The sum of ``a[n + k] * conj(v[n])`` for each shift `k`; modes as in `convolve`.

    >>> ag.correlate(ag.tensor([1.0, 2.0, 3.0]), ag.tensor([0.0, 1.0]))
    tensor([2., 3.])
    """
    a, v = as_arrays(a, v)
    if v.ndim == 1 and a.ndim == 1 and v.shape[0] > a.shape[0] and mode == "same":
        start = a.shape[0] // 2
        full = convolve(a, conj(flip(v)))
        return full[start : start + v.shape[0]]
    return convolve(a, conj(flip(v)) if v.ndim else conj(v), mode)


# --- products ------------------------------------------------------------------------------------


@two_arrays
def dot(a: Any, b: Any, /) -> Any:
    """NumPy's product of numbers, vectors and matrices.

    With more axes, it sums over the last axis of `a` and the second last axis of `b`.

    >>> ag.dot(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor(11.)
    """
    if isinstance(a, int | float | complex) or isinstance(b, int | float | complex):
        return multiply(a, b)
    m, n = a.ndim, b.ndim
    if not m or not n:
        return multiply(a, b)
    if n <= 2 and m <= 2:
        return matmul(a, b)
    return tensordot(a, b, axes=((m - 1,), (max(n - 2, 0),)))


@two_arrays
def inner(a: Any, b: Any, /) -> Any:
    """The sum of products over the last axes of both arrays.

    >>> ag.inner(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    if isinstance(a, int | float | complex) or isinstance(b, int | float | complex):
        return multiply(a, b)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    return tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


@two_arrays
def vdot(a: Any, b: Any, /) -> Any:
    """The sum of the products of all elements; the first array is conjugated.

    >>> ag.vdot(ag.tensor([1j, 2.0]), ag.tensor([1j, 2.0]))
    tensor(5.+0.j)
    """
    return matmul(ravel(conj(a) if is_complex(a) else a), ravel(b))


@two_arrays
def kron(a: Any, b: Any, /) -> Any:
    """The Kronecker product: each element of `a` times the whole array `b`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.kron(ag.tensor([1.0, 10.0]), ag.tensor([1.0, 2.0]))
    tensor([ 1.,  2., 10., 20.])
    """
    a, b = as_arrays(a, b)
    ndim = max(a.ndim, b.ndim)
    outer = (1,) * (ndim - a.ndim) + tuple(a.shape)
    inner_ = (1,) * (ndim - b.ndim) + tuple(b.shape)
    left = _reshape(a, shape=tuple(n for size in outer for n in (size, 1)))
    right = _reshape(b, shape=tuple(n for size in inner_ for n in (1, size)))
    return _reshape(left * right, shape=tuple(n * m for n, m in zip(outer, inner_, strict=True)))
