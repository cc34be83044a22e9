"""Arrays that share their memory with another, and know how they came about."""

from __future__ import annotations

import weakref
from typing import Any

from numpy import generic, ndarray

from ..core.memory import owner_of
from ..core.nodes import recorder
from ..ops.regions import Step
from ..ops.writing import detached
from .layout import Origin


class Family:
    """A tensor and its views.

    Attributes
    ----------
    stamp : int
        How often the views' places in the graph, or their arrays, have become out of date.
    recorded : int
        How many writes have been recorded.
    moved : bool
        Whether the base has been given other memory, which views of NumPy arrays have to follow.
    views : dict or None
        The views that live, for a base that may yet move to another level; None for any other.
    """

    __slots__ = ("moved", "recorded", "stamp", "views")

    def __init__(self, base: Any) -> None:
        self.stamp = 0
        self.recorded = 0
        self.moved = False
        self.views: dict[int, weakref.ref[Any]] | None = {} if hasattr(base, "_born") else None

    def add(self, view: Any) -> None:
        """Remember a view for as long as it lives."""
        views, key = self.views, id(view)
        assert views is not None
        views[key] = weakref.ref(view, lambda _: views.pop(key, None))


class ViewOf(Origin):
    """How a view of a tensor came about, and where it stands.

    Attributes
    ----------
    family : Family
        Of the base.
    seen : int
        The family's stamp when the view last took its place in the graph.
    unrecorded : int or None
        For a view that was made under `no_grad`: the number of recorded writes at that time.
    """

    __slots__ = ("family", "seen", "unrecorded")

    def __init__(self, source: Any, step: Step) -> None:
        # As `Origin` does it, without another call.
        origin = source._view
        made_unseen = recorder() is None
        if origin is None:
            self.base, self.steps = source, (step,)
            contiguous, self.is_detached = getattr(source, "_given", None) is None, False
            family = getattr(source, "_family", None)
            if family is None:
                family = source._family = Family(source)
        else:
            self.base, self.steps = origin.base, (*origin.steps, step)
            contiguous, self.is_detached = origin.is_contiguous, origin.is_detached
            family = origin.family
            made_unseen = made_unseen or origin.unrecorded is not None
        self.is_contiguous = contiguous and step[0].op.view == "reshape"  # type: ignore[attr-defined]
        if step[0] is detached:
            self.is_detached = True
        self.family = family
        self.seen = family.stamp
        self.unrecorded = family.recorded if made_unseen else None


def is_shared(source: Any, array: Any) -> bool:
    """Whether what a step made of an array shares its memory, if it is NumPy's."""
    if isinstance(array, ndarray):
        owner = array.base
        if owner is None:
            return array is source
        return owner is source or owner is source.base or owner_of(owner) is owner_of(source)
    return not isinstance(array, generic)
