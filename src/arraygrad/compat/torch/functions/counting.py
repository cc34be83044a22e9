"""Histograms, combinations, integers, and other functions that few programs use."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .... import ops
from ....arrays.creation import asarray
from ....core.array import Array, plain
from ..publish import elementwise_binary, function
from .axes import checked
from .results import named


def _integers(function: Any, name: str) -> Any:
    """A function of integers, which has no derivative."""

    def computed(x: Any, y: Any) -> Any:
        if any(isinstance(v, Array) and v.dtype.kind not in "iu" for v in (x, y)):
            raise RuntimeError(f"{name}() is for integers")
        return asarray(function(*(np.asarray(plain(v)) for v in (x, y))))

    return elementwise_binary(computed, name)


gcd, lcm = _integers(np.gcd, "gcd"), _integers(np.lcm, "lcm")
_Frexp = named("frexp", "mantissa", "exponent")
_Histogram = named("histogram", "hist", "bin_edges")


@function
def frexp(input: Any) -> Any:
    """The mantissa and the exponent of each element: `input = mantissa * 2**exponent`."""
    exponent = np.frexp(np.asarray(plain(input)))[1].astype(np.int32)
    scale = np.ldexp(np.ones_like(exponent, input.dtype), -exponent)
    return _Frexp(input * scale, asarray(exponent))


@function
def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements fall into each of some bins of one width."""
    values = np.reshape(np.asarray(plain(input)), (-1,))
    low, high = _range(values, (min, max) if (min, max) != (0, 0) else None)
    return asarray(np.histogram(values, bins, (low, high))[0].astype(input.dtype))


def _range(values: Any, wanted: Any) -> tuple[float, float]:
    if wanted is not None:
        return wanted  # type: ignore[no-any-return]
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    return (low - 0.5, high + 0.5) if low == high else (low, high)


@function
def histogram(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many elements, or how much weight, fall into each bin, and the edges of the bins."""
    values = np.reshape(np.asarray(plain(input)), (-1,))
    edges = np.asarray(plain(bins)) if isinstance(bins, Array) else bins
    limits = None if isinstance(bins, Array) else _range(values, range)
    weights = None if weight is None else np.reshape(np.asarray(plain(weight)), (-1,))
    found, places = np.histogram(values, edges, limits, density, weights)
    return _Histogram(asarray(found.astype(input.dtype)), asarray(places.astype(input.dtype)))


@function(method=False)
def cartesian_prod(*tensors: Any) -> Any:
    """All combinations of elements of several vectors, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    grids = ops.meshgrid(*tensors, indexing="ij")
    return ops.stack([ops.reshape(g, (-1,)) for g in grids], axis=1)


@function(method=False)
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All combinations of `r` elements of a vector, as rows."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.asarray(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r)
    return input[places]


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The index along each axis of places in a flattened tensor."""
    from ..handles import wrap

    found = np.unravel_index(indices.numpy(), tuple(shape))
    return tuple(wrap(asarray(np.asarray(part))) for part in found)


@function
def corrcoef(input: Any) -> Any:
    """The correlations of the rows."""
    covariance = ops.cov(input)
    if not covariance.ndim:
        return covariance / covariance
    spread = ops.sqrt(ops.diagonal(covariance, 0, 0, 1))
    return covariance / spread[:, None] / spread[None, :]


@function(method=False)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    """The running integral by the rule of trapezia."""
    axis = checked(dim, y.ndim)
    lead = (slice(None),) * axis
    after, before = (*lead, slice(1, None)), (*lead, slice(None, -1))
    width: Any = dx
    if x is not None:
        width = ops.diff(x, axis=-1 if x.ndim == 1 else axis)
        if x.ndim == 1:
            width = ops.reshape(width, tuple(-1 if a == axis else 1 for a in range(y.ndim)))
    return ops.cumulative_sum((y[after] + y[before]) * 0.5 * width, axis=axis)


@function(method=False)
def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """Derivatives along axes, by differences of neighbours."""
    axes = tuple(range(input.ndim)) if dim is None else dim
    axes = axes if isinstance(axes, tuple | list) else (axes,)
    steps = spacing if isinstance(spacing, tuple | list) else (spacing,) * len(axes)
    return tuple(
        ops.gradient(input, step, axis=axis, edge_order=edge_order)
        for axis, step in zip(axes, steps, strict=True)
    )


@function(method=False)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803
    """Powers of the elements of a vector, as columns."""
    powers = range(x.shape[0] if N is None else N)
    columns = [ops.pow(x, k) if k else ops.ones_like(x) for k in powers]
    return ops.stack(columns if increasing else columns[::-1], axis=1)
