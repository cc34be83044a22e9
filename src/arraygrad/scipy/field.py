"""A function at many points at once: the points of a quadrature, the stages of a trajectory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from ..arrays.batched import BatchedTruthError, batched_type
from ..core.array import AnyFunction, Array
from ..core.levels import new_level
from ..func import sparsity, vmap
from ..func.coloring import color_columns
from .formula import OUTSIDE, Formula, as_array, capture
from .linear import is_floating
from .names import scipy_module

_KEPT = 32  # patterns of Jacobians


class _Group(NamedTuple):
    """Points at which a function takes the same steps."""

    formula: Formula
    places: Any  # None for all points
    outside: slice  # the arguments of the formula among those of the field
    per_point: Sequence[bool]  # which of them have a value for each point


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
    is_shared : list of bool
        Whether each of them is the same at all points.
    """

    def __init__(self, f: AnyFunction, *points: Any) -> None:
        self.outside: list[Any] = []
        self.is_shared: list[bool] = []
        self._groups: list[_Group] = []
        self._choices: list[Any] = []  # by what is chosen between branches, at each point
        try:
            with new_level() as level:
                make = batched_type(level)
                formula = capture(f, *map(make, points))
            self._add(formula, None, make)
            self._choices = [
                (of, mask._array)
                for of, mask in formula.choices
                if type(mask) is make and isinstance(mask._array, np.ndarray)
            ]
        except BatchedTruthError:
            if any(isinstance(p, Array) for p in points):
                raise
            self._by_branches(f, points)

    @classmethod
    def of_formula(cls, formula: Formula, outside: Sequence[Any]) -> Field:
        """The field of a function that is a formula, and takes the same steps everywhere."""
        field = cls.__new__(cls)
        same = [False] * len(outside)
        field.outside, field._groups = list(outside), [_Group(formula, None, slice(None), same)]
        field.is_shared, field._choices = [True] * len(outside), []
        return field

    def elsewhere(self, f: AnyFunction, *points: Any) -> Field:
        """The field of the same function f for other points."""
        return Field(f, *points) if self.formula is None or self._choices else self

    @property
    def formula(self) -> Formula | None:
        """The formula of f, if it takes the same steps everywhere."""
        formula, places, _, per_point = self._groups[0]
        is_same = places is None and not any(per_point) and not formula.has_branches
        return formula if is_same else None

    def _add(self, formula: Formula, places: Any, make: Any = None) -> None:
        """Add a group. An array of the type `make` has a value for each point."""
        start = len(self.outside)
        per_point = [type(array) is make for array in formula.outside]
        pairs = zip(formula.outside, per_point, strict=True)
        self.outside += [array._array if own else array for array, own in pairs]
        self.is_shared += [not own for own in per_point]
        place = slice(start, len(self.outside))
        self._groups.append(_Group(formula, places, place, per_point))

    def _by_branches(self, f: AnyFunction, points: Sequence[Any]) -> None:
        """Of a function that takes decisions, group the points at which it takes the same ones."""
        groups: dict[Any, list[int]] = {}
        formulas: dict[Any, Formula] = {}
        choices = []
        for i in range(len(points[0])):
            formula = capture(f, *(p[i] for p in points))
            choices.append(formula.choices)
            key = formula.key(), tuple(map(id, formula.outside))
            formulas.setdefault(key, formula)
            groups.setdefault(key, []).append(i)
        for key, places in groups.items():
            self._add(formulas[key], np.array(places))
        for column in zip(*choices, strict=False):
            self._choices.append((column[0][0], np.stack([np.asarray(mask) for _, mask in column])))

    @property
    def has_choices(self) -> bool:
        """Whether f compares values that depend on its arguments."""
        return bool(self._choices)

    def jump(
        self, positions: Any, values: Any, by_outside_only: bool, places: Any = np.s_[:]
    ) -> float | None:
        """Where f jumps because a comparison changes, at a place that can depend on parameters.

        Such a comparison depends on the point and on an array outside or, unless
        `by_outside_only`, on the second argument, which is a state. All arrays are plain; the
        positions are one number for each point, or for those at `places`. None if there is no jump.
        """
        moving = OUTSIDE if by_outside_only else OUTSIDE | 2
        masks = [mask[places] for of, mask in self._choices if of & 3 and of & moving]
        return None if isinstance(values, Array) else jump(positions, values, masks)

    def map(
        self,
        function: AnyFunction | None,
        points: Sequence[Any],
        outside: Sequence[Any],
        places: Any = None,
    ) -> Any:
        """``function(formula)`` at each point, or at those at `places`, in one array.

        Without a function, it is the formula itself.
        """
        parts, order = [], []
        for group in self._groups:
            given = [*points, *outside[group.outside]]
            axes = [0] * len(points) + [0 if own else None for own in group.per_point]
            if function is None and group.formula.is_of_numbers and not any(group.per_point):
                mapped = _at_numbers(group.formula)
            else:
                one = group.formula if function is None else function(group.formula)
                mapped = vmap(one, in_axes=tuple(axes))
            own = group.places
            if places is not None:
                own = places if own is None else np.intersect1d(own, places)
            if own is None:
                return mapped(*given)
            if len(own):
                order.append(own)
                pairs = zip(given, axes, strict=True)
                chosen = [x if axis is None else ops.take(x, own, axis=0) for x, axis in pairs]
                parts.append(mapped(*chosen))
        if len(parts) == 1:
            return parts[0]
        return ops.take(ops.concat(parts), np.argsort(np.concatenate(order)), axis=0)

    def pattern(self, points: Sequence[Any], outside: Sequence[Any]) -> Any:
        """Where the Jacobian by the second argument can be other than zero, and its diagonal.

        All arrays are plain. The result is a sparse array, and a colour for each of its columns.
        """
        total: Any = scipy_module("scipy.sparse").eye_array(points[1].shape[-1], dtype=bool)
        for group in self._groups:
            place = 0 if group.places is None else group.places[0]
            own, more = self.at(place, outside)
            total = total + _pattern_of(own, [*(np.asarray(x[place]) for x in points), *more])
        pattern = total.tocsr()
        pattern.sort_indices()
        return pattern, color_columns(pattern)

    def __call__(self, points: Sequence[Any], outside: Sequence[Any] | None = None) -> Any:
        """The values of f, along the first axis."""
        outside = self.outside if outside is None else outside
        return self.map(None, points, outside)

    def at(self, place: int, outside: Sequence[Any]) -> tuple[Formula, list[Any]]:
        """The formula at one point, and its arguments from outside."""
        for group in self._groups:
            if group.places is None or place in group.places:
                pairs = zip(outside[group.outside], group.per_point, strict=True)
                return group.formula, [array[place] if own else array for array, own in pairs]
        raise IndexError(place)


def jump(positions: Any, values: Any, masks: list[Any]) -> float | None:
    """Where values jump between two positions at which one of the masks changes."""
    if not masks or len(positions) < 4:
        return None
    order = np.argsort(positions, kind="stable")
    flips = np.zeros(len(order) - 1, bool)
    for mask in masks:
        rows = mask[order].reshape(len(order), -1)
        flips |= (rows[1:] != rows[:-1]).any(1)
    values = np.reshape(values, (len(order), -1))[order]
    width = np.diff(positions[order])
    change = np.max(np.abs(np.diff(values, axis=0)), axis=1, initial=0.0)
    usual = np.where(flips | (width <= 0), 0.0, change / np.where(width > 0, width, 1.0))
    near = np.maximum(np.append(usual[1:], 0.0), np.append(0.0, usual[:-1]))
    scale = np.max(np.abs(values), initial=0.0)
    found = np.nonzero(flips & (change > 1e-3 * scale) & (change > 10 * near * width))[0]
    return float(positions[order][found[0]]) if len(found) else None


def _at_numbers(formula: Formula) -> AnyFunction:
    """A formula that is computed element by element, at many points."""

    def mapped(*given: Any) -> Any:
        out = formula(*given)
        return out if getattr(out, "ndim", 0) else ops.broadcast_to(as_array(out), given[0].shape)

    return mapped


_patterns: OrderedDict[Any, Any] = OrderedDict()  # those that were used last
_lock = threading.Lock()


def _pattern_of(formula: Formula, given: list[Any]) -> Any:
    """The pattern of the Jacobian of a formula by its second argument.

    All arguments vary: so the pattern depends on their shapes alone, and serves again in the next
    step of a fit.
    """
    key = formula.key(), tuple((np.shape(x), np.dtype(x.dtype)) for x in given)
    with _lock:
        found = _patterns.pop(key, None)
    if found is None:
        moving = tuple(i for i, x in enumerate(given) if is_floating(x))
        found = sparsity(formula, *given, argnums=moving)
        start = given[0].size if 0 in moving else 0
        found = found[:, start : start + given[1].size]
    with _lock:
        _patterns[key] = found
        while len(_patterns) > _KEPT:
            _patterns.popitem(last=False)
    return found
