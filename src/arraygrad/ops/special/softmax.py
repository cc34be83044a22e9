"""Softmax, its logarithm, and the logarithm of a sum of exponentials."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

from ...backends import backend_of
from ...core.axes import kept, many_axes
from ...core.kinds import AlongAxis, Reduces
from ..define.arguments import naming
from ..define.library import binary, constant, declare
from ..define.signatures import A, Axis
from ..elementwise import equal, exp, is_complex, log, multiply, real, where
from ..reductions import _sum, library_reduction
from ..shape import _reshape, broadcast_shapes, broadcast_to
from .libraries import both_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["log_softmax", "logsumexp", "softmax"]

Axes = tuple[int, ...]


def _peak_of(xp: Any, x: Any, axis: Axes) -> Any:
    """The maximum with axes kept; zero where it is not finite, because subtracting it gives NaN."""
    if 0 in x.shape:
        return xp.zeros(kept(x.shape, axis), dtype=x.dtype, device=backend_of(x).device(x))
    top = xp.max(x, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))


def _softmax_at(xp: Any, x: Any, shift: Any, axis: Axes) -> Any:
    """The softmax, computed from `x - shift`. The result does not depend on `shift`."""
    powers = xp.exp(x - shift)
    return powers / xp.sum(powers, axis=axis, keepdims=True)


def _log_softmax_of(xp: Any, x: Any, axis: Axes) -> Any:
    x = x - _peak_of(xp, x, axis)
    return x - xp.log(xp.sum(xp.exp(x), axis=axis, keepdims=True))


def _logsumexp_of(xp: Any, x: Any, axis: Axes, keepdims: bool) -> Any:
    # A real shift does not change the imaginary part of the logarithm, which stays within ±π.
    shift = _peak_of(xp, xp.real(x) if is_complex(x) else x, axis)
    total = xp.log(xp.sum(xp.exp(x - shift), axis=axis, keepdims=True)) + shift
    return total if keepdims else xp.squeeze(total, axis=axis)


def _left(shape: tuple[int, ...], axis: Axes) -> tuple[int, ...]:
    """The shape without the axes of a reduction."""
    return tuple(n for i, n in enumerate(shape) if i not in axis)


def _axes(axis: Any, ndim: int) -> Axes:
    """The user's argument `axis` as a tuple."""
    found = many_axes(axis, ndim, numbers=True)
    return tuple(range(ndim)) if found is None else found


def _dot(x: Any, y: Any, axis: Axes) -> Any:
    return _sum(x * y, axis=axis, keepdims=True)


_softmax_tangent = declare(
    "softmax_tangent",
    "v",
    "y",
    compute=lambda xp, v, y, axis: y * (v - xp.sum(v * y, axis=axis, keepdims=True)),
    vjp_v=lambda g, y, axis: _softmax_tangent(g, y, axis=axis),
    vjp_y=lambda g, v, y, axis: g * (v - _dot(v, y, axis)) - v * _dot(g, y, axis),
    jvp=lambda t_v, t_y, v, y, axis: (
        _softmax_tangent(t_v, y, axis=axis) + t_y * (v - _dot(v, y, axis)) - y * _dot(v, t_y, axis)
    ),
    kind=AlongAxis(),
)
_softmax = declare(
    "softmax",
    "x",
    compute=lambda xp, x, axis: _softmax_at(xp, x, xp.max(x, axis=axis, keepdims=True), axis),
    vjp=lambda g, out, axis: _softmax_tangent(g, out, axis=axis),
    kind=AlongAxis(symmetric=True),
)
# For the gradient of `logsumexp`: its result is at hand, and is as good a shift as the maximum.
_shifted_softmax = declare(
    "shifted_softmax",
    "x",
    "shift",
    compute=_softmax_at,
    vjp_x=lambda g, out, axis: _softmax_tangent(g, out, axis=axis),
    kind=AlongAxis(symmetric=True),
)


def _log_softmax_pullback_of(xp: Any, v: Any, y: Any, axis: Axes) -> Any:
    if v.ndim != y.ndim:  # one is a batch, which `axis` is for
        v, y = xp.broadcast_arrays(v, y)
    return v - xp.exp(y) * xp.sum(v, axis=axis, keepdims=True)


# For the gradient of `log_softmax`, whose result is y.
_log_softmax_pullback = declare(
    "log_softmax_pullback",
    "v",
    "y",
    compute=_log_softmax_pullback_of,
    vjp_v=lambda g, y, axis: g - _dot(g, exp(y), axis),
    vjp_y=lambda g, v, y, axis: -g * multiply(exp(y), _sum(v, axis=axis, keepdims=True)),
    jvp=lambda t_v, t_y, v, y, axis: (
        _log_softmax_pullback(t_v, y, axis=axis)
        - t_y * multiply(exp(y), _sum(v, axis=axis, keepdims=True))
    ),
    kind=AlongAxis(),
)
_log_softmax = declare(
    "log_softmax",
    "x",
    compute=_log_softmax_of,
    vjp=lambda g, out, axis: _log_softmax_pullback(g, out, axis=axis),
    jvp=lambda t, out, axis: t - _sum(exp(out) * t, axis=axis, keepdims=True),
    kind=AlongAxis(),
)


def _weights(x: Any, out: Any, axis: Axes, keepdims: bool) -> Any:
    # Do not use `exp(x - out)`: for large x, `out` is rounded, and the sum would not be one.
    shift = out if keepdims else _reshape(out, shape=kept(x.shape, axis))
    return _shifted_softmax(x, shift, axis=axis)


_logsumexp = library_reduction("logsumexp", d=_weights, compute=_logsumexp_of)
_peak = constant("peak", "x", kind=Reduces(), compute=_peak_of)


def _weighted(xp: Any, x: Any, y: Any) -> Any:
    x, y = both_arrays(xp, x, y)
    out = x * xp.exp(xp.where(x == 0, xp.zeros_like(y), y))
    return xp.where(x == 0, xp.zeros_like(out), out)


# `x * exp(y)`, and zero wherever `x` is zero, even if the exponential overflows.
_weighted_exp = binary(
    "weighted_exp",
    vjp_x=lambda g, y: g * exp(y),
    vjp_y=lambda g, out: g * out,
    compute=_weighted,
)


@overload
def softmax(x: NDArray[Any], axis: Axis = None) -> NDArray[Any]: ...
@overload
def softmax(x: A, axis: Axis = None) -> A: ...
@naming("x")
def softmax(x: Any, axis: Axis = None) -> Any:
    """Exponentials divided by their sum, over all axes or some.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.special.softmax(ag.tensor([1000.0, 1000.0, -1000.0]))
    tensor([0.5, 0.5, 0. ])
    """
    return _softmax(x, axis=_axes(axis, x.ndim))


@overload
def log_softmax(x: NDArray[Any], axis: Axis = None) -> NDArray[Any]: ...
@overload
def log_softmax(x: A, axis: Axis = None) -> A: ...
@naming("x")
def log_softmax(x: Any, axis: Axis = None) -> Any:
    """The logarithm of `softmax`, accurate even if `softmax` underflows.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1000.0, 0.0], requires_grad=True)
    >>> y = ag.special.log_softmax(x)
    >>> y.detach()
    tensor([    0., -1000.])
    >>> ag.grad(y[1], x)
    tensor([-1.,  1.])
    """
    return _log_softmax(x, axis=_axes(axis, x.ndim))


@overload
def logsumexp(
    a: NDArray[Any], axis: Axis = None, b: Any = None, keepdims: bool = False
) -> NDArray[Any]: ...
@overload
def logsumexp(a: A, axis: Axis = None, b: Any = None, keepdims: bool = False) -> A: ...
@naming("a")
def logsumexp(a: Any, axis: Axis = None, b: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of a sum of exponentials, without overflow.

    For complex numbers, it is the principal value: its imaginary part is from -π to π.

    Parameters
    ----------
    a : array
    axis : None, int or tuple of ints
        The axes to sum over; by default all axes.
    b : array, optional
        Factors of the exponentials. Where one is zero, `a` does not matter.
    keepdims : bool
        Whether to keep the summed axes at length one.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1000.0, 1000.0], requires_grad=True)
    >>> y = ag.special.logsumexp(x)
    >>> y.item() - 1000  # log(2)
    0.693147180559...
    >>> ag.grad(y, x)
    tensor([0.5, 0.5])
    """
    if b is None:
        return _logsumexp(a, axis=_axes(axis, a.ndim), keepdims=keepdims)
    a = broadcast_to(a, broadcast_shapes(a.shape, getattr(b, "shape", ())))
    axes = _axes(axis, a.ndim)
    shift = _peak(where(equal(b, 0), -math.inf, real(a) if is_complex(a) else a), axis=axes)
    total = log(_sum(_weighted_exp(b, a - shift), axis=axes, keepdims=True)) + shift
    return total if keepdims else _reshape(total, shape=_left(a.shape, axes))
