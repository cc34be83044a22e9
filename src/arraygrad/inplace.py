"""Writing to tensors: assignment to parts, augmented operators, methods with a trailing underscore.

A write changes the memory, and gives the tensor a new place in the graph. Writing to a view is
writing to a part of its base; the other views of that base notice when they are next used, and
take their place in the graph from it anew.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import ops
from .graph import INFERENCE, Leaf, Node, recorder
from .ops.indexing import split_index
from .ops.op import Array
from .ops.writing import Region, Step, put
from .versions import last_write, mark_written, owner_of, version, writes_to


class Family:
    """A tensor and its views: how often any of them was written."""

    __slots__ = ("__weakref__", "stamp")

    def __init__(self) -> None:
        self.stamp = 0


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
    recorded : bool
        False for a view that was made under `no_grad`.
    """

    __slots__ = ("base", "family", "recorded", "seen", "steps")

    def __init__(self, source: Any, step: Step) -> None:
        origin = source._view
        if origin is None:
            self.base, self.steps = source, (step,)
            self.family = getattr(source, "_family", None) or Family()
            source._family = self.family
        else:
            self.base, self.steps = origin.base, (*origin.steps, step)
            self.family = origin.family
        self.seen = self.family.stamp
        self.recorded = recorder() is not None


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method that replaces a tensor's values by `function` of them."""

    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_writable(self, args)
        before, *others = _unaffected(self, args)
        replace_values(self, function(before, *others, **kwargs))
        return self

    method.__name__ = method.__qualname__ = f"{function.__name__}_"
    method.__doc__ = f"`{function.__name__}`, in place."
    return method


class InPlace:
    """What can be done to a tensor in place."""

    __slots__ = ()
    _array: Any
    _node: Any
    _view: ViewOf | None = None

    @property
    def _version(self) -> int:
        """How many times the tensor's memory has been written."""
        return version(self._array)

    @property
    def _base(self) -> Any:
        """The tensor that this one is a view of; None if it is none."""
        return None if self._view is None else self._view.base

    def __setitem__(self, key: Any, value: Any) -> None:
        write(self, split_index(self, key), value)

    def copy_(self, source: Any) -> Any:
        """Take over the values of another tensor, array or number, which may broadcast."""
        write(self, ((Ellipsis,), ()), source)
        return self

    def fill_(self, value: Any) -> Any:
        """Set all elements to one value."""
        if getattr(value, "ndim", 0):
            raise ValueError(f"fill_() takes a number, not an array of shape {value.shape}")
        return self.copy_(value)

    def zero_(self) -> Any:
        """Set all elements to zero."""
        return self.copy_(0)

    __iadd__ = add_ = _in_place(ops.add)
    __isub__ = sub_ = subtract_ = _in_place(ops.subtract)
    __imul__ = mul_ = multiply_ = _in_place(ops.multiply)
    __itruediv__ = div_ = divide_ = _in_place(ops.divide)
    __ifloordiv__ = floor_divide_ = _in_place(ops.floor_divide)
    __imod__ = remainder_ = _in_place(ops.remainder)
    __ipow__ = pow_ = _in_place(ops.pow)
    __iand__ = bitwise_and_ = _in_place(ops.bitwise_and)
    __ior__ = bitwise_or_ = _in_place(ops.bitwise_or)
    __ixor__ = bitwise_xor_ = _in_place(ops.bitwise_xor)
    __ilshift__ = bitwise_left_shift_ = _in_place(ops.bitwise_left_shift)
    __irshift__ = bitwise_right_shift_ = _in_place(ops.bitwise_right_shift)
    __imatmul__ = _in_place(ops.matmul)
    abs_ = _in_place(ops.abs)
    acos_ = _in_place(ops.acos)
    acosh_ = _in_place(ops.acosh)
    asin_ = _in_place(ops.asin)
    asinh_ = _in_place(ops.asinh)
    atan_ = _in_place(ops.atan)
    atan2_ = _in_place(ops.atan2)
    atanh_ = _in_place(ops.atanh)
    ceil_ = _in_place(ops.ceil)
    clamp_ = clip_ = _in_place(ops.clip)
    conj_ = _in_place(ops.conj)
    copysign_ = _in_place(ops.copysign)
    cos_ = _in_place(ops.cos)
    cosh_ = _in_place(ops.cosh)
    cumsum_ = cumulative_sum_ = _in_place(ops.cumulative_sum)
    cumprod_ = cumulative_prod_ = _in_place(ops.cumulative_prod)
    exp_ = _in_place(ops.exp)
    expm1_ = _in_place(ops.expm1)
    floor_ = _in_place(ops.floor)
    hypot_ = _in_place(ops.hypot)
    log_ = _in_place(ops.log)
    log10_ = _in_place(ops.log10)
    log1p_ = _in_place(ops.log1p)
    log2_ = _in_place(ops.log2)
    neg_ = negative_ = _in_place(ops.negative)
    reciprocal_ = _in_place(ops.reciprocal)
    round_ = _in_place(ops.round)
    sign_ = _in_place(ops.sign)
    sin_ = _in_place(ops.sin)
    sinh_ = _in_place(ops.sinh)
    sqrt_ = _in_place(ops.sqrt)
    square_ = _in_place(ops.square)
    tan_ = _in_place(ops.tan)
    tanh_ = _in_place(ops.tanh)
    tril_ = _in_place(ops.tril)
    triu_ = _in_place(ops.triu)
    trunc_ = _in_place(ops.trunc)


# --- may it be written? --------------------------------------------------------------------------


def _history(tensor: Any) -> Any:
    """The tensor whose place in the graph a write changes."""
    return tensor if tensor._view is None else tensor._view.base


def check_writable(tensor: Any, values: tuple[Any, ...]) -> None:
    """Raise if writing the tensor could not be right."""
    if tensor.is_inference and not INFERENCE.get():
        raise RuntimeError(
            "an inference tensor cannot be written outside inference_mode: clone() it first"
        )
    array = tensor.array
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        raise RuntimeError(
            "the tensor cannot be written: its array is read-only, or a broadcast in which "
            "several elements are one in memory. Write to a clone() of it"
        )
    if recorder() is None:
        return
    base = _history(tensor)
    if isinstance(base._node, Leaf):
        what = "a leaf that requires gradients" if base is tensor else "a view of such a leaf"
        raise RuntimeError(
            f"{what} cannot be written in place: its gradient would have no place to go. Write to "
            "a clone(), or under no_grad() if the change should not be differentiated"
        )
    view = tensor._view
    traced = base._node is not None or any(getattr(v, "requires_grad", False) for v in values)
    if view is not None and not view.recorded and traced:
        raise RuntimeError(
            "the tensor is a view that was made under no_grad(), so a write to it cannot be "
            "differentiated: make the view outside, or write under no_grad()"
        )


def _unaffected(tensor: Any, others: tuple[Any, ...]) -> list[Any]:
    """The tensor and the other operands, as they are before the write, for the graph to save."""
    if recorder() is None:
        return [tensor, *others]
    kept = []
    for value in (tensor, *others):
        if hasattr(value, "_node") and _shares(value._array, tensor._array):
            same = tensor_like(value)
            value = same(_copied(value._array), value._node)
        kept.append(value)
    return kept


def tensor_like(tensor: Any) -> Any:
    """The type of tensors that are no views, at the level of `tensor`."""
    from .tensor import tensor_type_at

    return tensor_type_at(tensor.level)


def _shares(a: Any, b: Any) -> bool:
    both = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return both and owner_of(a) is owner_of(b)


def _copied(array: Any) -> Any:
    return np.array(array) if isinstance(array, np.ndarray) else array


# --- writing -------------------------------------------------------------------------------------


def replace_values(tensor: Any, result: Any) -> None:
    """Give a tensor the values, and the place in the graph, of `result`."""
    if result.shape != tensor.shape:
        raise ValueError(
            f"an in-place operation gave shape {result.shape} for a tensor of shape {tensor.shape}"
        )
    _check_cast(result.dtype, tensor.dtype)
    if result.dtype != tensor.dtype:
        result = ops.astype(result, tensor.dtype)
    _store(tensor, None, result._array)
    if recorder() is None:
        return
    if tensor._view is not None:
        _put_into_base(tensor, None, result)
    elif result._node is not None or tensor._node is not None:
        tensor._node = result._node
        _bump(tensor)


def write(tensor: Any, index: tuple[Any, tuple[Any, ...]], value: Any) -> None:
    """Write `value` to the part of a tensor that an index names."""
    indices = tuple(ops.plain(i) if isinstance(i, Array) else i for i in index[1])
    index = (index[0], indices)
    check_writable(tensor, (value,))
    if _is_that_part(tensor, index, value):
        return  # the last step of `x[i] += y`: it is there already
    ours = hasattr(value, "_node") and value.level == tensor.level
    if isinstance(value, Array) and not ours and value.level > tensor.level:
        raise TypeError(
            "a value of an inner transform cannot be written into an array from outside it: make "
            "the array inside, for example by zeros_like() of an argument"
        )
    if not hasattr(value, "dtype") and not isinstance(value, bool | int | float | complex):
        value = np.asarray(value)
    if hasattr(value, "dtype"):
        _check_cast(value.dtype, tensor.dtype)
        region = Region(tensor.shape, (), index)
        wanted = region.read(np.broadcast_to(False, tensor.shape)).shape
        extra = value.ndim - len(wanted)
        if extra > 0 and value.shape[:extra] == (1,) * extra:
            value = ops.reshape(value, value.shape[extra:])
        if ours and _shares(value._array, tensor._array):
            value = tensor_like(value)(_copied(value._array), value._node)
    _store(tensor, index, value._array if ours else value)
    if recorder() is not None:
        _put_into_base(tensor, index, value)


def _check_cast(given: Any, wanted: Any) -> None:
    if not np.can_cast(given, wanted, "same_kind"):
        raise TypeError(
            f"values of dtype {given} cannot be written into a tensor of dtype {wanted}: convert "
            "them with astype()"
        )


def _is_that_part(tensor: Any, index: Any, value: Any) -> bool:
    """Whether `value` is a view of just the memory that it would be written to."""
    view = getattr(value, "_view", None)
    if view is None or view.base is not _history(tensor) or index[1]:
        return False
    part = Region(tensor.shape, (), index).read(tensor._array)
    mine = getattr(value._array, "__array_interface__", None)
    theirs = getattr(part, "__array_interface__", None)
    return (
        mine is not None
        and theirs is not None
        and mine["data"] == theirs["data"]
        and value._array.shape == part.shape
        and value._array.strides == part.strides
    )


def _store(tensor: Any, index: Any, value: Any) -> None:
    """Change the memory of a tensor, or, where that cannot be written, its array."""
    array = tensor.array
    if isinstance(array, np.ndarray) and not isinstance(value, Array):
        record = last_write(array)
        if record is not None:
            for prepare in record.before:
                prepare()
            record.before.clear()
        Region(array.shape, (), index).assign(array, value)
        mark_written(array, _origin())
        return
    base = _history(tensor)
    steps = () if tensor._view is None else tensor._view.steps
    base._array = put(base._array, value, region=Region(tuple(base.shape), steps, index))


def _origin() -> str | None:
    """The user's line that writes, under anomaly detection."""
    if recorder() in (None, Node):
        return None
    from .autograd.modes import current_modes
    from .autograd.saved import user_lines

    return None if current_modes().anomaly is None else user_lines()


def _put_into_base(tensor: Any, index: Any, value: Any) -> None:
    """Record that a part of a tensor, and so of its base, now is `value`."""
    base = _history(tensor)
    steps = () if tensor._view is None else tensor._view.steps
    node_x = base._node
    ours = hasattr(value, "_node") and value.level == tensor.level
    node_value = value._node if ours else None
    if node_x is None and node_value is None:
        return
    wanted = tuple(i for i, n in enumerate((node_x, node_value)) if n is not None)
    pullback = put.op.pullback(wanted)  # type: ignore[attr-defined]
    edges: tuple[Node, ...] = tuple(n for n in (node_x, node_value) if n is not None)
    region = Region(tuple(base.shape), steps, index)
    make = recorder()
    assert make is not None
    saved = pullback.keep((base._array, value), None, {"region": region})
    base._node = make(pullback, edges, saved, base._array.shape, base._array.dtype)
    _bump(base)


def _bump(base: Any) -> None:
    """Let the views of a tensor know that it was written."""
    family = getattr(base, "_family", None)
    if family is not None:
        family.stamp += 1


def keep_before_writes(array: Any, prepare: Callable[[], None]) -> None:
    """Have `prepare()` called before an array's memory is next written."""
    writes_to(array).before.append(prepare)
