"""Arrays that share their memory with another, and know how they came about."""

from __future__ import annotations

import weakref
from typing import Any

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
    has_unsure : bool
        Whether there is, or was, a view that may be a copy; see `layout`.
    views : dict or None
        The views that live, for a base that may yet move to another level; None for any other.
    """

    __slots__ = ("has_unsure", "recorded", "stamp", "views")

    def __init__(self, base: Any) -> None:
        self.stamp = 0
        self.recorded = 0
        self.has_unsure = False
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
            self.is_detached = self.is_unsure = False
            family = getattr(source, "_family", None)
            if family is None:
                family = source._family = Family(source)
        else:
            self.base, self.steps = origin.base, (*origin.steps, step)
            self.is_detached, self.is_unsure = origin.is_detached, origin.is_unsure
            family = origin.family
            made_unseen = made_unseen or origin.unrecorded is not None
        if step[0] is detached:
            self.is_detached = True
        self.family = family
        self.seen = family.stamp
        self.unrecorded = family.recorded if made_unseen else None
