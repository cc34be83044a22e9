"""`checkpoint`: recompute values in the reverse sweep instead of storing them.

In the first run, the nodes that would save values save only a number, their place: 0, 1, 2 and so
on. When a sweep asks for the values of the first such node, the function runs a second time, and
the values that are saved in this run are collected by place, for this one sweep. So neither run
costs more than recording does. The second run stops as soon as the remaining values are available
without it.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from ..arrays.tensor import Tensor, tensor_type_at
from ..autograd.graph import saved_tensors_hooks
from ..core.array import AnyFunction
from ..core.levels import at_level, in_flight
from ..core.modes import Modes, current_modes, set_modes
from ..core.nodes import LAST_WRITE, UNLOADED, Leaf, Node, freed_error, next_number
from ..core.nodes import record as record_node
from ..core.saved import Hooks, NodeHooks, pack, unpack
from ..core.versions import (
    Writes,
    as_it_was,
    check_array,
    newest_write,
    refused_writes,
    watched_writes,
)
from ..errors import RecomputeError, WrittenError
from ..ops.define.rules import Pullback
from ..sweep.engine import current_sweep
from .trees import as_function, flatten

F = TypeVar("F", bound=AnyFunction)


def checkpoint(function: F, *, early_stop: bool = True, check: bool = True) -> F:
    """A function with the same results that stores no intermediate values for the gradient.

    The reverse sweep runs the function a second time. That costs one more forward pass, and saves
    the memory of all intermediate values. Checkpoints nest.

    Parameters
    ----------
    function : callable
        Must do the same in each call. It may use tensors from outside.
    early_stop : bool
        Stop the second run as soon as it has computed all values that are needed.
    check : bool
        Raise if the second run takes other steps than the first, or has results of other shapes
        or dtypes; without `early_stop`, also if it takes more steps.

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
        run = _Run(function, args, kwargs, early_stop, check)
        results = None
        try:
            hooks = NodeHooks((run.pack, run.unpack), run.record)
            with saved_tensors_hooks.on_arrays(hooks), watched_writes() as run.written:
                results = function(*args, **kwargs)
            return results
        finally:
            run.close(results)

    return cast("F", checkpointed)


class _Stop(Exception):
    """Stops the second run: all values that are needed have been computed."""


class _Kept:
    """Stands for a saved array: its place, and during the first run also the array.

    The function may compute gradients inside. These use the array: a second run inside the first
    would never end.
    """

    __slots__ = ("place", "value")

    def __init__(self, place: int, array: Any) -> None:
        self.place = place
        self.value = array


class _Numbered(Node):
    """A node that keeps its place instead of its saved values."""

    __slots__ = ("again", "place", "run", "start", "value")
    run: _Run | None
    place: int
    value: Any  # the saved values, during the first run
    start: int  # the number of nodes and writes at which the second run began
    again: int  # the number of the node at the same place in the second run

    def load(self) -> tuple[Any, ...]:
        """The saved values, from the second run. There is one second run for each sweep."""
        if self.run is None:
            raise freed_error(self)
        if self.value is not None:
            self.again = self.start = 0
            return self.value  # type: ignore[no-any-return]
        self.start, again = self.run.find(self.place)
        self.again = again.number
        return again.saved  # type: ignore[no-any-return]

    def release(self) -> None:
        self.run = None

    def as_saved(self, saved: tuple[Any, ...], restored: Callable[[Any, int], Any]) -> Any:
        """The values as they were in the second run. Raises if they were written before it."""
        since = self.again or self.number
        now = tuple([restored(value, since) for value in saved])
        for value in now:
            for array in value if isinstance(value, tuple | list) else (value,):
                if hasattr(array, "dtype"):
                    check_array(self, array, self.number, self.start)
        return now

    def kept(self) -> Any:
        return [] if self.run is None else [held.value for held in self.run.leaves]


class _Entry(NamedTuple):
    """Describes what was saved at a place: the values of a node, or a single array."""

    pullback: Any
    shape: Any
    dtype: Any

    def arrays(self) -> int:
        """How many arrays were saved."""
        if self.pullback is None:
            return 1
        return sum(source is not None for source in self.pullback.sources)

    def told(self) -> str:
        """A description for errors."""
        what = "an array"
        if self.pullback is not None:
            inputs = ", ".join(map(str, self.pullback.positions))
            what = f"a result of {self.pullback.name} (to be differentiated by input {inputs})"
        return f"{what} of shape {self.shape} and dtype {self.dtype}"

    def differs(self, other: _Entry) -> bool:
        """Whether another entry describes something else."""
        mine, theirs = self.pullback, other.pullback
        if mine is not theirs:
            if mine is None or theirs is None or mine.name != theirs.name:
                return True
            if mine.positions != theirs.positions:  # they decide what is saved
                return True
        return bool(self.shape != other.shape or self.dtype != other.dtype)


class _Again(NamedTuple):
    """What a node of the second run saved, which a gradient taken inside lets the node forget."""

    number: int
    saved: tuple[Any, ...]


class _Earlier(NamedTuple):
    """Stands for an array that was also saved earlier: at a place, and a position in its values."""

    place: int
    position: int


class _Run:
    """One call of a checkpointed function, and how to repeat it."""

    def __init__(
        self, function: AnyFunction, args: Any, kwargs: Any, early_stop: bool, check: bool
    ) -> None:
        self.function = function
        leaves, self.unflatten = flatten((args, kwargs))
        hooks = current_modes().saved_hooks  # for example, those of a checkpoint around this one
        self.leaves = [_Held(leaf, hooks) for leaf in leaves]
        self.early_stop = early_stop
        self.check = check
        self.modes: Modes = current_modes()
        self.level = in_flight()  # transforms inside must be above those that made the arguments
        self.number = next_number()
        self.saved: list[_Entry] = []
        self.running: list[_Kept | _Numbered] = []
        self.nodes: list[Node] = []
        self.outside: list[Leaf] = []
        self.written: list[Any] = []  # the memory that the first run wrote
        # The last places, which a second run need not reach, and for each its values: an array
        # that is kept anyway, an `_Earlier`, or a weak reference to a result of the function.
        self.rest: dict[int, list[Any]] = {}

    # --- the first run ---

    def pack(self, array: Any) -> _Kept:
        """Give a saved array a place, which is kept instead of the array."""
        kept = _Kept(len(self.saved), array)
        self.saved.append(_Entry(None, tuple(array.shape), array.dtype))
        self.running.append(kept)
        return kept

    def record(
        self, pullback: Any, edges: tuple[Node, ...], saved: Any, shape: Any, dtype: Any
    ) -> Node:
        """Record a node that keeps its place instead of its saved values."""
        node: Node
        if pullback.keeps_arrays:
            node = _Numbered(pullback, edges, UNLOADED, shape, dtype)
            node.run, node.place, node.value = self, len(self.saved), saved
            self.saved.append(_Entry(pullback, shape, dtype))
            self.running.append(node)
        else:
            node = record_node(pullback, edges, saved, shape, dtype)
        self.nodes.append(node)
        return node

    def close(self, results: Any) -> None:
        """End the first run: forget the saved values, which a second run will compute."""
        edges = {edge for node in self.nodes for edge in node.edges}
        self.outside = [e for e in edges if isinstance(e, Leaf) and e.number < self.number]
        # After a write, the same array may have been saved with different values.
        if self.early_stop and self.check and LAST_WRITE[0] < self.number:
            self._find_rest(results)
        for kept in self.running:
            kept.value = None
        self.running, self.nodes = [], []

    def _find_rest(self, results: Any) -> None:
        """Find the last places whose values are available without a second run."""
        known: dict[int, Any] = {}
        for result in flatten(results)[0]:
            if isinstance(result, Tensor) and type(result._array) is np.ndarray:
                known[id(result._array)] = weakref.ref(result._array)
        for array in self._given():
            known[id(array)] = array
        for place in range(len(self.running) - 1, 0, -1):
            node = self.running[place]
            if not isinstance(node, _Numbered) or type(node.pullback) is not Pullback:
                return
            sources = list(node.value)
            for position in node.pullback.arrays:
                array = sources[position]
                source = known.get(id(array))
                if source is None:
                    source = self._saved_before(place, array)
                if source is None or type(array) is not np.ndarray:
                    return
                sources[position] = source
            self.rest[place] = sources

    def _saved_before(self, place: int, array: Any) -> _Earlier | None:
        """Where an array was last saved before a place."""
        for earlier in range(place - 1, -1, -1):
            kept = self.running[earlier]
            if isinstance(kept, _Numbered):
                for position, value in enumerate(kept.value):
                    if value is array:
                        return _Earlier(earlier, position)
        return None

    def _given(self) -> list[Any]:
        """The arrays that the function was run on."""
        held = [h.value for h in self.leaves if h.type is not None and h.hooks is None]
        return held + [leaf.array for leaf in self.outside]

    # --- the second run ---

    def unpack(self, kept: _Kept) -> Any:
        """The array that was packed, as it was then."""
        if kept.value is not None:
            return kept.value
        number, array = self.find(kept.place)[1]
        return _as_of(array, number)

    def find(self, place: int) -> tuple[int, Any]:
        """The number at which the second run began, and what it saved at a place.

        There is one second run for each sweep.
        """
        sweep = current_sweep()
        if sweep is None:
            start, found = self.repeat()
            return start, found[place]
        start, found = sweep.notes.get(self, (0, {}))
        if place not in found:
            start, found = sweep.notes[self] = self.repeat()
        return start, found.pop(place)

    def repeat(self) -> tuple[int, dict[int, Any]]:
        """Run the function again, and collect the values that are saved, by place."""
        collected: dict[int, Any] = {}
        entries: list[_Entry] = []
        rest = self._rest_at_hand()
        wanted = len(self.saved) - len(rest)

        def collect(entry: _Entry, value: Any) -> None:
            place = len(entries)
            entries.append(entry)
            if place < len(self.saved):
                first = self.saved[place]
                if self.check and entry != first and entry.differs(first):
                    raise RecomputeError(
                        f"a checkpointed function saved {first.told()} as value {place} when it "
                        f"was first run, and {entry.told()} when it was run again: it must do the "
                        "same each time"
                    )
                collected[place] = value
            if self.early_stop and place + 1 >= wanted:
                raise _Stop

        def pack(array: Any) -> Any:
            collect(_Entry(None, tuple(array.shape), array.dtype), (next_number(), array))
            return array  # an outer transform may differentiate this run

        def record(
            pullback: Any, edges: tuple[Node, ...], saved: Any, shape: Any, dtype: Any
        ) -> Node:
            node = record_node(pullback, edges, saved, shape, dtype)
            if pullback.keeps_arrays:
                collect(_Entry(pullback, shape, dtype), _Again(node.number, saved))
            return node

        self.check_unwritten()
        args, kwargs = self.unflatten([held.again(self.number) for held in self.leaves])
        start = next_number()
        outside = current_modes()
        hooks = NodeHooks((pack, lambda array: array), record)
        try:
            set_modes(self.modes._replace(grad=True, saved_hooks=hooks))
            with at_level(self.level), refused_writes(self.written, _refuse):
                self.function(*args, **kwargs)
        except _Stop:
            pass
        finally:
            set_modes(outside)
        if len(entries) < wanted or (self.check and len(entries) > len(self.saved)):
            counts = [sum(e.arrays() for e in found) for found in (self.saved, entries)]
            raise RecomputeError(
                f"a checkpointed function saved {counts[0]} arrays when it was first run "
                f"and {counts[1]} when it was run again: it must do the same each time"
            )
        for place, sources in reversed(rest.items()):
            saved = tuple([_resolved(source, collected) for source in sources])
            collected[place] = _Again(next_number(), saved)
        return start, collected

    def _rest_at_hand(self) -> dict[int, list[Any]]:
        """The places that this run need not reach; none if an array is gone or was written."""
        found = {}
        for place, sources in self.rest.items():
            found[place] = [s() if isinstance(s, weakref.ref) else s for s in sources]
            for array, source in zip(found[place], sources, strict=True):
                if array is None and isinstance(source, weakref.ref):
                    return {}
                if isinstance(array, np.ndarray) and newest_write(array, self.number) is not None:
                    return {}
        return found

    def check_unwritten(self) -> None:
        """Raise if a leaf from outside was written since the first run."""
        if self.number > LAST_WRITE[0]:
            return
        for leaf in self.outside:
            found = newest_write(leaf.array, self.number)
            if found is not None:
                raise _written_error(leaf.array, found[0])


def _written_error(array: Any, writes: Writes) -> WrittenError:
    return WrittenError(
        f"{writes.what} has changed an array of shape {tuple(array.shape)} and dtype {array.dtype} "
        "in place that a checkpointed function has to be run on again: work on a clone() of it, or "
        "write to it after the gradient has been computed"
    )


def _as_of(array: Any, number: int) -> Any:
    """An array as it was at the time of a number."""
    found = newest_write(array, number)
    if found is None:
        return array
    now = as_it_was(array, number, found[0])
    if now is None:
        raise _written_error(array, found[0])
    return now


def _refuse() -> None:
    raise RuntimeError(
        "a checkpointed function writes to a tensor from outside it: the sweep runs the function "
        "again, and would write twice. Return what is to be written, and write it outside"
    )


def _resolved(source: Any, collected: dict[int, Any]) -> Any:
    """A saved value; an `_Earlier` is looked up in the collected values."""
    if isinstance(source, _Earlier):
        return collected[source.place].saved[source.position]
    return source


class _Held:
    """An argument of the first run, kept for the second."""

    def __init__(self, value: Any, hooks: Hooks | None) -> None:
        self.value = value
        self.type: type[Tensor] | None = None
        self.hooks = hooks
        if isinstance(value, Tensor):
            # Without its node, so that the graph of the second run is separate from the first.
            self.type, self.requires_grad = tensor_type_at(value.level), value.requires_grad
            self.value = pack(value._array, hooks) if hooks else value._array
            # What hooks return instead has no past in this run. The second run of a checkpoint
            # around this one has its own.
            is_packed = hooks is not None and type(value._array) is np.ndarray
            self.first = weakref.ref(value._array) if is_packed else None

    def again(self, number: int) -> Any:
        """The argument for the second run, as it was at the first; a tensor becomes a new leaf."""
        if self.type is None:
            return self.value
        array = unpack(self.value)
        if self.first is None or array is self.first():
            array = _as_of(array, number)
        tensor = self.type(array)
        return tensor.requires_grad_() if self.requires_grad else tensor
