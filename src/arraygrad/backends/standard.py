"""The backend for libraries that follow the Array API standard and have no module of their own.

The standard lacks many features of NumPy: most mixed indices, adding at repeated places, arithmetic
on booleans, moments of integers and of complex numbers. The kernels here build these features from
functions of the standard. They work for any library and do not write to arrays, except for
`put_into_copy`.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.indices import Index, Part, Template, fill
from .base import Backend, Kernel
from .registry import backend_of

if TYPE_CHECKING:
    from ..ops.regions import Region


def standard_backend(array_type: type) -> Backend:
    """The backend of a type of array whose module is a namespace of the standard."""
    module = array_type.__module__.partition(".")[0]
    xp = sys.modules[module]
    if not hasattr(xp, "asarray") or not hasattr(xp, "isdtype"):
        raise TypeError(
            f"{array_type.__name__} belongs to no array library that is known, as {module} is no "
            "namespace of the Array API standard: say which it is by arraygrad.backends.register()"
        )
    return Backend(module, xp, standard_kernels(xp))


def standard_kernels(xp: Any) -> dict[str, Kernel]:
    """Kernels for the ops that need more than one function of the standard's namespace `xp`.

    Examples
    --------
    >>> import array_api_strict as xp
    >>> kernels = standard_kernels(xp)
    >>> bool(kernels["mean"](xp.asarray([1, 2]), axis=None, keepdims=False) == 1.5)
    True
    """
    return {name: functools.partial(kernel, xp) for name, kernel in _KERNELS.items()}


# --- reading by index ----------------------------------------------------------------------------


def index_of(
    xp: Any, template: Template, indices: tuple[Any, ...], shape: tuple[int, ...]
) -> Index:
    """The normal form of an index whose arrays belong to the namespace `xp`."""

    def positions(index: Any) -> Any:
        if not xp.isdtype(index.dtype, "bool"):
            return None
        return xp.nonzero(index if index.ndim else xp.reshape(index, (1,)))

    return Index(template, indices, shape, positions)


def _getitem(xp: Any, x: Any, *indices: Any, template: Template) -> Any:
    index = index_of(xp, template, indices, tuple(x.shape))
    parts, lead = index.parts, index.lead if indices else 0
    key = [None if p.new else slice(None) if p.is_array else p.value for p in parts]
    x = x[tuple(key)] if key else x
    axes = [p for p in parts if not isinstance(p.value, int)]
    chosen = [k for k, p in enumerate(axes) if p.is_array]
    if not chosen:
        return x
    lengths = [x.shape[k] for k in chosen]
    arrays = [axes[k].value for k in chosen]
    places = flat_places(xp, arrays, lengths)
    rest = [k for k in range(x.ndim) if k not in chosen]
    lines = xp.reshape(
        xp.permute_dims(x, (*chosen, *rest)), (math.prod(lengths), *(x.shape[k] for k in rest))
    )
    taken = xp.take(lines, xp.reshape(places, (-1,)), axis=0)
    out = xp.reshape(taken, (*places.shape, *lines.shape[1:]))
    n = places.ndim
    order = (*range(n, n + lead), *range(n), *range(n + lead, out.ndim))
    return xp.permute_dims(out, order) if lead else out


def flat_places(xp: Any, arrays: list[Any], lengths: list[int]) -> Any:
    """Indices for several axes as indices for the one axis that these axes form when flattened."""
    flat = None
    for index, n in zip(xp.broadcast_arrays(*arrays), lengths, strict=True):
        if not bool(xp.all((index >= -n) & (index < n))):
            raise IndexError(f"an index is out of range for an axis with length {n}")
        index = xp.where(index < 0, index + n, index)
        flat = index if flat is None else flat * n + index
    return flat


# --- adding by index -----------------------------------------------------------------------------


def _index_add(xp: Any, x: Any, *indices: Any, template: Template, shape: tuple[int, ...]) -> Any:
    parts = index_of(xp, template, indices, shape).parts
    if not any(p.is_array for p in parts):
        return _spread(xp, x, [p for p in parts if not p.new], shape)
    numbers = xp.reshape(xp.arange(math.prod(shape), device=x.device), shape)
    places = _getitem(xp, numbers, *indices, template=template)
    values = xp.reshape(xp.broadcast_to(x, places.shape), (-1,))
    return xp.reshape(_sums(xp, values, xp.reshape(places, (-1,)), math.prod(shape)), shape)


def _spread(xp: Any, x: Any, parts: list[Part], shape: tuple[int, ...]) -> Any:
    """Zeros of a shape, with `x` at an index of integers and slices."""
    ranges = [
        range(n)[p.value] if isinstance(p.value, slice) else range(n)[p.value :][:1]
        for p, n in zip(parts, shape, strict=True)
    ]
    x = xp.reshape(x, tuple(map(len, ranges)))
    for axis, (taken, n) in enumerate(zip(ranges, shape, strict=True)):
        if taken == range(n):
            continue
        wide = (*x.shape[:axis], n, *x.shape[axis + 1 :])
        if not taken:
            x = xp.zeros(wide, dtype=x.dtype, device=x.device)
            continue
        offset = xp.arange(n, device=x.device) - taken.start
        place = offset // taken.step
        hit = (place * taken.step == offset) & (place >= 0) & (place < len(taken))
        x = xp.take(x, xp.where(hit, place, xp.zeros_like(place)), axis=axis)
        hit = xp.reshape(hit, (n,) + (1,) * (x.ndim - axis - 1))
        x = xp.where(hit, x, xp.zeros_like(x))
    return x


def _sums(xp: Any, values: Any, places: Any, size: int) -> Any:
    """For each of `size` places, the sum of the values that belong to this place.

    The values are sorted by place and summed by doubling. Values of different places are never
    added: one of them may be infinite.
    """
    if not values.shape[0] or not size:
        return xp.zeros((size,), dtype=values.dtype, device=values.device)
    order = xp.argsort(places)
    places, values = xp.take(places, order), xp.take(values, order)
    step = 1
    while step < places.shape[0]:
        before = values[:-step]
        same = places[step:] == places[:-step]
        more = values[step:] + xp.where(same, before, xp.zeros_like(before))
        values = xp.concat((values[:step], more))
        step *= 2
    numbers = xp.arange(size, dtype=places.dtype, device=values.device)
    last = xp.searchsorted(places, numbers, side="right") - 1
    last = xp.where(last < 0, xp.zeros_like(last), last)
    totals = xp.take(values, last)
    return xp.where(xp.take(places, last) == numbers, totals, xp.zeros_like(totals))


# --- writing by index ----------------------------------------------------------------------------


def put_into_copy(
    backend: Backend, x: Any, value: Any, region: Region, shares_memory: Callable[..., bool]
) -> Any:
    """The op `put` for arrays that can be written: write to a view of a copy if possible."""
    out = backend.copy(x)
    view = region.view(out)
    # If several values go to one place, `put_by_choice` finds out which one stays.
    if not shares_memory(out, view) or region.survivors() is not None:
        return put_by_choice(backend.xp, x, value, region)
    device = backend.device(x)
    if hasattr(value, "dtype"):
        # A view can be the real part of complex numbers.
        value = backend.xp.astype(value, view.dtype, copy=False)
    key: Any = ...
    if region.index is not None:
        template, indices = region.index
        parts = index_of(np, template, indices, tuple(view.shape)).parts
        if any(isinstance(p, slice) and (p.step or 1) < 0 for p in template) or (
            indices and any(isinstance(p.value, int) or p.new for p in parts)
        ):  # libraries differ here
            return put_by_choice(backend.xp, x, value, region)
        key = fill(template, tuple(backend.from_numpy(i, device) for i in indices))
    view[key] = value
    return out


def put_by_choice(xp: Any, x: Any, value: Any, region: Region) -> Any:
    """The op `put` without writing: choose between old and new elements."""
    in_parts = region.splits_elements() and _of_kind(xp, x, "complex floating")
    # For each element, the number of its new value, counted from one; 0 if it has none.
    order = np.zeros(region.shape, np.complex128 if in_parts else np.int64)
    shape = region.read(order).shape
    if 0 in shape:
        return x
    region.assign(order, np.arange(1, math.prod(shape) + 1).reshape(shape))
    if not in_parts:
        return _chosen(xp, x, value, shape, order)
    real, imag = (
        _chosen(xp, part, value, shape, part_order.astype(np.int64))
        for part, part_order in ((xp.real(x), order.real), (xp.imag(x), order.imag))
    )
    return xp.astype(real, x.dtype) + xp.astype(imag, x.dtype) * 1j


def _chosen(xp: Any, x: Any, value: Any, shape: tuple[int, ...], order: Any) -> Any:
    """`x` with elements of `value`, broadcast to `shape`, by their numbers in `order`."""
    backend = backend_of(x)
    value = xp.astype(xp.asarray(value, device=backend.device(x)), x.dtype)
    wide = xp.reshape(xp.broadcast_to(value, shape), (-1,))
    taken = xp.take(wide, backend.integers(x, np.maximum(order - 1, 0).reshape(-1).tolist()))
    mask = xp.asarray(order > 0, device=backend.device(x))
    return xp.where(mask, xp.reshape(taken, order.shape), x)


# --- other kinds of numbers ----------------------------------------------------------------------


def _of_kind(xp: Any, x: Any, kind: str) -> bool:
    return bool(xp.isdtype(x.dtype, kind))


def _imag(xp: Any, x: Any) -> Any:
    return xp.imag(x) if _of_kind(xp, x, "complex floating") else xp.zeros_like(x)


def _real(xp: Any, x: Any) -> Any:
    return xp.real(x) if _of_kind(xp, x, "complex floating") else x


def _angle(xp: Any, x: Any) -> Any:
    return xp.atan2(_imag(xp, x), _real(xp, x))


def _conj(xp: Any, x: Any) -> Any:
    return xp.conj(x) if _of_kind(xp, x, "complex floating") else x


def _as_floats(xp: Any, x: Any) -> Any:
    """Booleans and integers as floats."""
    return xp.astype(x, xp.float64) if _of_kind(xp, x, ("bool", "integral")) else x  # type: ignore[arg-type]


def _logical_not(xp: Any, x: Any) -> Any:
    return xp.logical_not(x) if _of_kind(xp, x, "bool") else x == 0


def _summed(name: str) -> Kernel:
    def kernel(xp: Any, x: Any, **keywords: Any) -> Any:
        x = xp.astype(x, xp.int64) if _of_kind(xp, x, "bool") else x
        return getattr(xp, name)(x, **keywords)

    return kernel


def _count_nonzero(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    # Younger than most of the standard, and a Python number in some libraries.
    found = x if _of_kind(xp, x, "bool") else x != 0
    return xp.sum(xp.astype(found, xp.int64), axis=axis, keepdims=keepdims)


def _mean(xp: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    return xp.mean(_as_floats(xp, x), axis=axis, keepdims=keepdims)


def _var(xp: Any, x: Any, axis: Any, keepdims: bool, correction: float) -> Any:
    if _of_kind(xp, x, "complex floating"):
        parts = xp.real(x), xp.imag(x)
        first, second = (_var(xp, p, axis, keepdims, correction) for p in parts)
        return first + second
    return xp.var(_as_floats(xp, x), axis=axis, keepdims=keepdims, correction=correction)


def _std(xp: Any, x: Any, axis: Any, keepdims: bool, correction: float) -> Any:
    return xp.sqrt(_var(xp, x, axis, keepdims, correction))


# --- special functions ---------------------------------------------------------------------------


def _rel_entr(xp: Any, x: Any, y: Any) -> Any:
    like = x if hasattr(x, "dtype") else y
    x, y = (v if hasattr(v, "dtype") else xp.full_like(like, v) for v in (x, y))
    inside, edge = (x > 0) & (y > 0), (x == 0) & (y >= 0)
    one, zero = xp.ones_like(x + y), xp.zeros_like(x + y)
    found = xp.where(inside, x, one) * xp.log(xp.where(inside, x, one) / xp.where(inside, y, one))
    out = xp.where(inside, found, xp.where(edge, zero, xp.full_like(zero, math.inf)))
    return xp.where((x != x) | (y != y), x + y, out)


def _kl_div(xp: Any, x: Any, y: Any) -> Any:
    out = _rel_entr(xp, x, y)
    return xp.where(xp.isinf(out), out, out - x + y)


_KERNELS: dict[str, Kernel] = {
    "getitem": _getitem,
    "rel_entr": _rel_entr,
    "kl_div": _kl_div,
    "index_add": _index_add,
    "imag": _imag,
    "real": _real,
    "angle": _angle,
    "conj": _conj,
    "logical_not": _logical_not,
    "count_nonzero": _count_nonzero,
    "mean": _mean,
    "var": _var,
    "std": _std,
    "sum": _summed("sum"),
    "prod": _summed("prod"),
    "cumulative_sum": _summed("cumulative_sum"),
    "cumulative_prod": _summed("cumulative_prod"),
}
