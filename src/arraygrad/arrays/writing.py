"""Writing to batched and dual arrays.

There is no memory to write to: the array inside is replaced, and with it those inside the views of
the object that was written. Arrays that the transform was given are never changed.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

from ..core.array import Array
from ..core.indices import at
from ..core.versions import about_to_write, mark_written
from ..errors import OuterWriteError
from ..ops.define.op import Op
from ..ops.indexing import _getitem
from ..ops.regions import Region, Step
from ..ops.shape import _broadcast_to
from ..ops.writing import detached, put, put_detached
from .changes import InPlace
from .inplace import check_cast, value_for
from .layout import Origin, is_view, refuse_unsure


class Replaceable(InPlace):
    """An array under a transform that can be written."""

    __slots__ = ()

    def _take_over(self, other: Any) -> None:
        """Become what another object of the same type is."""
        raise NotImplementedError

    def _change(self, function: Any, args: Any, kwargs: Any, name: str) -> None:
        result = function(self, *args, **kwargs)
        if result.shape != self.shape:  # type: ignore[attr-defined]
            raise ValueError(
                f"{name} gave shape {result.shape} for an array of shape "
                f"{self.shape}: what is written in place cannot make the array larger"  # type: ignore[attr-defined]
            )
        check_cast(result.dtype, self.dtype)  # type: ignore[attr-defined]
        _replace(self, None, result, name)

    def _assign(self, index: tuple[Any, tuple[Any, ...]], value: Any, name: str) -> None:
        if _is_that_part(self, index, value):
            return  # the last step of `x[i] += y`: it is there already
        _replace(self, index, value_for(self, index, value), name)


def _origin(array: Any) -> tuple[Any, tuple[Step, ...]]:
    linked = getattr(array, "_linked", None)
    return (array, ()) if linked is None else (linked.base, linked.steps)


def _is_that_part(array: Any, index: Any, value: Any) -> bool:
    """Whether `value` is a view of just the part that it would be written to."""
    base, steps = _origin(array)
    found = getattr(value, "_linked", None)
    if found is None or index[1] or found.base is not base:
        return False
    return bool(found.steps == (*steps, (_getitem, {"template": index[0]})))


def _replace(array: Any, index: Any, value: Any, name: str) -> None:
    """Put a value into a part of an array, and so of its base and the base's other views."""
    base, steps = _origin(array)
    if isinstance(value, Array) and value.level > base.level:
        raise OuterWriteError(
            f"a value of an inner transform cannot be written into a {type(base).__name__} array "
            "from outside it: make a new array, x = x + y for x += y"
        )
    if any(function is _broadcast_to for function, _ in steps):
        raise RuntimeError(
            "the array cannot be written: it is a broadcast, in which several elements are one. "
            "Write to a clone() of it"
        )
    about_to_write(base)
    linked = getattr(array, "_linked", None)
    if linked is not None and linked.is_unsure:
        refuse_unsure("the array cannot be written")
    views = _views(base)
    if any(view._linked.is_unsure for view in views):
        refuse_unsure("the array cannot be written while a reshaped one is in use")
    is_detached = linked is not None and linked.is_detached
    is_all = index is None and not steps and not is_detached
    if is_all and type(value) is type(base) and value.dtype == base.dtype:
        base._take_over(value)
    else:
        write = put_detached if is_detached else put
        region = Region(tuple(base.shape), steps, index)
        base._take_over(write(base, value, region=region))
    mark_written(base, name)
    for view in views:
        now = base
        for function, keywords in view._linked.steps:
            now = function(now, **keywords)
        view._take_over(now)


def _views(base: Any) -> list[Any]:
    """The views of an array that live."""
    views = [reference() for reference in list(getattr(base, "_views", {}).values())]
    return [view for view in views if view is not None]


def link(op: Op, source: Any, params: dict[str, Any], result: Any) -> None:
    """Note that an op made a view of its input, if it did."""
    if not op.multiple:
        shares = is_view(op, source, params, result)
        if shares is not False:
            _link(source, (op.function, params), result)
            if shares is None:
                result._linked.is_unsure = True
        return
    for i, part in enumerate(result) if source.ndim > 1 else ():
        _link(source, (_getitem, {"template": at(i, params["axis"], source.ndim)}), part)


def link_detached(source: Any, result: Any) -> None:
    """Note that a result has the values of an array without its derivatives."""
    _link(source, (detached, {}), result)


def _link(source: Any, step: Step, result: Any) -> None:
    origin = result._linked = Origin(source, getattr(source, "_linked", None), step)
    base = origin.base
    views: dict[int, Any] | None = getattr(base, "_views", None)
    if views is None:
        views = base._views = {}
    forget = functools.partial(_forget, views, id(result))
    views[id(result)] = weakref.ref(result, forget)


def _forget(views: dict[int, Any], key: int, _: Any) -> None:
    views.pop(key, None)
