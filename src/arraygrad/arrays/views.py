"""Arrays that share their memory with another, and know how they came about."""

from __future__ import annotations

import weakref
from typing import Any

from numpy import generic, ndarray

from ..core.array import plain
from ..core.nodes import recorder
from ..core.versions import owner_of
from ..ops.regions import Step


class Family:
    """A tensor and its views.

    Attributes
    ----------
    stamp : int
        How often the views' places in the graph, or their arrays, have become out of date.
    recorded : int
        How many writes have been recorded.
    views : dict or None
        The views that live, for a base that may yet move to another level; None for any other.
    """

    __slots__ = ("recorded", "stamp", "views")

    def __init__(self, base: Any) -> None:
        self.stamp = 0
        self.recorded = 0
        self.views: dict[int, weakref.ref[Any]] | None = {} if hasattr(base, "_born") else None

    def add(self, view: Any) -> None:
        """Remember a view for as long as it lives."""
        views, key = self.views, id(view)
        assert views is not None
        views[key] = weakref.ref(view, lambda _: views.pop(key, None))


class ViewOf:
    """How a view came about.

    Attributes
    ----------
    base : Tensor
        The tensor at the root, which is no view itself.
    steps : tuple of (function, keywords)
        What leads from the base to the view.
    seen : int
        The family's stamp when the view last took its place in the graph.
    unrecorded : int or None
        For a view that was made under `no_grad`: the number of recorded writes at that time.
    """

    __slots__ = ("base", "family", "seen", "steps", "unrecorded")

    def __init__(self, source: Any, step: Step) -> None:
        origin = source._view
        made_unseen = recorder() is None
        if origin is None:
            self.base, self.steps = source, (step,)
            family = getattr(source, "_family", None)
            if family is None:
                family = source._family = Family(source)
        else:
            self.base, self.steps = origin.base, (*origin.steps, step)
            family = origin.family
            made_unseen = made_unseen or origin.unrecorded is not None
        self.family = family
        self.seen = family.stamp
        self.unrecorded = family.recorded if made_unseen else None


def is_shared(source: Any, array: Any) -> bool:
    """Whether what a step made of an array may share memory with it."""
    if isinstance(array, ndarray):
        owner = array.base
        if owner is None:
            return array is source
        return owner is source or owner is source.base or owner_of(owner) is owner_of(source)
    if isinstance(array, generic):
        return False
    if isinstance(plain(array), ndarray):  # under a transform: what holds for what is inside
        return owner_of(plain(array)) is owner_of(plain(source))
    return True
