"""xarray's labelled arrays: structures, whose parts are their numbers.

This module is imported after xarray is: see `arrivals`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray
from xarray.core import indexing, missing

from .. import ops
from ..core import upward
from ..core.array import Array


def _tell() -> None:
    """Let xarray index and interpolate our arrays, and index by them, as it does with NumPy's.

    If an array follows the standard, xarray does not use NumPy's protocols for it. The standard has
    no indices that are arrays for several axes: xarray refuses to read by them, and writes to other
    elements than those that were meant. Only NumPy's 0-d arrays are numbers as indices. And SciPy's
    functions, which interpolate, have no derivatives. A deep copy of a leaf is another leaf; when
    xarray copies, as it does to align and to interpolate, NumPy's `copy` is meant.
    """
    adapter: Any = indexing.ArrayApiIndexingAdapter
    variable: Any = xarray.Variable
    broadcast, copied = variable._broadcast_indexes, variable._copy

    def new(kind: type, array: Any) -> Any:
        if isinstance(array, Array):
            return indexing.NdArrayLikeIndexingAdapter(array)
        return object.__new__(kind)

    def by_numbers(self: Any, key: Any) -> Any:
        key = self._item_key_to_tuple(key)
        return broadcast(self, tuple(map(_as_number, key if isinstance(key, tuple) else (key,))))

    def in_graph(self: Any, deep: bool = True, data: Any = None, memo: Any = None) -> Any:
        if deep and data is None and isinstance(self._data, Array):
            data = ops.copy(self._data)
        return copied(self, deep, data, memo)

    adapter.__new__ = new
    variable._broadcast_indexes = by_numbers
    variable._copy = in_graph
    missing.ScipyInterpolator = _Interpolator


class _Interpolator(missing.ScipyInterpolator):  # type: ignore[misc]
    """SciPy's interpolation by `interp1d`; for our arrays, by our function of that name."""

    def __init__(self, xi: Any, yi: Any, *args: Any, **kwargs: Any) -> None:
        yi = yi.data if isinstance(yi, xarray.Variable) else yi
        is_ours = isinstance(yi, Array)
        super().__init__(xi, np.zeros(yi.shape) if is_ours else yi, *args, **kwargs)
        if is_ours:
            by_scipy: Any = self.__dict__["f"]
            settings = ("axis", "bounds_error", "fill_value")
            given = {name: getattr(by_scipy, name) for name in settings}
            found = upward.interp1d(xi, yi, kind=self.method, **given)
            # xarray takes the `data` of a result, which NumPy's arrays have, too.
            self.f = lambda x: xarray.Variable(range(yi.ndim), found(x))


def _as_number(index: Any) -> Any:
    values: Any = index.data if isinstance(index, xarray.Variable) else index
    is_number = isinstance(values, Array) and not values.ndim
    return int(values) if is_number else index


def structure(kind: type) -> tuple[Any, Any] | None:
    """How to take a DataArray, a Dataset or a Variable apart; None for xarray's other types."""
    structures = (xarray.DataArray, xarray.Dataset, xarray.Variable)
    if not issubclass(kind, structures) or issubclass(kind, xarray.IndexVariable):
        return None
    return _taken_apart, _Labels.around


def _taken_apart(labelled: Any) -> tuple[list[Any], _Labels]:
    is_one = not isinstance(labelled, xarray.Dataset)
    parts = {None: labelled} if is_one else dict(labelled.data_vars)
    numbers = {name: p.data for name, p in parts.items() if is_one or _has_numbers(p)}
    hollow = {name: _zeros(tuple(x.shape)) for name, x in numbers.items()}
    others = {name: p.data for name, p in parts.items() if name not in numbers}
    empty = labelled.copy(deep=False, data=hollow[None] if is_one else hollow | others)
    return list(numbers.values()), _Labels(empty, hollow, others)


def _has_numbers(part: Any) -> bool:
    return getattr(part.dtype, "kind", "f") in "biufc"


@functools.lru_cache(1024)  # the same object for each shape, which is quick to compare
def _zeros(shape: tuple[int, ...]) -> Any:
    return np.broadcast_to(0.0, shape)


class _Labels:
    """All of a labelled array but the numbers, which are zeros that take no memory."""

    __slots__ = ("_empty", "_hollow", "_others")

    def __init__(self, empty: Any, hollow: dict[Any, Any], others: dict[Any, Any]) -> None:
        self._empty = empty
        self._hollow = hollow
        self._others = others

    def around(self, numbers: Iterable[Any]) -> Any:
        """Other numbers with these labels; as they are, if their shape is another.

        A Jacobian has such a shape.
        """
        given = dict(zip(self._hollow, numbers, strict=True))
        is_one = None in given
        if any(self._hollow[n].shape != getattr(x, "shape", None) for n, x in given.items()):
            return given[None] if is_one and hasattr(given[None], "shape") else given
        return self._empty.copy(deep=False, data=given[None] if is_one else given | self._others)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Labels) or type(self._empty) is not type(other._empty):
            return False
        return bool(self._empty.identical(other._empty))

    def __hash__(self) -> int:
        return hash(tuple(self._hollow))

    def __repr__(self) -> str:
        return f"labels of {', '.join(map(str, self._empty.dims))}"


_tell()
