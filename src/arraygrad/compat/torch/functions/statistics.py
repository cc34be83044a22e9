"""Integrals of samples, covariances, counts and histograms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops
from ....arrays.creation import asarray
from ....core.array import Array
from ....ops.define.library import constant
from ..publish import as_promoted, floating, function
from .axes import checked, values_of
from .factors import refuse_recorded
from .results import named

# The names of `torch` that are made here.
__all__ = [
    "bincount", "bucketize", "corrcoef", "cov", "cumulative_trapezoid", "frexp", "gcd", "gradient",
    "histc", "histogram", "histogramdd", "lcm", "searchsorted", "trapezoid", "trapz",
]  # fmt: skip

# --- integrals and slopes ---


@function(method=False)
def trapezoid(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    """The integral by the rule of trapezia."""
    return ops.sum(_trapezia(y, x, dx, dim), axis=checked(dim, y.ndim))


trapz = trapezoid


@function(method=False)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    """The integrals up to each sample, by the rule of trapezia."""
    return ops.cumulative_sum(_trapezia(y, x, dx, dim), axis=checked(dim, y.ndim))


def _trapezia(y: Any, x: Any, dx: Any, dim: int) -> Any:
    """The areas between neighbouring samples."""
    if not y.ndim:
        raise RuntimeError("trapezoid(): y must have an axis")
    axis = checked(dim, y.ndim)
    before = (slice(None),) * axis
    y = floating(y)
    if x is not None:
        x = floating(x)
        if x.ndim == 1:
            x = ops.reshape(x, (-1, *(1,) * (y.ndim - axis - 1)))
        dx = ops.diff(x, axis=axis - y.ndim)
    return (y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]) * dx / 2


@function(method=False)
def gradient(input: Any, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> Any:
    """The slopes of samples along axes: central differences, and one-sided ones at the ends."""
    axes = range(input.ndim) if dim is None else dim
    axes = [checked(a, input.ndim) for a in ((axes,) if isinstance(axes, int) else axes)]
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"gradient(): an axis appears multiple times in the list of dims {dim}")
    steps = [1.0 if spacing is None else spacing] * len(axes)
    if isinstance(spacing, tuple | list):
        if len(spacing) != len(axes):
            raise RuntimeError(
                f"gradient(): spacing has {len(spacing)} entries for {len(axes)} axes: pass one "
                "number, or one entry for each axis"
            )
        steps = list(spacing)
    steps = [floating(s) if isinstance(s, Array) else s for s in steps]
    x = floating(input)
    return tuple(
        ops.gradient(x, step, axis=axis, edge_order=edge_order)
        for axis, step in zip(axes, steps, strict=True)
    )


# --- covariances ---


@function
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariances of the rows; of observations that occur `fweights` times, and weigh."""
    if fweights is not None and fweights.dtype.kind not in "biu":
        raise RuntimeError(
            f"cov(): expected fweights to have integral dtype but got {fweights.dtype}"
        )
    x = floating(input)
    found = np.cov(x, ddof=correction, fweights=fweights, aweights=aweights, dtype=x.dtype)
    return ops.astype(found, x.dtype)


@function
def corrcoef(input: Any) -> Any:
    """The correlations of the rows."""
    x = floating(input)
    return np.corrcoef(x, dtype=x.dtype)


# --- counts ---


@function
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each integer occurs."""
    if weights is not None and weights.dtype != np.float32:
        weights = ops.astype(weights, np.float64)
    return ops.bincount(input, weights, minlength)


@function(method=False)
def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """Where elements would be inserted to keep the order along the last axis."""
    if side is not None and right and side != "right":
        raise RuntimeError(f"searchsorted(): side is {side!r}, but right is True")
    wanted = np.int32 if out_int32 else np.int64
    side = side or ("right" if right else "left")
    found = _searched(sorted_sequence, input, side, sorter)
    return ops.astype(found, wanted)


def _searched(lines: Any, values: Any, side: str, sorter: Any) -> Any:
    if sorter is not None:
        lines = ops.take_along_axis(lines, sorter, axis=-1)
    values = values if isinstance(values, Array) else asarray(np.asarray(values, lines.dtype))
    if lines.ndim == 1:
        return ops.searchsorted(lines.detach(), values.detach(), side=side)
    if lines.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "searchsorted(): sorted_sequence and input must have equal axes but for the last, not "
            f"shapes {tuple(lines.shape)}, {tuple(values.shape)}"
        )
    smaller = ops.less if side == "left" else ops.less_equal
    below = smaller(ops.expand_dims(lines, -2), ops.expand_dims(values, -1))
    return ops.sum(ops.astype(below, np.int64), axis=-1)


@function(method=False)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Which bucket each element falls into."""
    found = _searched(boundaries, input, "right" if right else "left", None)
    return ops.astype(found, np.int32 if out_int32 else np.int64)


def _span(values: Any, low: float, high: float, margin: float) -> tuple[float, float]:
    """The range of a histogram: that of the values, if none is given; never of no length."""
    if low == high == 0 and values.size:
        low, high = float(values.min()), float(values.max())
    if low > high or not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"the range of a histogram must be finite and in order: {low}, {high}")
    return (low - margin, high + margin) if low == high else (low, high)


@function
def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements lie in each of some equal bins; the last one has its upper edge, too."""
    values = np.reshape(values_of(input, "histc"), (-1,))
    low, high = _span(values, min, max, 1)
    counts, _ = np.histogram(values, bins, (low, high))
    return asarray(counts.astype(input.dtype))


_Histogram = named("histogram", "hist", "bin_edges")
_Histogramdd = named("histogramdd", "hist", "bin_edges")


@function
def histogram(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many elements, or what weight of them, lies in each bin; and the edges of the bins.

    As in PyTorch, it has no derivative.
    """
    refuse_recorded("histogram", [input, weight, bins])
    values = np.reshape(values_of(input, "histogram"), (-1, 1))
    found, edges = _histogram(values, [bins], range, weight, density, input.dtype)
    return _Histogram(found, edges[0])


@function(method=False)
def histogramdd(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many points, or what weight of them, lies in each box; and the edges of the boxes.

    As in PyTorch, it has no derivative.
    """
    refuse_recorded("histogramdd", [input, weight, bins])
    size = input.shape[-1]
    values = np.reshape(values_of(input, "histogramdd"), (-1, size))
    bins = [bins] * size if isinstance(bins, int) else list(bins)
    return _Histogramdd(*_histogram(values, bins, range, weight, density, input.dtype))


def _histogram(
    values: Any, bins: list[Any], range_: Any, weight: Any, density: bool, dtype: Any
) -> tuple[Any, tuple[Any, ...]]:
    edges = []
    for axis, own in enumerate(bins):
        if isinstance(own, Array):
            edges.append(values_of(own, "histogram"))
            continue
        low, high = (0, 0) if range_ is None else tuple(range_)[2 * axis : 2 * axis + 2]
        low, high = _span(values[:, axis], low, high, 0.5)
        edges.append(np.linspace(low, high, own + 1).astype(dtype))
    weights = None if weight is None else np.reshape(values_of(weight, "histogram"), (-1,))
    counts, _ = np.histogramdd(values, edges, density=density, weights=weights)
    return asarray(counts.astype(dtype)), tuple(map(asarray, edges))


# --- integers, and the parts of numbers ---

_exponent = constant("torch.exponent", "x", compute=lambda xp, x: np.frexp(x)[1])
_power_of_two = constant(
    "torch.power_of_two", "x", "n", compute=lambda xp, x, n: np.ldexp(np.ones_like(x), n)
)
gcd = function(lambda input, other: np.gcd(*_integers(input, other)), name="gcd", in_place=True)
lcm = function(
    lambda input, other: ops.abs(np.lcm(*_integers(input, other))), name="lcm", in_place=True
)


def _integers(x: Any, y: Any) -> tuple[Any, Any]:
    for value in (x, y):
        if value.dtype.kind not in "iu":
            raise RuntimeError(f"this is a function of integers, not of {value.dtype}")
    return as_promoted(x, y)


_Frexp = named("frexp", "mantissa", "exponent")


@function
def frexp(input: Any) -> Any:
    """A number of size in [0.5, 1), and the power of two that it is to be multiplied by."""
    if input.dtype.kind != "f":
        raise RuntimeError(f"frexp() is for floating-point numbers, not {input.dtype}")
    exponent = _exponent(input)
    half = exponent // 2  # in two steps, as one power of two could overflow
    mantissa = input * _power_of_two(input, -half) * _power_of_two(input, half - exponent)
    return _Frexp(mantissa, ops.astype(exponent, np.int32))
