"""Closing a function: it is traced into a program of its own, and what it uses of outside is found.

The body of a loop may use arrays of the function around it: tensors, dual and batched arrays of
transforms in flight, and arrays of the outer trace. `Lifted` arrays stand for the arguments of the
body. Their level is above those of all transforms around, so each op of the body comes to them
first. They write it down in the body's program, in which all arrays from outside are inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ...arrays.methods import TransformMethods
from ...arrays.writes.transforms import Replaceable, link
from ...core.array import Array, plain
from ...core.closing import BODY_WRITES, Closing, lent
from ...core.kinds import Moves
from ...core.levels import new_level, stamp_at, type_at_level
from ...core.modes import ModeContext, current_modes
from ...core.nodes import recorder
from ...func.trees import lowered
from ...ops.define.library import declare
from ...ops.define.op import Op
from ...ops.writing import detached
from ..trace.bodies import Body
from ..trace.program import Node, needed
from ..trace.traced import Trace, Traced

# What is computed under `no_grad`: a constant for reverse mode. Forward mode does not know of it.
unrecorded = declare(
    "unrecorded",
    "x",
    compute=lambda xp, x: x,
    kind=Moves(shares=True),
    vjp=lambda g: 0 * g,
)


class Lifted(Replaceable, TransformMethods, Array):
    """An array in the body of a loop that is being traced."""

    __slots__ = ("_closure",)

    def __init__(self, array: Any, closure: Closure) -> None:
        self._array = array
        self._closure = closure
        self._stamp = stamp_at(self.level)

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        given = lent(cls.level, arrays)
        if given is not None:
            return op.function(*given, **params)
        closure = next(a._closure for a in arrays if type(a) is cls)
        inner = [closure.inner(a) for a in arrays]
        known = {name: closure.inner(value) for name, value in params.items()}
        out = op.function(*inner, **known)
        result = tuple(map(closure.wrapped, out)) if op.multiple else closure.wrapped(out)
        if op.view and len(arrays) == 1:
            link(op, arrays[0], params, result)
        return result

    def _take_over(self, other: Any) -> None:
        self._array = self._closure.inner(other)

    def over(self, function: Any) -> Any:
        return type(self)(function(self._array), self._closure)

    def detach(self) -> Any:
        return type(self)(detached(self._array), self._closure)

    def item(self) -> Any:
        """Refused: the value is not known yet."""
        return self._array.item()

    tolist = __float__ = __complex__ = item

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._array.__array__(dtype, copy)

    def __bool__(self) -> bool:
        return bool(self._array)

    def __index__(self) -> int:
        return self._array.__index__()  # type: ignore[no-any-return]

    __int__ = __index__

    def __repr__(self) -> str:
        return f"Lifted(shape={self.shape}, dtype={self.dtype})"


class Closure:
    """A function while it is being closed.

    Attributes
    ----------
    captured : list of Array
        The arrays from outside that it uses.
    """

    def __init__(self, level: float) -> None:
        self.trace = Trace()
        self.trace.wrap = self.wrapped
        self.captured: list[Array] = []
        self._type: type[Lifted] = type_at_level(Lifted, level)
        self._inner: dict[int, Traced] = {}
        self._lent: dict[int, Lifted] = {}
        self._records = recorder() is not None

    def inner(self, value: Any) -> Any:
        """A value in the body's trace. An array from outside becomes an input."""
        if type(value) is self._type:
            return value._array
        if not isinstance(value, Array):
            return value
        if isinstance(value, Traced) and value._trace is self.trace:
            return value
        found = self._inner.get(id(value))  # which `captured` keeps alive
        if found is None:
            found = self._inner[id(value)] = self.trace.input_like(value)
            self.captured.append(value)
        return found

    def wrapped(self, out: Any) -> Any:
        """What an op returned in the body's trace, for the body."""
        if not isinstance(out, Traced):
            return out
        if self._records and recorder() is None and out.dtype.kind in "fc":
            out = unrecorded(out)
        return self._type(out, self)

    def lend(self, value: Any) -> Lifted:
        """An array from outside, for the function to use as its own."""
        inner = self.inner(value)
        return self._lent.setdefault(id(value), self._type(inner, self))

    def is_lent_written(self) -> bool:
        """Whether the function has written to an array from outside, by a view."""
        return any(made._array is not self._inner[key] for key, made in self._lent.items())

    def given(self, like: Any) -> Any:
        """An argument of the function."""
        return self._type(self.trace.input_like(like), self)


class _Lending(Closing):
    """The mode in which a body is closed that may never run: each op on arrays is a part of it.

    An op on arrays from outside alone would be done in any case, and its derivative could be
    infinite times zero. So these arrays are arguments of the body, too.
    """

    def __init__(self, closure: Closure, level: float) -> None:
        super().__init__(lambda x: x, current_modes().closing)
        self._closure, self.level = closure, level

    def inside(self, x: Any) -> Any:
        if not isinstance(x, Array) or x.level >= self.level:
            return x
        given = x if self._around is None else self._around.inside(x)
        below = plain(given)
        if isinstance(below, Traced) and below._trace.number < self._closure.trace.number:
            return self._closure.lend(given)
        return given


def closed(
    function: Callable[[list[Any]], Sequence[Any]], like: Sequence[Any], may_not_run: bool = False
) -> tuple[Body, list[Array]]:
    """A function as a body, and the arrays from outside that it takes before its arguments.

    Parameters
    ----------
    function : callable
        Takes a list of arrays, and returns a list of arrays and numbers.
    like : sequence
        The arguments: arrays, of which only the shapes and dtypes matter; numbers stay as they are.
    may_not_run : bool
        Whether the body may never be run: then nothing of it is computed outside of it.
    """
    with new_level() as level:
        closure = Closure(level)
        given = [closure.given(x) if hasattr(x, "dtype") else x for x in like]
        own = [x._array.node for x in given if isinstance(x, Array)]  # before they are written
        lending = ModeContext(closing=_Lending(closure, level)) if may_not_run else nullcontext()
        with lending:
            results = function(given)
        outputs: list[Node] = []
        for result in results:
            value = closure.inner(lowered(result, level))
            if not isinstance(value, Traced):
                value = np.asarray(value)
            outputs.append(closure.trace.node(value))
    if closure.trace.close() or closure.is_lent_written():
        raise TypeError(BODY_WRITES)
    read = set(needed(outputs))
    captured = [x for x in closure.captured if closure.inner(x).node in read]
    return Body([*(closure.inner(x).node for x in captured), *own], outputs), captured


def like_first(value: Any, first: Any) -> Any:
    """A number in the next state, as an array of the dtype that the state has."""
    if hasattr(value, "dtype") or not hasattr(first, "dtype"):
        return value
    return np.asarray(value, first.dtype)
