"""Special functions of NumPy arrays, in few passes, all over one array.

The caller may give this array as `out`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..base import Kernel, is_short_float
from .reductions import max_, mean


def _in_floats(kernel: Kernel) -> Kernel:
    """A kernel for any numbers: integers become float64, and short floats compute in float32."""

    @functools.wraps(kernel)
    def computed(x: Any, *others: Any, **params: Any) -> Any:
        x = np.asarray(x)
        char = x.dtype.char
        if char in "fdFD":
            return kernel(x, *others, **params)
        if char == "e" or is_short_float(x.dtype):
            return kernel(x.astype(np.float32), *others, **params).astype(x.dtype)
        return kernel(x if x.dtype.kind in "fc" else x.astype(np.float64), *others, **params)

    return computed


@_in_floats
def expit(x: Any, out: Any = None) -> Any:
    """The logistic sigmoid."""
    with np.errstate(over="ignore"):  # infinity has the reciprocal zero, which is correct
        out = np.asarray(np.negative(x, out=out))
        np.exp(out, out=out)
        out += 1
        return np.reciprocal(out, out=out)


@_in_floats
def silu(x: Any, out: Any = None) -> Any:
    """Each element times its logistic sigmoid."""
    out = expit(x, out=out)
    out *= x
    return out


def _log1p_exp_minus_abs(x: Any, out: Any) -> Any:
    if x.dtype.kind == "c":
        raise TypeError(f"softplus and log_expit take real numbers, but x has dtype {x.dtype}")
    out = np.asarray(np.abs(x, out=out))
    np.negative(out, out=out)
    np.exp(out, out=out)
    return np.log1p(out, out=out)


@_in_floats
def softplus(x: Any, out: Any = None) -> Any:
    """The logarithm of one plus the exponential."""
    out = _log1p_exp_minus_abs(x, out)
    out += np.maximum(x, 0)
    return out


@_in_floats
def log_expit(x: Any, out: Any = None) -> Any:
    """The logarithm of the logistic sigmoid."""
    out = _log1p_exp_minus_abs(x, out)
    return np.subtract(np.minimum(x, 0), out, out=out)


def _top(x: Any, axis: Any) -> Any:
    if x.size:
        return max_(x, axis, True)
    return np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)


@_in_floats
def softmax_at(x: Any, shift: Any, axis: Any, out: Any = None) -> Any:
    """The softmax, from `x - shift`."""
    with np.errstate(invalid="ignore"):  # for lines that are all -inf
        out = np.asarray(np.subtract(x, shift, out=out))
        np.exp(out, out=out)
        out /= np.add.reduce(out, axis=axis, keepdims=True)
        return out


def _exponentials(x: Any, axis: Any, out: Any = None) -> tuple[Any, Any]:
    """The exponentials and their sums. The sums are None if a shift is needed: rarely."""
    if x.dtype.kind != "f" or not x.size:
        return out, None
    with np.errstate(over="ignore", under="ignore"):
        out = np.asarray(np.exp(x, out=out))
        total = np.add.reduce(out, axis=axis, keepdims=True)
    if np.minimum.reduce(total, axis=None) > 1e-4 and np.maximum.reduce(total, axis=None) < 1e30:
        return out, total
    return out, None


@_in_floats
def softmax(x: Any, axis: Any, out: Any = None) -> Any:
    """Exponentials divided by their sum."""
    out, total = _exponentials(x, axis, out)
    if total is None:
        return softmax_at(x, _top(x, axis), axis, out)
    out /= total
    return out


def softmax_tangent(v: Any, y: Any, axis: Any, out: Any = None) -> Any:
    """The derivative of the softmax `y` along `v`."""
    if axis == (max(v.ndim, y.ndim) - 1,) and v.dtype.kind != "c":  # vecdot conjugates
        dot = np.vecdot(v, y)[..., None]  # a product and its sum in one pass
    else:
        dot = np.add.reduce(v * y, axis=axis, keepdims=True)
    out = np.asarray(np.subtract(v, dot, out=out))
    out *= y
    return out


@_in_floats
def log_softmax(x: Any, axis: Any, out: Any = None) -> Any:
    """The logarithm of the softmax."""
    with np.errstate(divide="ignore", invalid="ignore"):  # for lines that are all -inf
        out = np.asarray(np.subtract(x, _top(x, axis), out=out))
        out -= np.log(np.add.reduce(np.exp(out), axis=axis, keepdims=True))
        return out


def log_softmax_pullback(g: Any, y: Any, axis: Any, out: Any = None) -> Any:
    """The cotangent of the argument of the log-softmax `y`, from that of `y`."""
    if g.ndim != y.ndim:  # one is a batch, which `axis` is for
        g, y = np.broadcast_arrays(g, y)
    return np.subtract(g, np.exp(y) * np.add.reduce(g, axis=axis, keepdims=True), out=out)


def _scale(centred: Any, axis: Any, eps: float) -> Any:
    if axis == (centred.ndim - 1,) and centred.dtype.kind != "c":  # vecdot conjugates
        total = np.vecdot(centred, centred)[..., None]
    else:
        total = np.add.reduce(centred * centred, axis=axis, keepdims=True)
    return np.sqrt(total / (centred.size // max(total.size, 1)) + eps)


@_in_floats
def standardize(x: Any, axis: Any, eps: float, out: Any = None) -> Any:
    """Lines with mean zero and variance one."""
    out = np.asarray(np.subtract(x, mean(x, axis, True), out=out))
    out /= _scale(out, axis, eps)
    return out


def standardize_pullback(v: Any, x: Any, axis: Any, eps: float, out: Any = None) -> Any:
    """The cotangent of the argument `x` of `standardize`, from that of its result."""
    if v.ndim != x.ndim:  # one is a batch, which `axis` is for
        v, x = np.broadcast_arrays(v, x)
    y = x - mean(x, axis, True)
    scale = _scale(y, axis, eps)
    y /= scale
    y *= mean(v * y, axis, True)
    y += mean(v, axis, True)
    out = np.asarray(np.subtract(v, y, out=out))
    out /= scale
    return out


@_in_floats
def logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    """The logarithm of the sum of exponentials."""
    out = None
    if x.size >= 1024:  # for few numbers, it is as fast to shift them at once
        out, total = _exponentials(x, axis)
        if total is not None:
            total = np.log(total)
            return total if keepdims else total.squeeze(axis)
    # A real shift does not change the imaginary part of the logarithm, which stays within ±π.
    top = _top(x.real if x.dtype.kind == "c" else x, axis)
    shift = np.where(np.isfinite(top), top, 0)  # infinities cannot be subtracted
    out = np.asarray(np.subtract(x, shift, out=out))
    np.exp(out, out=out)
    total = np.add.reduce(out, axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):  # for lines that are all -inf
        total = np.log(total) + shift
    return total if keepdims else total.squeeze(axis)


def times_log(log: Any) -> Kernel:
    """The function `x log(y)`, which is zero where `x` is, for a logarithm."""

    def product(x: Any, y: Any) -> Any:
        silent = np.equal(x, 0)
        if not silent.any():
            return x * log(y)
        silent = silent & np.equal(y, y)
        return np.where(silent, 0, x * log(np.where(silent, 1, y)))

    return product
