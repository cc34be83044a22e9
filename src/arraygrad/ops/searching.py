"""Searching and counting: `nonzero`, `unique_…`, `searchsorted`, `isin`, histograms.

Indices and counts have no derivative. The values of `unique_values` and similar functions have one:
each value is the first of the elements that are equal to it. Sorting is in `indexing`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, overload

from ..backends import backend_of, default
from ..core.array import Array, plain
from ..core.indices import HOLE
from ..core.kinds import Elementwise, Opaque
from ..errors import LazyError
from . import reductions
from .define.adoption import as_arrays, in_library_of
from .define.arguments import naming
from .define.library import constant, declare
from .define.op import Op, Own
from .define.signatures import A, one_array, two_arrays
from .elementwise import (
    equal,
    greater_equal,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    where,
)
from .indexing import _index_add, take
from .reductions import any, sum
from .shape import _reshape, astype, expand_dims, flip, ravel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "bincount", "digitize", "histogram", "isin", "nonzero", "searchsorted", "segment_sum",
    "unique_all", "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip


class UniqueAllResult(NamedTuple, Generic[A]):
    """The result of `unique_all`."""

    values: A
    indices: A
    inverse_indices: A
    counts: A


class UniqueCountsResult(NamedTuple, Generic[A]):
    """The result of `unique_counts`."""

    values: A
    counts: A


class UniqueInverseResult(NamedTuple, Generic[A]):
    """The result of `unique_inverse`."""

    values: A
    inverse_indices: A


# --- nonzero and distinct elements ---------------------------------------------------------------


def _unique_parts(xp: Any, x: Any) -> tuple[Any, ...]:
    """The index of each value's first place, each element's value by number, and the counts."""
    try:
        return tuple(xp.unique_all(x))[1:]
    except NotImplementedError:  # array-api-compat raises it for PyTorch
        flat = xp.reshape(x, (-1,))
        order = xp.argsort(flat)
        ordered = xp.take(flat, order)
        first = ordered[:1] == ordered[:1]
        new = xp.concat((xp.ones_like(first), ordered[1:] != ordered[:-1]))
        (starts,) = xp.nonzero(new)
        inverse = xp.take(xp.cumulative_sum(xp.astype(new, xp.int64)) - 1, xp.argsort(order))
        ends = xp.concat((starts[1:], xp.full_like(starts[:1], flat.shape[0])))
        return xp.take(order, starts), xp.reshape(inverse, x.shape), ends - starts


_nonzero = declare(
    "nonzero",
    "x",
    compute=lambda xp, x: xp.nonzero(x),
    kind=Opaque(shape_by_values=True),
    multiple=True,
)
_unique = declare(
    "unique",
    "x",
    compute=lambda xp, x: _unique_parts(xp, x),
    kind=Opaque(shape_by_values=True),
    multiple=True,
)


@overload
def nonzero(x: NDArray[Any], /) -> tuple[NDArray[Any], ...]: ...
@overload
def nonzero(x: A, /) -> tuple[A, ...]: ...
@naming("x")
def nonzero(x: Any, /) -> tuple[Any, ...]:
    """The indices of the elements that are not zero: an array of integers for each axis.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nonzero(ag.tensor([0.0, 2.0, 3.0]))
    (tensor([1, 2]),)
    """
    if x.ndim == 0:
        raise ValueError("nonzero needs at least one dimension: x is 0-d")
    return tuple(_nonzero(x))


@overload
def unique_all(x: NDArray[Any], /) -> UniqueAllResult[NDArray[Any]]: ...
@overload
def unique_all(x: A, /) -> UniqueAllResult[A]: ...
@naming("x")
def unique_all(x: Any, /) -> UniqueAllResult[Any]:
    """The distinct values, sorted, with the index of their first place, the inverse, and counts.

    The inverse gives the number of its value for each element of `x`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([3.0, 1.0, 3.0], requires_grad=True)
    >>> found = ag.unique_all(x)
    >>> found.counts
    tensor([1, 2])
    >>> ag.grad(found.values.sum(), x)
    tensor([1., 1., 0.])
    """
    indices, inverse, counts = _unique(x)
    return UniqueAllResult(take(ravel(x), indices, axis=0), indices, inverse, counts)


@overload
def unique_counts(x: NDArray[Any], /) -> UniqueCountsResult[NDArray[Any]]: ...
@overload
def unique_counts(x: A, /) -> UniqueCountsResult[A]: ...
@naming("x")
def unique_counts(x: Any, /) -> UniqueCountsResult[Any]:
    """The distinct values, sorted, and how often each occurs.

    >>> ag.unique_counts(ag.tensor([3, 1, 3])).counts
    tensor([1, 2])
    """
    found = unique_all(x)
    return UniqueCountsResult(found.values, found.counts)


@overload
def unique_inverse(x: NDArray[Any], /) -> UniqueInverseResult[NDArray[Any]]: ...
@overload
def unique_inverse(x: A, /) -> UniqueInverseResult[A]: ...
@naming("x")
def unique_inverse(x: Any, /) -> UniqueInverseResult[Any]:
    """The distinct values, sorted, and the number of its value for each element.

    >>> ag.unique_inverse(ag.tensor([3, 1, 3])).inverse_indices
    tensor([1, 0, 1])
    """
    found = unique_all(x)
    return UniqueInverseResult(found.values, found.inverse_indices)


@one_array
def unique_values(x: Any, /) -> Any:
    """The distinct values, sorted.

    >>> ag.unique_values(ag.tensor([3, 1, 3]))
    tensor([1, 3])
    """
    return unique_all(x).values


# --- elements of one array among those of another ------------------------------------------------


def _searchsorted_batch(op: Op, arrays: Any, batched: Any, params: Any) -> Any:
    x1, x2 = arrays
    if not batched[0]:  # `x2` may have any shape
        return op.function(x1, x2, **params)
    # Count the elements that come before. NaN counts as the largest number.
    n = x1.shape[0]
    extra = x2.ndim - batched[1]
    x1 = _reshape(x1, shape=(n, *(1,) * extra, x1.shape[1]))
    x2 = expand_dims(x2, axis=-1)
    before = less_equal(x1, x2) if params["side"] == "right" else less(x1, x2)
    if backend_of(x2).kind(x2.dtype) == "f":
        after = isnan(x2)
        if params["side"] == "left" and backend_of(x1).kind(x1.dtype) == "f":
            after = logical_and(after, logical_not(isnan(x1)))
        before = logical_or(before, after)
    return sum(before, axis=-1)


_searchsorted: Any = constant(
    "searchsorted",
    "x1",
    "x2",
    compute=lambda xp, x1, x2, side: xp.searchsorted(x1, x2, side=side),
    kind=Elementwise(whole=("x1",)),
    own=Own(batch=_searchsorted_batch),
)


@two_arrays
def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """The indices at which the elements of `x2` belong in the sorted array `x1`.

    Parameters
    ----------
    x1 : array
        One-dimensional, in ascending order, or brought into this order by `sorter`.
    x2 : array or number
    side : "left" or "right"
        Whether to return the index before or after the elements of `x1` that are equal.
    sorter : array, optional
        The result of ``argsort(x1)``.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.searchsorted(ag.tensor([1.0, 2.0, 3.0]), ag.tensor([0.5, 2.0, 9.0]))
    tensor([0, 1, 3])
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', not {side!r}")
    if x1.ndim != 1:
        raise ValueError(f"x1 must be one-dimensional, got shape {tuple(x1.shape)}")
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    x1, x2 = as_arrays(x1, x2)
    return _searchsorted(x1, x2, side=side)


def _among(xp: Any, x1: Any, x2: Any) -> Any:
    if hasattr(xp, "isin"):  # older versions of the standard do not have it
        return xp.isin(x1, x2)
    return xp.any(xp.asarray(x1)[..., None] == xp.reshape(xp.asarray(x2), (-1,)), axis=-1)


def _isin_batch(op: Op, arrays: Any, batched: Any, params: Any) -> Any:
    x1, x2 = arrays
    if not batched[1]:
        return op.function(x1, x2)
    size = x2.shape[0]
    extra = getattr(x1, "ndim", 0) - batched[0]
    lines = _reshape(x2, shape=(size, *(1,) * extra, math.prod(x2.shape[1:])))
    return any(equal(expand_dims(x1, axis=-1) if hasattr(x1, "ndim") else x1, lines), axis=-1)


_isin = constant(
    "isin",
    "x1",
    "x2",
    compute=_among,
    kind=Elementwise(whole=("x2",)),
    own=Own(batch=_isin_batch),
)


@two_arrays
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Whether each element of `x1` occurs in `x2`; with `invert`, whether it does not.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.isin(ag.asarray([1, 2, 3]), ag.asarray([3, 1]))
    tensor([ True, False,  True])
    """
    found = _isin(x1, x2)
    return logical_not(found) if invert else found


# --- counting ------------------------------------------------------------------------------------


def concrete(x: Any, name: str) -> Any:
    """The values of an array as a NumPy array, for functions whose result's shape needs them."""
    values = backend_of(x).known_values(_in_one(x, name))
    if values is None:
        raise _unknown(name)
    return values


def _unknown(name: str) -> LazyError:
    return LazyError(
        f"{name} needs the values of an array, because the shape of its result depends on them, "
        "and they are not known yet: pass what compute() gives for a Dask array, and call it "
        "outside functions that JAX traces"
    )


def _in_one(x: Any, name: str) -> Any:
    """The plain array; raises if the array is batched."""
    array = plain(x)
    if tuple(array.shape) != tuple(x.shape):
        raise TypeError(
            f"{name} gives results of different shapes for the members of a batch: call it outside "
            "vmap"
        )
    return array


def _min(x: Any) -> Any:
    return reductions.min(astype(x, backend_of(x).dtype(int)) if _is_bool(x) else x)


def _max(x: Any) -> Any:
    return reductions.max(astype(x, backend_of(x).dtype(int)) if _is_bool(x) else x)


def _is_bool(x: Any) -> bool:
    return backend_of(x).kind(x.dtype) == "b"


def _number(x: Any, name: str) -> Any:
    """The value of a 0-d array as a Python number."""
    array = _in_one(x, name)
    if not backend_of(array).has_values(array):
        raise _unknown(name)
    return backend_of(array).item(array)


@overload
def digitize(x: NDArray[Any], bins: Any, right: bool = False) -> NDArray[Any]: ...
@overload
def digitize(x: A, bins: Any, right: bool = False) -> A: ...
@naming("x", "bins")
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The number of the bin that contains each element. `bins` are the edges, sorted either way.

    A bin contains its left edge or, with `right`, its right edge.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.digitize(ag.tensor([0.5, 1.0, 7.0]), ag.tensor([0.0, 1.0, 2.0]))
    tensor([1, 2, 3])
    """
    x, edges = as_arrays(x, bins)
    if edges.ndim != 1:
        raise ValueError(f"bins must be one-dimensional, got shape {tuple(edges.shape)}")
    side, other = ("left", "right") if right else ("right", "left")
    n = edges.shape[0]
    falls = edges[:1] > edges[-1:]
    if plain(falls).ndim > 1 or not backend_of(falls).has_values(plain(falls)):
        rising = where(falls, flip(edges), edges)
        return where(
            falls, n - searchsorted(rising, x, side=other), searchsorted(rising, x, side=side)
        )
    if bool(any(falls)):
        return n - searchsorted(_sorted(flip(edges)), x, side=other)
    return searchsorted(_sorted(edges), x, side=side)


def _sorted(bins: Any) -> Any:
    """The edges of bins; raises if they are known not to be sorted."""
    if backend_of(bins).has_values(plain(bins)) and bool(any(bins[1:] < bins[:-1])):
        raise ValueError("bins must be sorted, but an edge is below the one before it")
    return bins


@one_array
def bincount(
    x: Any, /, weights: Any = None, minlength: int = 0, *, length: int | None = None
) -> Any:
    """How often each of the integers 0, 1, … occurs in `x`, or the sum of their weights.

    Counts have no derivative; sums have one with respect to the weights. With `length`, the result
    has this length, and other integers do not count: then no values are needed to know the shape.

    Examples
    --------
    >>> import arraygrad as ag
    >>> w = ag.tensor([1.0, 10.0, 100.0], requires_grad=True)
    >>> ag.grad(ag.bincount(ag.asarray([0, 2, 0]), w)[0], w)
    tensor([1., 0., 1.])
    """
    kind = backend_of(x).kind(x.dtype)
    if kind not in "bi" or x.ndim != 1:
        raise TypeError(f"x must be one-dimensional and integer, got {x.dtype} of shape {x.shape}")
    x = astype(x, backend_of(x).dtype(int)) if kind == "b" else x  # which would be a mask
    if length is not None:
        ones = astype(equal(x, x), backend_of(x).dtype(int))
        return segment_sum(ones if weights is None else weights, x, length)
    some = x.shape[0] > 0
    if some and _number(_min(_in_one(x, "bincount")), "bincount") < 0:
        raise ValueError("x must not have negative elements")
    most = _number(_max(_in_one(x, "bincount")), "bincount") if some else -1
    if weights is not None:
        _, weights = as_arrays(x, weights)
        if tuple(weights.shape) != tuple(x.shape):
            raise ValueError(f"weights has shape {weights.shape}, x has {x.shape}")
    return _counts(x, weights, max(most + 1, minlength))


@one_array
def segment_sum(x: Any, /, segment_ids: Any, num_segments: int | None = None) -> Any:
    """The sums of those slices along the first axis that have the same number.

    Parameters
    ----------
    x : array
    segment_ids : array of integers
        For each slice, the number of its segment. A number below zero, or from `num_segments` on,
        stands for no segment.
    num_segments : int, optional
        How many sums there are; by default, up to the largest number.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0, 4.0], requires_grad=True)
    >>> ag.grad(ag.segment_sum(x, ag.asarray([0, 1, 0]), 2) @ ag.tensor([1.0, 10.0]), x)
    tensor([ 1., 10.,  1.])
    """
    x, numbers = as_arrays(x, segment_ids)
    if backend_of(numbers).kind(numbers.dtype) not in "bi" or numbers.shape != x.shape[:1]:
        raise TypeError(
            f"segment_ids must be integers of shape {tuple(x.shape[:1])}, got {numbers.dtype} of "
            f"shape {tuple(numbers.shape)}"
        )
    if num_segments is None:
        some = x.shape[0] > 0
        largest = _number(_max(_in_one(numbers, "segment_sum")), "segment_sum") if some else -1
        num_segments = max(largest + 1, 0)
    inside = logical_and(greater_equal(numbers, 0), less(numbers, num_segments))
    part = where(_reshape(inside, shape=(*inside.shape, *(1,) * (x.ndim - 1))), x, 0)
    shape = (num_segments, *x.shape[1:])
    return _index_add(part, where(inside, numbers, 0), template=(HOLE,), shape=shape)


def _counts(x: Any, weights: Any, length: int) -> Any:
    """The counts, or the sums of weights, of the integers 0 to ``length - 1`` in `x`."""
    if weights is None:
        weights = astype(equal(x, x), backend_of(x).dtype(int))
    return _index_add(weights, x, template=(HOLE,), shape=(length,))


@overload
def histogram(
    x: NDArray[Any],
    /,
    bins: Any = 10,
    range: Any = None,
    density: bool = False,
    weights: Any = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def histogram(
    x: A, /, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None
) -> tuple[A, A]: ...
@naming("x")
def histogram(
    x: Any, /, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None
) -> tuple[Any, Any]:
    """How many elements lie in each bin, and the edges of the bins.

    Neither has a derivative with respect to `x`; the counts have one with respect to `weights`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.histogram(ag.tensor([1.0, 2.0, 2.5]), bins=2, range=(0, 4))
    (tensor([1, 2]), tensor([0., 2., 4.]))
    """
    import numpy as np

    whole = ravel(x)
    if hasattr(bins, "dtype") and backend_of(bins) is backend_of(x):
        there = _sorted(plain(bins))
    else:
        given = concrete(bins, "histogram") if hasattr(bins, "dtype") else bins
        if backend_of(x) is default or isinstance(given, str):
            values = concrete(whole, "histogram")
        else:  # only the smallest and the largest element matter
            some = range is None and whole.shape[0]
            ends = [_number(f(whole), "histogram") for f in (_min, _max)] if some else []
            values = np.asarray(ends)
        there = in_library_of(plain(x), np.histogram_bin_edges(values, given, range))
    if backend_of(x).kind(x.dtype) == "f":
        there = astype(there, x.dtype, copy=False)
    else:
        whole = astype(whole, there.dtype)
    all_places = plain(whole)
    among = logical_and(
        greater_equal(all_places, there[:1]), less_equal(all_places, there[there.shape[0] - 1 :])
    )
    (inside,) = _nonzero(among)
    flat = take(whole, inside, axis=0)
    places = searchsorted(there[1:-1], flat, side="right")
    weights = None if weights is None else take(ravel(weights), inside, axis=0)
    counts = _counts(places, weights, there.shape[0] - 1)
    if density:
        if weights is None and backend_of(x) is not default:  # may not mix integers and floats
            counts = astype(counts, there.dtype)
        counts = counts / (sum(counts) * (there[1:] - there[:-1]))
    if isinstance(x, Array):
        return counts, x.constant(there)
    return counts, there
