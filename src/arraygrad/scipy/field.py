"""A function at many points at once: the points of a quadrature, the stages of a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from ..arrays.batched import batched_type
from ..core.array import AnyFunction, Array
from ..core.levels import new_level
from ..func import vmap
from .formula import Formula, capture


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
        self._inverse: Any = None
        if len(self._groups) > 1:
            self._inverse = np.argsort(np.concatenate([g.places for g in self._groups]))

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

    def map(self, function: AnyFunction, points: Sequence[Any], outside: Sequence[Any]) -> Any:
        """``function(formula)`` of each point, in one array."""
        parts = []
        for group in self._groups:
            more = outside[group.outside]
            mapped = vmap(
                function(group.formula), in_axes=(*[0] * len(points), *[None] * len(more))
            )
            if group.places is None:
                return mapped(*points, *more)
            at = [ops.take(x, group.places, axis=0) for x in points]
            parts.append(mapped(*at, *more))
        joined = parts[0] if len(parts) == 1 else ops.concat(parts)
        return joined if self._inverse is None else ops.take(joined, self._inverse, axis=0)

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
