"""`checkpoint`: compute values again in the reverse sweep instead of storing them.

While a checkpointed function runs, tensors are over `Recomputable` arrays. These are below all
transforms, so every op on values comes to them. They compute it, and note it as a step. Nodes save
them without their values. When a sweep asks for a value, the steps run again, on the arrays that
the function has met: the function itself runs once.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

import numpy as np

from ..arrays.methods import TransformMethods
from ..arrays.tensor import Tensor
from ..core.array import AnyFunction, Array
from ..core.closing import Closing
from ..core.levels import type_at_level
from ..core.memory import owner_of
from ..core.modes import ModeContext, current_modes
from ..core.nodes import Node, next_number, recorder
from ..core.nodes import record as record_node
from ..core.saved import Hooks, NodeHooks, pack, unpack
from ..core.versions import as_it_was, newest_write
from ..errors import WrittenError
from ..ops.define.op import Op
from ..sweep.engine import current_sweep
from .trees import as_function, tree_map

F = TypeVar("F", bound=AnyFunction)


def checkpoint(function: F) -> F:
    """A function with the same results that stores no intermediate values for the gradient.

    The reverse sweep computes them again, op by op. This costs one more forward pass, and saves
    the memory of all intermediate values. The function itself is run once: random numbers that it
    draws, and what it reads and writes outside, are as in this run. Checkpoints nest.

    Parameters
    ----------
    function : callable
        It may use tensors from outside, and write to them.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> y = ag.func.checkpoint(lambda x: ag.sin(ag.exp(x)))(x)
    >>> bool((ag.grad(y.sum(), x) == ag.cos(ag.exp(x)) * ag.exp(x)).all())
    True
    """
    as_function(function, "checkpoint")

    @functools.wraps(function)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if recorder() is None:
            return function(*args, **kwargs)
        run = _Run()
        token = _depth.set(_depth.get() + 1)
        try:
            with ModeContext(saved_hooks=run.hooks(), closing=_Staging(run)):
                results = function(*args, **kwargs)
            return tree_map(run.settled, results)
        finally:
            _depth.reset(token)
            run.close()

    return cast("F", checkpointed)


_depth: ContextVar[int] = ContextVar("arraygrad_checkpoints", default=0)  # how many are open


class Recomputable(TransformMethods, Array):
    """An array of a checkpointed function: a value that its run can compute again.

    Attributes
    ----------
    place : int
        The number of the value in the run.
    value : array or None
        The value, unless a node has saved this object.
    """

    __slots__ = ("__weakref__", "_dtype", "_shape", "place", "run", "value")
    level: ClassVar[float] = -1

    def __init__(self, run: _Run, place: int, value: Any, shape: Any, dtype: Any) -> None:
        self.run, self.place, self.value = run, place, value
        self._shape, self._dtype = shape, dtype

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        run, raw, known = None, [], params
        for array in arrays:
            if type(array) is cls:
                run = array.run if run is None or array.run.is_open else run
                array = array.concrete()
            raw.append(array)
        if params:
            known = {n: v.concrete() if type(v) is cls else v for n, v in params.items()}
        out = op.function(*raw, **known)
        return run.note(op, arrays, params, out) if run is not None and run.is_open else out

    @property
    def _array(self) -> Any:
        return self.concrete()

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def dtype(self) -> Any:
        return self._dtype

    def concrete(self) -> Any:
        """The value."""
        return self.run.value(self.place) if self.value is None else self.value

    def kept(self) -> Any:
        """The arrays that the value is computed from."""
        return self.run.arrays()

    def detach(self) -> Recomputable:
        return self

    def item(self) -> Any:
        """The value of an array with one element."""
        return self.concrete().item()

    def __bool__(self) -> bool:
        return bool(self.concrete())

    def __int__(self) -> int:
        return int(self.concrete())

    def __float__(self) -> float:
        return float(self.concrete())

    def __complex__(self) -> complex:
        return complex(self.concrete())

    def over(self, function: AnyFunction) -> Any:
        return function(self.concrete())


class _Place(int):
    """An argument of a step: the number of a value."""


class _Step(NamedTuple):
    """An op that a run has computed."""

    function: AnyFunction
    arguments: list[Any]
    keywords: dict[str, Any]
    results: range  # the numbers of its results
    multiple: bool


class _Given(NamedTuple):
    """An array that a run has met, as it was at the time of a number."""

    array: Any
    number: int

    def value(self) -> Any:
        """The array with the elements that it had."""
        array = unpack(self.array)
        if isinstance(array, Array):  # of a checkpoint around this one
            return array
        found = newest_write(array, self.number)
        if found is None or array is not self.array:
            return array
        now = as_it_was(array, self.number, found[0])
        if now is None:
            raise WrittenError(
                f"{found[0].what} has changed an array of shape {tuple(array.shape)} and dtype "
                f"{array.dtype} in place from which a checkpoint has to compute values again: work "
                "on a clone() of it, or write to it after the gradient has been computed"
            )
        return now


class _Late(tuple[Any, ...]):
    """The saved values of a node. Arrays among them have no values until a sweep asks for them."""

    __slots__ = ()

    def load(self) -> tuple[Any, ...]:
        """The saved values."""
        return tuple(map(_loaded, self))


def _same(value: Any) -> Any:
    return value


def _loaded(value: Any) -> Any:
    """A saved value, with its elements."""
    if isinstance(value, Recomputable):
        return value.run.taken(value.place) if value.value is None else value.value
    return _each(_loaded, value)


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    """A function of the arrays inside a value: a tuple, or an array of a transform."""
    if isinstance(value, tuple | list):
        parts = map(function, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value.over(function) if isinstance(value, Array) and not value.is_plain else value


class _Run:
    """One call of a checkpointed function: its steps, and the arrays that it has met."""

    def __init__(self) -> None:
        around = current_modes().saved_hooks
        self._record: Callable[..., Node] = record_node
        self._pack: Callable[[Any], Any] = _same
        self._packing: Hooks | None = around
        if isinstance(around, NodeHooks):  # of a checkpoint around this one
            self._record, self._pack, self._packing = around.record, around[0], None
        self.is_open = True
        self._type: type[Recomputable] = type_at_level(Recomputable, -1 / (1 + _depth.get()))
        self._count = 0
        self._steps: list[_Step] = []
        self._given: dict[int, _Given] = {}
        # Arrays from outside, and what stands for each.
        self._met: dict[int, tuple[Any, Recomputable]] = {}
        self._outer: set[_Run] = set()  # the checkpoints around whose values this one needs
        # By their numbers: the arrays with values, those that nodes have saved, and the results.
        self._held: weakref.WeakValueDictionary[int, Recomputable] = weakref.WeakValueDictionary()
        self._saved: weakref.WeakValueDictionary[int, Recomputable] = weakref.WeakValueDictionary()
        self._results: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._settled_results: dict[int, tuple[Any, Any]] = {}
        self._uses: Counter[int] = Counter()  # how many nodes have saved each value

    @property
    def level(self) -> float:
        """The level of its arrays."""
        return self._type.level

    # --- while the function runs ---

    def hooks(self) -> NodeHooks:
        """How nodes are recorded."""
        return NodeHooks((lambda x: self._pack(self._late(x)), _loaded), self._recorded)

    def note(self, op: Op, arrays: tuple[Any, ...], params: dict[str, Any], out: Any) -> Any:
        """Note an op on arrays, and give its results places."""
        arguments = [self._argument(a) for a in arrays]
        keywords = {name: self._argument(value) for name, value in params.items()}
        first = self._count
        results = tuple(map(self._made, out)) if op.multiple else self._made(out)
        places = range(first, self._count)
        self._steps.append(_Step(op.function, arguments, keywords, places, op.multiple))
        return results

    def _made(self, value: Any) -> Recomputable:
        made = self._type(self, self._count, value, tuple(value.shape), value.dtype)
        self._held[self._count] = made
        self._count += 1
        return made

    def _argument(self, value: Any) -> Any:
        if type(value) is self._type and value.run is self:
            return _Place(value.place)
        is_array = hasattr(value, "dtype") and not isinstance(value, np.generic)
        return _Place(self.given(value).place) if is_array else value

    def given(self, array: Any) -> Recomputable:
        """The array that stands for one from outside, with its present values."""
        known, made = self._met.get(id(array), (None, None))
        if known is array and made is not None:
            if newest_write(array, self._given[made.place].number) is None:
                return made
        made = self._made(array)
        kept = array
        if isinstance(array, Recomputable) and not array.run.is_open:
            kept = array.concrete()  # it has outlived its checkpoint
        elif isinstance(array, Recomputable):
            kept = array.run.later(array)
            self._outer |= {array.run, *array.run._outer}
        elif self._packing is not None:
            kept = pack(array, self._packing)
        self._given[made.place] = _Given(kept, next_number())
        self._met[id(array)] = array, made
        return made

    def _recorded(
        self, pullback: Any, edges: tuple[Node, ...], saved: Any, shape: Any, dtype: Any
    ) -> Node:
        """Record a node that saves arrays without their values."""
        if pullback.keeps_arrays:
            saved = _Late(map(self._late, saved))
        return self._record(pullback, edges, saved, shape, dtype)

    def _late(self, value: Any) -> Any:
        if not isinstance(value, Recomputable):
            return _each(self._late, value)
        if value.run is not self:
            return value
        self._uses[value.place] += 1
        return self.later(value)

    def later(self, array: Recomputable) -> Recomputable:
        """The array without its value."""
        found = self._saved.get(array.place)
        if found is None:
            found = self._type(self, array.place, None, array.shape, array.dtype)
            self._saved[array.place] = found
        return found

    # --- at its end ---

    def settled(self, result: Any) -> Any:
        """A result of the function without arrays of this run."""
        if not isinstance(result, Array) or type(_bottom(result)) is not self._type:
            return result
        if id(result) not in self._settled_results:  # it may be there twice
            self._settled_results[id(result)] = result, result.over(self._settled)
        return self._settled_results[id(result)][1]

    def _settled(self, array: Any) -> Any:
        if type(array) is not self._type or array.run is not self:
            return array.over(self._settled) if isinstance(array, Array) else array
        value = array.concrete()
        if isinstance(value, np.ndarray):
            others = [*self.arrays(), *(reference() for reference, _ in self._results.values())]
            if any(isinstance(x, np.ndarray) and owner_of(x) is owner_of(value) for x in others):
                value = np.array(value)
            self._results[array.place] = weakref.ref(value), next_number()
        return value

    def close(self) -> None:
        """Note no more steps, and keep only those that saved values need."""
        self.is_open = False
        self._met.clear()
        self._settled_results.clear()
        needed = set(self._saved)
        kept: list[_Step] = []
        while self._steps:
            step = self._steps.pop()
            if not needed.isdisjoint(step.results):
                kept.append(step)
                needed.update(_places(step))
        self._steps = kept[::-1]
        self._given = {place: given for place, given in self._given.items() if place in needed}

    # --- in a sweep ---

    def arrays(self) -> list[Any]:
        """The arrays from which values are computed."""
        return [given.array for given in self._given.values()]

    def value(self, place: int) -> Any:
        """A value."""
        found = self._at_hand(place)
        return self._computed(place)[place] if found is None else found

    def taken(self, place: int) -> Any:
        """A value for a node: it is let go of when all nodes that saved it have taken it."""
        found = self._at_hand(place)
        if found is not None:
            return found
        values = self._computed(place)
        values.left[place] -= 1
        return values[place] if values.left[place] else values.pop(place)

    def _at_hand(self, place: int) -> Any:
        held = self._held.get(place)
        if held is not None:
            return held.value
        given = self._given.get(place)
        if given is not None:
            found = given.value()
            return found.concrete() if isinstance(found, Recomputable) else found
        if place in self._results:
            reference, number = self._results[place]
            value = reference()
            if value is not None and newest_write(value, number) is None:
                return value
        return None

    def _computed(self, place: int) -> _Values:
        """The values of this sweep. It lets go of those of checkpoints that it has left."""
        sweep = current_sweep()
        if sweep is None:
            return self._compute()
        values: dict[_Run, _Values] = sweep.notes.setdefault(_Run, {})
        if self not in values or place not in values[self]:
            values[self] = self._compute()
        related = {self, *self._outer}
        for run in list(values):
            if run not in related and self not in run._outer:
                del values[run]
        return values[self]

    def _compute(self) -> _Values:
        """Run the steps again."""
        wanted = set(self._saved)
        last = {place: i for i, step in enumerate(self._steps) for place in _places(step)}
        found: dict[int, Any] = {}
        values = _Values(self._uses)

        def argument(value: Any) -> Any:
            if type(value) is not _Place:
                return value
            if value not in found:
                found[value] = self._given[value].value()
            return found[value]

        with np.errstate(all="ignore"):  # the first run has warned
            for i, step in enumerate(self._steps):
                given = [argument(a) for a in step.arguments]
                keywords = {name: argument(value) for name, value in step.keywords.items()}
                out = step.function(*given, **keywords)
                found.update(zip(step.results, out if step.multiple else (out,), strict=True))
                for place in {*_places(step), *step.results}:
                    if place in wanted and place in found:
                        values[place] = found[place]
                    if last.get(place, i) == i:
                        found.pop(place, None)
        return values


class _Values(dict[int, Any]):
    """The values of a run in a sweep, and how many nodes will still ask for each."""

    def __init__(self, uses: Counter[int]) -> None:
        self.left = uses.copy()


def _places(step: _Step) -> Iterator[int]:
    """The values that a step needs."""
    for value in (*step.arguments, *step.keywords.values()):
        if type(value) is _Place:
            yield value


class _Staging(Closing):
    """The tensors that take the place of tensors from outside: they are over arrays of the run."""

    def __init__(self, run: _Run) -> None:
        around = current_modes().closing
        super().__init__(_same, around)
        self._run = run
        self.traces = around is not None and around.traces
        # A view of a tensor from outside stays one, so that it can be written. In a branch that
        # may not run, it cannot be, and the array in the tensor is replaced.
        self.views = self.level > -math.inf

    def inside(self, x: Any) -> Any:
        if self._run._type in (type(x), type(getattr(x, "_array", None))):
            return x
        x = x if self._around is None else self._around.inside(x)
        if not isinstance(x, Tensor):
            return x
        bottom = _bottom(x)
        if isinstance(bottom, Array) and (bottom.is_plain or bottom.level >= self._run.level):
            return x  # of a trace, which keeps what it needs; or of this run, or one inside it
        return x.over(self._wrapped)

    def _wrapped(self, array: Any) -> Any:
        if isinstance(array, Array) and not isinstance(array, Recomputable):
            return array.over(self._wrapped)
        return self._run.given(array)


def _bottom(x: Any) -> Any:
    """The array under all transforms: of a checkpoint, or plain."""
    while isinstance(x, Array) and not isinstance(x, Recomputable) and not x.is_plain:
        x = x._array
    return x
