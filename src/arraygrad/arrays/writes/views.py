"""Views: arrays that are a part of another one, for tensors and for arrays under transforms.

In NumPy, a `reshape` that merges axes is a view if the elements lie in the right order in memory,
and else a copy. The views of a C-contiguous NumPy array lie in memory here as they do in NumPy. In
a batch, in another library, and in a result that is not C-contiguous, the elements may lie in
another order than in NumPy. A reshape that merges axes there is *unsure*: its result can be read,
but neither the result nor its base can be written while that would make a difference. So a program
means the same everywhere, or it is refused.
"""

from __future__ import annotations

import weakref
from typing import Any

from numpy import generic, ndarray

from ...backends import backend_of
from ...core.array import is_over
from ...core.indices import Template, is_item
from ...core.kinds import Moves
from ...core.memory import owner_of
from ...core.nodes import recorder
from ...ops.define.library import declare
from ...ops.define.op import Op
from ...ops.indexing import _getitem
from ...ops.regions import Step
from ...ops.writing import detached


def _outdated(xp: Any, x: Any) -> Any:
    raise RuntimeError(
        "a Function returned the tensor as a view of its input, which has been written since: what "
        "the view's gradient is now, its backward does not know. Return a clone() from forward"
    )


# The step from an input of a `Function` to an output that shares its memory.
by_function = declare("by_function", "x", compute=_outdated, kind=Moves(shares=True))


class Family:
    """An array and its views.

    Attributes
    ----------
    stamp : int
        How often the views' places in the graph, or their arrays, have become out of date.
    recorded : int
        How many writes have been recorded.
    has_unsure : bool
        Whether there is, or was, a view that may be a copy.
    views : dict or None
        The views that live, if a write to the base replaces their arrays, or if the base may move
        to another level; else None.
    """

    __slots__ = ("has_unsure", "recorded", "stamp", "views")

    def __init__(self, base: Any) -> None:
        self.stamp = 0
        self.recorded = 0
        self.has_unsure = False
        remembers = base._is_replaced or hasattr(base, "_born")
        self.views: dict[int, weakref.ref[Any]] | None = {} if remembers else None

    def add(self, view: Any) -> None:
        """Remember a view for as long as it lives."""
        views, key = self.views, id(view)
        assert views is not None
        views[key] = weakref.ref(view, lambda _: views.pop(key, None))

    def alive(self) -> list[Any]:
        """The views that live, of those that are remembered."""
        views = [reference() for reference in list((self.views or {}).values())]
        return [view for view in views if view is not None]


class PartOf:
    """How an array is a part of another: which array, and the steps that lead to the part.

    Attributes
    ----------
    base : array
        The array at the root, which is no view itself.
    steps : tuple of (function, keywords)
        The ops that lead from the base to the view.
    is_detached : bool
        Whether one of the steps is `detach`, so that writes change only the values of the base.
    is_unsure : bool
        Whether one of the steps may have copied.
    family : Family
        The base and its views.
    seen : int
        The family's stamp when the view last took its place in the graph.
    unrecorded : int or None
        For a view that was made under `no_grad`: the number of recorded writes at that time.
    """

    __slots__ = ("base", "family", "is_detached", "is_unsure", "seen", "steps", "unrecorded")

    def __init__(self, source: Any, step: Step) -> None:
        view = getattr(source, "_view", None)
        made_unseen = recorder() is None
        self.is_detached, self.is_unsure = step[0] is detached, False
        if view is None:
            self.base, self.steps = source, (step,)
            family = getattr(source, "_family", None)
            if family is None:
                family = source._family = Family(source)
        else:
            self.base, self.steps = view.base, (*view.steps, step)
            self.is_detached, self.is_unsure = self.is_detached or view.is_detached, view.is_unsure
            family = view.family
            made_unseen = made_unseen or view.unrecorded is not None
        self.family = family
        self.seen = family.stamp
        self.unrecorded = family.recorded if made_unseen else None

    def is_at(self, array: Any, index: tuple[Template, tuple[Any, ...]]) -> bool:
        """Whether this is the part of `array` at an index, by the steps that lead to it."""
        base, steps = base_and_steps(array)
        wanted = (*steps, (_getitem, {"template": index[0]}))
        return not index[1] and self.base is base and self.steps == wanted


def base_and_steps(array: Any) -> tuple[Any, tuple[Step, ...]]:
    """The array at the root of a view, and the steps that lead to the view."""
    view = getattr(array, "_view", None)
    return (array, ()) if view is None else (view.base, view.steps)


def is_view(op: Op, source: Any, params: dict[str, Any], result: Any) -> bool | None:
    """Whether the result of an op shares its elements with the only input; None if unsure."""
    if op.view == "index":
        return not is_item(params["template"])
    if op.view == "part":
        is_complex = backend_of(source).kind(source.dtype) == "c"
        return is_complex or op.kind.part == "real"  # type: ignore[attr-defined]
    if op.view != "reshape" or params.get("copy"):
        return op.view == "always"
    if _merges_nothing(source.shape, params["shape"]):
        return True
    if not is_ordered(source):
        return None
    return is_shared(memory_of(source), memory_of(result))


def is_ordered(x: Any) -> bool:
    """Whether the elements are known to lie in memory as they would in NumPy."""
    base = memory_of(base_and_steps(x)[0])
    return base is not None and bool(base.flags.c_contiguous)


def is_shared(source: Any, array: Any) -> bool:
    """Whether what a step made of an array shares its memory, if it is NumPy's."""
    if isinstance(array, ndarray):
        owner = array.base
        if owner is None:
            return array is source
        return owner is source or owner is source.base or owner_of(owner) is owner_of(source)
    return not isinstance(array, generic)


def memory_of(x: Any) -> Any:
    """The NumPy array under all transforms; None in a batch, and in another library."""
    while is_over(x):
        if x.ndim != x._array.ndim:
            return None
        x = x._array
    return x if isinstance(x, ndarray) else None


def _merges_nothing(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a reshape keeps each axis, or cuts it into several: then it never has to copy."""
    rest = [n for n in reversed(wanted) if n != 1]
    for n in shape:
        part = 1
        while part < n and rest:
            part *= rest.pop()
        if part != n:
            return False
    return True


def refuse_unsure(what: str) -> None:
    """Raise the error for a write that is clear only if it is known what `reshape` has done."""
    raise RuntimeError(
        f"{what}: the result of reshape() or ravel() may be a view or a copy. NumPy decides it by "
        "the order of the elements in memory, which may differ here: in a batch, in another "
        "library, or because the array was computed from a transposed one. Make a copy of the "
        "result, by copy(), and write to that; or make the array that is reshaped by zeros()"
    )
