"""A function at many points at once: the points of a quadrature, the stages of a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from ..arrays.batched import batched_type
from ..core.array import AnyFunction, Array
from ..core.levels import new_level
from ..func import sparsity, vmap
from ..func.coloring import color_columns
from .formula import Formula, capture
from .linear import remembered
from .names import scipy_module


class _Group(NamedTuple):
    """Points at which a function takes the same steps."""

    formula: Formula
    places: Any  # None for all points
    outside: slice  # the arguments of the formula among those of the field


class Field:
    """A function of one point, for many points at once.

    Parameters
    ----------
    f : callable
    *points : array
        For each argument of f, its values at all points, along the first axis. They have no
        derivatives; they may be batches.

    Attributes
    ----------
    outside : list
        The arrays from outside that f depends on.
    """

    def __init__(self, f: AnyFunction, *points: Any) -> None:
        self.outside: list[Any] = []
        self._groups: list[_Group] = []
        try:
            with new_level() as level:
                make = batched_type(level)
                formula = capture(f, *map(make, points))
            self._add(formula, None)
        except TypeError as error:
            if "truth of a batched" not in str(error) or any(isinstance(p, Array) for p in points):
                raise
            self._by_branches(f, points)

    @classmethod
    def of_formula(cls, formula: Formula, outside: Sequence[Any]) -> Field:
        """The field of a function that is a formula, and takes the same steps everywhere."""
        field = cls.__new__(cls)
        field.outside, field._groups = list(outside), [_Group(formula, None, slice(None))]
        return field

    def _add(self, formula: Formula, places: Any) -> None:
        start = len(self.outside)
        self.outside += formula.outside
        self._groups.append(_Group(formula, places, slice(start, len(self.outside))))

    def _by_branches(self, f: AnyFunction, points: Sequence[Any]) -> None:
        """Of a function that takes decisions, group the points at which it takes the same ones."""
        groups: dict[Any, list[int]] = {}
        formulas: dict[Any, Formula] = {}
        for i in range(len(points[0])):
            formula = capture(f, *(p[i] for p in points))
            key = formula.key()
            formulas.setdefault(key, formula)
            groups.setdefault(key, []).append(i)
        for key, places in groups.items():
            self._add(formulas[key], np.array(places))

    def map(
        self,
        function: AnyFunction,
        points: Sequence[Any],
        outside: Sequence[Any],
        places: Any = None,
    ) -> Any:
        """``function(formula)`` at each point, or at those at `places`, in one array."""
        parts, order = [], []
        for group in self._groups:
            more = outside[group.outside]
            mapped = vmap(
                function(group.formula), in_axes=(*[0] * len(points), *[None] * len(more))
            )
            own = group.places
            if places is not None:
                own = places if own is None else np.intersect1d(own, places)
            if own is None:
                return mapped(*points, *more)
            if len(own):
                order.append(own)
                parts.append(mapped(*(ops.take(x, own, axis=0) for x in points), *more))
        if len(parts) == 1:
            return parts[0]
        return ops.take(ops.concat(parts), np.argsort(np.concatenate(order)), axis=0)

    def pattern(self, points: Sequence[Any], outside: Sequence[Any]) -> Any:
        """Where the Jacobian by the second argument can be other than zero, and its diagonal.

        All arrays are plain. The result is a sparse array, and a colour for each of its columns.
        """
        key = self._groups[0].formula if len(self._groups) == 1 else self
        return remembered(key, tuple(outside), lambda: self._pattern(points, outside))

    def _pattern(self, points: Sequence[Any], outside: Sequence[Any]) -> Any:
        total: Any = scipy_module("scipy.sparse").eye_array(points[1].shape[-1], dtype=bool)
        for group in self._groups:
            place = 0 if group.places is None else group.places[0]
            at = [np.asarray(x[place]) for x in points]
            # The first argument varies, too: where it is zero, it cuts no dependence.
            found = sparsity(group.formula, *at, *outside[group.outside], argnums=(0, 1))
            total = total + found[:, at[0].size :]
        pattern = total.tocsr()
        pattern.sort_indices()
        return pattern, color_columns(pattern)

    def __call__(self, points: Sequence[Any], outside: Sequence[Any] | None = None) -> Any:
        """The values of f, along the first axis."""
        outside = self.outside if outside is None else outside
        return self.map(lambda formula: formula, points, outside)

    def at(self, place: int) -> tuple[Formula, slice]:
        """The formula at one point, and its arguments among those from outside."""
        for group in self._groups:
            if group.places is None or place in group.places:
                return group.formula, group.outside
        raise IndexError(place)
