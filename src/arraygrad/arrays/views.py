"""Tensors that share their memory with another, and know how they came about."""

from __future__ import annotations

import functools
from typing import Any

from numpy import generic, ndarray

from ..core.array import plain
from ..core.nodes import RECORDER, Leaf, Node, record, recorder
from ..core.versions import owner_of
from ..ops.indexing import _getitem
from .inplace import ViewOf, keep_retaining
from .tensor import Tensor, new, tensor_type_at


class View(Tensor):
    """A tensor that shares its memory with a base: writes to either show in both.

    Its place in the graph follows from the base's, and is found anew after the base, or another
    view of it, was written.
    """

    __slots__ = ("_array_now", "_node_now", "_view")
    _array_now: Any
    _node_now: Node | None
    _view: ViewOf

    @property
    def _node(self) -> Node | None:
        view = self._view
        if view.seen != view.family.stamp:
            self._refresh()
        return self._node_now

    @_node.setter
    def _node(self, node: Node | None) -> None:
        self._node_now = node

    @property
    def _array(self) -> Any:
        view = self._view
        if view.seen != view.family.stamp and type(view.base._array) is not ndarray:
            self._refresh()
        return self._array_now

    @_array.setter
    def _array(self, array: Any) -> None:
        self._array_now = array

    def _refresh(self) -> None:
        """Follow the steps from the base again."""
        view = self._view
        if view.unrecorded is not None and view.unrecorded != view.family.recorded:
            if recorder() is not None:
                raise RuntimeError(
                    "the tensor is a view that was made under no_grad(), and its base has since "
                    "been written by an operation that is differentiated: whether that should "
                    "show in the view's gradient is not clear. Make the view outside no_grad()"
                )
        value: Any = view.base
        node = None if view.unrecorded is not None else value._node
        own_leaf = node is None and isinstance(self._node_now, Leaf)
        base = tensor_type_at(self.level)(value._array, node)
        token = RECORDER.set(record)
        try:
            for function, keywords in view.steps:
                base = function(base, **keywords)
        finally:
            RECORDER.reset(token)
        if not own_leaf:
            keep_retaining(self, self._node_now, base._node)
            self._node_now = base._node
        if type(value._array) is not ndarray:  # not written but replaced
            self._array_now = base._array
        if view.unrecorded is None or view.unrecorded == view.family.recorded:
            view.seen = view.family.stamp


@functools.cache
def _view_type_at(level: float) -> type[View]:
    return type("Tensor", (View,), {"__slots__": (), "level": level})


def as_views(source: Any, axis: int, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """The slices of a tensor along an axis, as views of it."""
    lead = (slice(None),) * axis
    return tuple(
        as_view(source, (_getitem, {"template": (*lead, i, Ellipsis)}), part)
        for i, part in enumerate(parts)
    )


def as_view(source: Any, step: Any, result: Any) -> Any:
    """The result of a step that may share memory with its input: a view, if it does."""
    array = result._array
    if result.is_inference or not is_shared(source._array, array):
        return result
    return view_of(source, step, array, result._node)


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


def view_of(source: Any, step: Any, array: Any, node: Node | None) -> View:
    """A view of a tensor, or of what that is a view of."""
    origin = ViewOf(source, step)
    view = new(_view_type_at(source.level))
    view._view = origin
    view._array_now = array
    view._node_now = node
    if origin.family.views is not None:
        origin.family.add(view)
    return view


def move_to_level(base: Tensor, level: float) -> None:
    """Make a tensor that is in no graph, and its views, tensors of a higher level."""
    base.__class__ = tensor_type_at(level)
    family = getattr(base, "_family", None)
    if family is not None and family.views:
        for reference in list(family.views.values()):
            view = reference()
            if view is not None:
                view.__class__ = _view_type_at(level)
