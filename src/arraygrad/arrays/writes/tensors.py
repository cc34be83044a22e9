"""Writing to tensors.

A write changes the memory, and gives the tensor a new place in the graph. Writing to a view is
writing to a part of its base; the other views of that base notice when they are next used, and
take their place in the graph from it anew.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy import generic, ndarray

from ... import ops
from ...backends import backend_of, default
from ...backends.dtypes import numpy_dtype
from ...core.array import Array
from ...core.closing import refuse_write
from ...core.cpython import ALONE, getrefcount
from ...core.indices import fill
from ...core.memory import owner_of
from ...core.modes import current_modes
from ...core.nodes import Leaf, Node, record, recorder, stage
from ...core.saved import user_lines
from ...core.versions import about_to_write, mark_written, version, writes_to
from ...errors import MixedArraysError, OuterWriteError
from ...ops.define.adoption import in_library_of, is_made
from ...ops.regions import Region
from ...ops.shape import _broadcast_to
from ...ops.writing import put, put_detached
from .methods import InPlace
from .views import PartOf, base_and_steps, by_function, refuse_unsure


class TensorInPlace(InPlace):
    """Writing to tensors."""

    __slots__ = ()
    level: ClassVar[float]
    _array: Any
    _node: Any
    _view: PartOf | None = None

    @property
    def _version(self) -> int:
        """How many times the tensor's memory has been written."""
        return version(holder_of(self))

    @property
    def _base(self) -> Any:
        """The tensor that this one is a view of; None if it is none."""
        return None if self._view is None else self._view.base

    @property
    def _is_number(self) -> bool:
        array = self._array
        if isinstance(array, ndarray) or array.ndim or self._view is not None:
            return False
        if isinstance(array, InPlace):
            return array._is_number
        return self._node is not None or not self.requires_grad  # type: ignore[attr-defined]

    def detach_(self) -> Self:
        """Cut this tensor itself off from the graph."""
        if self._view is not None:
            raise RuntimeError(
                "a view cannot be cut off from the graph alone, without its base: use detach()"
            )
        self._node = None
        return self

    def _change(self, function: Any, args: Any, kwargs: Any, name: str) -> None:
        join_level(self, args)
        check_writable(self, args)
        before, *others = _unaffected(self, function, args, kwargs)
        result = function(before, *others, **kwargs)
        if result.shape != self.shape:  # type: ignore[attr-defined]
            raise ValueError(
                f"{name} gave shape {result.shape} for a tensor of shape "
                f"{self.shape}: what is written in place cannot make the tensor larger"  # type: ignore[attr-defined]
            )
        if result.dtype != self.dtype:  # type: ignore[attr-defined]
            check_cast(result.dtype, self.dtype)  # type: ignore[attr-defined]
            result = ops.astype(result, self.dtype)  # type: ignore[attr-defined]
        is_detached = self._view is not None and self._view.is_detached
        if is_detached and result._node is not None:
            put_detached(self, result, Region(self.shape))  # type: ignore[attr-defined]  # raises
        _store(self, None, result._array, name)
        if recorder() is None or is_detached:
            return
        if self._view is not None:
            put_into_base(self, None, result._node)
        elif result._node is not None or self._node is not None:
            move(self, result._node)

    def _assign(self, index: tuple[Any, tuple[Any, ...]], value: Any, name: str) -> None:
        if isinstance(value, Array) and value.level > self.level:
            join_level(self, (value,))
        check_writable(self, (value,))
        if _is_that_part(self, index, value):
            return  # the last step of `x[i] += y`: it is there already
        ours = _is_at(value, self.level)
        if not (ours and _fits(self._array, index, value._array)):
            value = value_for(self, index, value)
            ours = _is_at(value, self.level)
        if ours and _shares(value._array, self._array):
            value = _apart(value)
        recording = recorder() is not None
        node = value._node if recording and ours else None  # which may be refused: nothing is done
        if self._view is not None and self._view.is_detached:
            if node is not None:
                put_detached(self, value, Region(self.shape, (), index))  # type: ignore[attr-defined]  # raises
            recording = False
        _store(self, index, value._array if ours else value, name)
        if recording:
            put_into_base(self, index, node)


# --- may it be written? --------------------------------------------------------------------------


def _history(tensor: Any) -> Any:
    """The tensor whose place in the graph a write changes."""
    return tensor if tensor._view is None else tensor._view.base


def holder_of(tensor: Any) -> Any:
    """The object for which writes are noted: the memory, or the base if its array is replaced."""
    array = tensor.array
    return array if isinstance(array, ndarray) else _history(tensor)


def check_writable(tensor: Any, values: tuple[Any, ...]) -> None:
    """Raise if writing the tensor could not be right."""
    if stage() is not record:
        refuse_write(tensor)
    if tensor.is_inference and not current_modes().inference:
        raise RuntimeError(
            "an inference tensor cannot be written outside inference_mode: clone() it first"
        )
    array = tensor.array
    if isinstance(array, ndarray) and not array.flags.writeable:
        raise RuntimeError(
            "the tensor cannot be written: its array is read-only, or a broadcast in which "
            "several elements are one in memory. Write to a clone() of it"
        )
    view = tensor._view
    if view is not None and view.is_unsure:
        refuse_unsure("the tensor cannot be written")
    for function, _ in () if view is None else view.steps:
        if function is by_function and _is_recorded(tensor, values):
            raise RuntimeError(
                "the tensor cannot be written: a Function returned it as a view of its input, and "
                "its backward knows nothing of the write. Write to a clone() of it"
            )
        if function is _broadcast_to:
            raise RuntimeError(
                "the tensor cannot be written: it is a broadcast, in which several elements are "
                "one. Write to a clone() of it"
            )
    if recorder() is None or (view is not None and view.is_detached):
        return  # only values change
    base = _history(tensor)
    if isinstance(base._node, Leaf) or isinstance(tensor._node, Leaf):
        what = "a leaf that requires gradients" if view is None else "a view of such a leaf"
        raise RuntimeError(
            f"{what} cannot be written in place: its gradient would have no place to go. Write to "
            "a clone(), or under no_grad() if the change should not be differentiated"
        )
    if view is not None and view.unrecorded is not None:
        if base._node is not None or any(getattr(v, "requires_grad", False) for v in values):
            raise RuntimeError(
                "the tensor is a view that was made under no_grad(), so a write to it cannot be "
                "differentiated: make the view outside, or write under no_grad()"
            )


def _is_recorded(tensor: Any, values: tuple[Any, ...]) -> bool:
    """Whether the write must be recorded."""
    if recorder() is None:
        return False
    parts = (tensor, _history(tensor), *values)
    return any(getattr(part, "_node", None) is not None for part in parts)


def join_level(tensor: Any, values: tuple[Any, ...]) -> None:
    """Move a constant that was made inside a transform to the level of the values to write."""
    top: float = 0
    for value in values:
        if isinstance(value, Array) and value.level > top:
            top = value.level
    if top <= tensor.level:
        return
    base = _history(tensor)
    if base._node is not None or getattr(base, "_born", 0) < int(top):
        raise OuterWriteError(
            "a value of an inner transform cannot be written into a tensor from outside it, where "
            "it would outlive the transform: make the tensor inside, by zeros_like() of an "
            "argument or zeros(), or join the values by stack()"
        )
    base._move_to_level(top if any(_is_at(v, top) for v in values) else top + 0.5)


def _is_at(value: Any, level: float) -> bool:
    """Whether a value is a tensor at a level."""
    return isinstance(value, TensorInPlace) and value.level == level


def _unaffected(tensor: Any, function: Any, args: Any, kwargs: Any) -> list[Any]:
    """The tensor and the other operands, as they are before the write, for the graph to save."""
    operands = [tensor, *args]
    if recorder() is None:
        return operands
    wanted = tuple([i for i, v in enumerate(operands) if getattr(v, "_node", None) is not None])
    if not wanted:
        return operands
    op = getattr(function, "op", None)
    if op is None:  # made of several ops, which may save anything
        saved: Any = range(len(operands))
    else:
        pullback = op.pullback(wanted)
        saved = () if pullback is None else pullback.sources
    for i in saved:
        if i is not None and i >= 0 and hasattr(operands[i], "_node"):
            if _shares(operands[i]._array, tensor._array):
                operands[i] = _apart(operands[i])
    return operands


def _apart(tensor: Any) -> Any:
    """A tensor at the same place in the graph, with a copy of the values."""
    return tensor.like(np.array(tensor._array), tensor._node)


def _shares(a: Any, b: Any) -> bool:
    both = isinstance(a, ndarray) and isinstance(b, ndarray)
    return both and owner_of(a) is owner_of(b)


def _fits(array: Any, index: tuple[Any, tuple[Any, ...]], value: Any) -> bool:
    """Whether a value can be written as it is, as most often: without changes or further checks."""
    if index[1] or type(array) is not ndarray:
        return False
    if type(value) is not ndarray and not isinstance(value, generic):
        return False
    return value.dtype is array.dtype and value.shape == array[index[0]].shape


def value_for(array: Any, index: tuple[Any, tuple[Any, ...]], value: Any) -> Any:
    """A value as it can be written to a part of an array: of the right kind and shape."""
    if not hasattr(value, "dtype") and not isinstance(value, (bool, int, float, complex)):
        value = np.asarray(value)
        if value.dtype.kind not in "biufc":
            raise TypeError(f"only numbers and arrays can be written, not {value!r}")
        value = in_library_of(array, value)
    elif isinstance(value, generic) and backend_of(array) is not default:
        value = value.item()
    elif (
        type(value._array if isinstance(value, Array) else value) is not type(array._array)
        and hasattr(value, "dtype")
        and backend_of(value).xp is not backend_of(array).xp
    ):
        if not is_made(value):
            raise MixedArraysError(
                f"an array of {backend_of(value).name} cannot be written to one of "
                f"{backend_of(array).name}: convert it first"
            )
        value = in_library_of(array, value)
    if not hasattr(value, "dtype"):
        if isinstance(value, complex) and backend_of(array).kind(array.dtype) != "c":
            raise TypeError(
                f"a complex number cannot be written into dtype {array.dtype}: take its real part"
            )
        if isinstance(value, float) and not value.is_integer():
            if backend_of(array).kind(array.dtype) not in "fc":
                raise TypeError(
                    f"{value} cannot be written into dtype {array.dtype}: round it, or make the "
                    "array one of floating-point numbers"
                )
        return value
    check_cast(value.dtype, array.dtype)
    inside = array._array
    if not index[1] and type(inside) is ndarray and inside.ndim == array.ndim:
        wanted = inside[index[0]].shape
    else:
        wanted = Region(array.shape, (), index).read(np.broadcast_to(False, array.shape)).shape
    if value.shape == wanted:
        return value
    extra = value.ndim - len(wanted)
    if extra > 0 and tuple(value.shape[:extra]) == (1,) * extra:
        value = ops.reshape(value, value.shape[extra:])
    if ops.broadcast_shapes(wanted, tuple(value.shape)) != wanted:
        raise ValueError(
            f"a value of shape {tuple(value.shape)} cannot be written to a part of shape {wanted}"
        )
    return value


def check_cast(given: Any, wanted: Any) -> None:
    """Raise if values of one dtype would lose more than digits in another."""
    try:
        if not isinstance(given, np.dtype) or not isinstance(wanted, np.dtype):
            given, wanted = numpy_dtype(given), numpy_dtype(wanted)
        fits = np.can_cast(given, wanted, "same_kind")
    except TypeError:  # one that NumPy does not have
        fits = given == wanted
    if not fits:
        raise TypeError(
            f"values of dtype {given} cannot be written into dtype {wanted}: convert them with "
            "astype()"
        )


def _is_that_part(tensor: Any, index: Any, value: Any) -> bool:
    """Whether `value` is a view of just the part that it would be written to."""
    view = getattr(value, "_view", None)
    if view is None or view.base is not _history(tensor) or index[1]:
        return False
    # As it was: `_node` would record the steps from the base again.
    if view.unrecorded is not None or isinstance(value._node_now, Leaf):
        return False
    if view.is_at(tensor, index):
        return True
    if not isinstance(value._array, ndarray):
        return False
    part = Region(tensor.shape, (), index).read(tensor._array)
    mine, theirs = value._array.__array_interface__, part.__array_interface__
    return bool(
        mine["data"] == theirs["data"]
        and value._array.shape == part.shape
        and value._array.strides == part.strides
        and value._array.dtype == part.dtype
    )


# --- writing -------------------------------------------------------------------------------------


def _store(tensor: Any, index: Any, value: Any, name: str) -> None:
    """Change the memory of a tensor, or, where that cannot be written, its array."""
    keeps = keeps_replaced(tensor)
    array = tensor.array
    if isinstance(array, ndarray) and isinstance(value, Array):
        value = value.concrete()
    if isinstance(array, ndarray) and not isinstance(value, Array):
        writes = writes_to(array)
        for refuse in writes.before:
            refuse()
        part = None if index is None else fill(*index)
        replaced = None
        if keeps:
            replaced = (array if part is None else array[part]).copy()
        # Noted first: an interrupt in between does no harm.
        writes.mark(array, name, _line(), part, replaced)
        array[... if part is None else part] = value
        base = _history(tensor)
        if hasattr(value, "dtype"):  # it holds what a user brought, now
            base._made = False
        family = getattr(base, "_family", None)
        if family is not None and family.has_unsure:
            family.stamp += 1
        return
    base, steps = base_and_steps(tensor)
    about_to_write(base)
    region = Region(tuple(base.shape), steps, index)
    if tensor._view is not None and tensor._view.is_detached:
        base._array = put_detached(base.array, value, region)
    else:
        base._array = put(base.array, value, region=region)
    mark_written(base, name, _line())
    _bump(base)


def keeps_replaced(tensor: Any) -> bool:
    """Whether a write to a tensor has to keep the values that it replaces.

    It has, unless that is switched off, if anything but the tensor and its base refers to the
    memory: it may be a node that saved it. Where references are not counted, it always has. A user
    who brought the memory may refer to it, too. `Past` knows how many references are not nodes'.
    """
    if current_modes().keeps_written is False:
        return False
    view = tensor._view
    base = tensor if view is None else view.base
    owner = base._array
    if not isinstance(owner, ndarray):
        return False
    if owner.base is not None and view is None:  # what a user brought
        owner = owner_of(owner)
        return owner.base is not None or _is_saved(owner, getrefcount(owner))
    if owner.base is not None:
        return True
    known = ALONE + 1 if getattr(base, "_leaf", None) is None else ALONE + 2
    if view is not None:
        array = tensor._array
        if array.base is not owner or getrefcount(array) > ALONE + 1:
            return True
        known += 1
    count = getrefcount(owner)
    return count > known and (view is not None or _is_saved(owner, count))


def _is_saved(owner: Any, count: int) -> bool:
    """Whether one of `count` references to memory may be a node's reference."""
    past = writes_to(owner).past
    past.references = count
    return count > past.others


def _line() -> str | None:
    """The user's line that writes, under anomaly detection."""
    if recorder() is record:
        return None
    return None if current_modes().anomaly is None else user_lines()


def put_into_base(tensor: Any, index: Any, node_value: Node | None) -> None:
    """Record that a part of a tensor, and so of its base, now is a value with that node."""
    base, steps = base_and_steps(tensor)
    node_x = base._node
    edges: tuple[Node, ...]
    if node_x is not None and node_value is not None:
        pullback, edges = _PUT_BOTH, (node_x, node_value)
    elif node_x is not None:
        pullback, edges = _PUT_X, (node_x,)
    elif node_value is not None:
        pullback, edges = _PUT_VALUE, (node_value,)
    else:
        return
    array, make = base._array, recorder()
    assert make is not None
    shape = tuple(array.shape)
    move(base, make(pullback, edges, (Region(shape, steps, index),), shape, array.dtype))


# How cotangents get back through a write: to what was there before, and to the value.
_PUT_BOTH, _PUT_X, _PUT_VALUE = map(put.op.pullback, ((0, 1), (0,), (1,)))  # type: ignore[attr-defined]


def move(base: Any, node: Node | None) -> None:
    """Give a tensor that is no view another place in the graph, and let its views know."""
    before = base._node
    base._node = node
    if before is not None and before.extras is not None:
        keep_retaining(base, before, node)
    family = getattr(base, "_family", None)
    if family is not None:
        family.stamp += 1
        family.recorded += 1


def keep_retaining(tensor: Any, before: Node | None, after: Node | None) -> None:
    """Have a tensor that retains its gradient do so at its new place in the graph, too."""
    extras = None if before is None else before.extras
    if extras is not None and extras.retained is not None and extras.retained() is tensor:
        if after is not None and after is not before:
            extras.retained, after.extra().retained = None, extras.retained


def _bump(base: Any) -> None:
    """Let the views of a tensor know that they are out of date."""
    family = getattr(base, "_family", None)
    if family is not None:
        family.stamp += 1
