"""Writing to batched and dual arrays.

There is no memory to write to: the array inside is replaced, and with it those inside the views of
the object that was written. Arrays that the transform was given are never changed.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...core.array import Array
from ...core.closing import refuse_write
from ...core.indices import at
from ...core.versions import about_to_write, mark_written
from ...errors import OuterWriteError
from ...ops.define.op import Op
from ...ops.indexing import _getitem
from ...ops.regions import Region, Step
from ...ops.shape import _broadcast_to
from ...ops.writing import detached, put, put_detached
from .methods import InPlace
from .tensors import TensorInPlace, check_cast, value_for
from .views import PartOf, base_and_steps, is_view, refuse_unsure


class Replaceable(InPlace):
    """An array under a transform that can be written.

    `_parts` names what a write replaces: the array inside, and what the transform adds to it.
    """

    __slots__ = ("__weakref__", "_array", "_family", "_stamp", "_view")
    _is_replaced = True
    _parts: ClassVar[tuple[str, ...]] = ("_array",)

    @property
    def _is_number(self) -> bool:
        return not self.ndim and getattr(self, "_view", None) is None  # type: ignore[attr-defined]

    def _take_over(self, other: Any) -> None:
        """Become what another object of the same type is."""
        for name in self._parts:
            setattr(self, name, getattr(other, name))

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
        view = getattr(value, "_view", None)
        if view is not None and view.is_at(self, index):
            return  # the last step of `x[i] += y`: it is there already
        _replace(self, index, value_for(self, index, value), name)


def _replace(array: Any, index: Any, value: Any, name: str) -> None:
    """Put a value into a part of an array, and so of its base and the base's other views."""
    base, steps = base_and_steps(array)
    refuse_write(base)
    if isinstance(value, TensorInPlace) and value.level == base.level + 0.5:
        if not value.requires_grad:  # type: ignore[attr-defined]
            value = value._array  # of a tensor made by hand in this transform, as by zeros_like()
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
    view, family = getattr(array, "_view", None), getattr(base, "_family", None)
    if view is not None and view.is_unsure:
        refuse_unsure("the array cannot be written")
    if family is not None and any(other._view.is_unsure for other in family.alive()):
        refuse_unsure("the array cannot be written while a reshaped one is in use")
    is_detached = view is not None and view.is_detached
    is_all = index is None and not steps and not is_detached
    if is_all and type(value) is type(base) and value.dtype == base.dtype:
        base._take_over(value)
    else:
        write = put_detached if is_detached else put
        region = Region(tuple(base.shape), steps, index)
        base._take_over(write(base, value, region=region))
    mark_written(base, name)
    refresh_views(base)


def refresh_views(base: Any) -> None:
    """Give the views of an array that was replaced their new values."""
    family = getattr(base, "_family", None)
    for view in () if family is None else family.alive():
        now = base
        for function, keywords in view._view.steps:
            now = function(now, **keywords)
        view._take_over(now)


def link(op: Op, source: Any, params: dict[str, Any], result: Any) -> None:
    """Note that an op made a view of its input, if it did."""
    if not op.multiple:
        shares = is_view(op, source, params, result)
        if shares is not False:
            _link(source, (op.function, params), result)
            if shares is None:
                result._view.is_unsure = True
        return
    for i, part in enumerate(result) if source.ndim > 1 else ():
        _link(source, (_getitem, {"template": at(i, params["axis"], source.ndim)}), part)


def link_detached(source: Any, result: Any) -> None:
    """Note that a result has the values of an array without its derivatives."""
    _link(source, (detached, {}), result)


def _link(source: Any, step: Step, result: Any) -> None:
    result._view = PartOf(source, step)
    result._view.family.add(result)
