"""Loops and choices that run as they are written: Python loops over ops, on lists of leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .. import ops
from ..arrays.batched import Batched
from ..backends import backend_of
from ..core.array import Array, plain
from ..core.closing import Closing
from ..core.levels import in_flight
from ..core.modes import ModeContext, current_modes, no_grad
from ..core.nodes import LAST_WRITE, next_number
from . import budget
from .recompute import checkpoint

Leaves = list[Any]


class Eager:
    """Loops that run as they are written."""

    def scan(
        self, step: Any, init: Leaves, xs: Leaves, count: int, reverse: bool, memory: int | None
    ) -> tuple[Leaves, Leaves]:
        if not count:
            return init, _none_of(step, init, xs)
        if memory is not None and count > 3:
            return _within(memory, step, init, xs, count, reverse)
        return _steps(step, init, xs, count, reverse)

    def while_loop(self, condition: Any, body: Any, state: Leaves) -> Leaves:
        state = _settled(state, False)
        before = None
        while True:
            goes_on = condition(state)
            if not _is_batched(goes_on):
                if not bool(plain(goes_on)):
                    return state
                state = body(state)
                continue
            if not _to_numpy(goes_on).any():
                return state
            # Members of the batch that have ended stay as they are. The body runs on the last state
            # that they went on from: there it is defined, and so are its derivatives.
            # A member that never starts has no such state: the body's result for it is not used.
            if before is None:
                before = [x.detach() if isinstance(x, Array) else x for x in state]
            given = _choose(goes_on, state, before)
            with np.errstate(all="ignore"):
                state, before = _choose(goes_on, body(given), state), given

    def cond(self, predicate: Any, yes: Any, no: Any, given: Leaves) -> Leaves:
        if not _is_batched(predicate):
            return yes(given) if bool(plain(predicate)) else no(given)  # type: ignore[no-any-return]
        truth = _to_numpy(predicate)
        with np.errstate(all="ignore"):
            found = _run_for(predicate, truth, yes, given)
            otherwise = _run_for(ops.logical_not(predicate), ~truth, no, given)
        if truth.all() or not truth.any():  # no derivative comes from a branch for no member
            return found if truth.all() else otherwise
        return _choose(predicate, found, otherwise)


class _Members(Closing):
    """The mode in which a branch runs for some members of a batch.

    The others compute with the values of one of these: there the branch is defined, and so are its
    derivatives. A derivative that is infinite, times zero, is no number.
    """

    def __init__(self, members: Any, truth: np.ndarray[Any, Any]) -> None:
        around = current_modes().closing
        super().__init__(lambda x: x, around)
        self.traces = around is not None and around.traces
        self.level = max(self.level, in_flight() + 1)  # transforms inside the branch are above
        self._members, self._start = members, next_number()
        first = np.argwhere(truth)[0].tolist()
        self._first: dict[float, int] = dict(zip(_batches(members), first, strict=True))
        self._masks: dict[int, tuple[Any, Any, Any]] = {}

    def inside(self, x: Any) -> Any:
        if not isinstance(x, Array):
            return x
        given = x if self._around is None else self._around.inside(x)
        is_inside = given.level >= self.level or not _has_node_before(given, self._start)
        return given if is_inside else self.masked(given)

    def masked(self, x: Any) -> Any:
        """An array with the values of one of the members for all others, as constants."""
        batches = _batches(x)
        if self._first.keys().isdisjoint(batches):
            return x
        known, array, found = self._masks.get(id(x), (None, None, None))
        if known is None or array is not x._array:
            with ModeContext(closing=self._around):
                one = plain(x)[tuple(self._first.get(level, 0) for level in batches)]
                found = ops.where(self._members, x, one)
            self._masks[id(x)] = x, x._array, found
        return found


def _run_for(members: Any, truth: np.ndarray[Any, Any], branch: Any, given: Leaves) -> Leaves:
    """The results of a branch for some members of a batch."""
    if not truth.any():
        return branch(given)  # type: ignore[no-any-return]
    mode = _Members(members, truth)
    given = [mode.masked(x) for x in given]
    with ModeContext(closing=mode):
        return branch(given)  # type: ignore[no-any-return]


def _batches(x: Any) -> list[float]:
    """The levels of the batches in an array, in the order of their axes in the plain array."""
    found: list[float] = []
    while isinstance(x, Array) and not x.is_plain:
        if isinstance(x, Batched):
            found.insert(0, x.level)
        x = x._array
    return found


def _has_node_before(x: Any, number: int) -> bool:
    """Whether a tensor in an array was recorded before the time of a number."""
    found = False

    def look(array: Any) -> Any:
        nonlocal found
        node = getattr(array, "_node", None)
        found = found or (node is not None and node.number < number)
        return array.over(look) if isinstance(array, Array) and not array.is_plain else array

    look(x)
    return found


def _steps(
    step: Any, state: Leaves, xs: Leaves, count: int, reverse: bool
) -> tuple[Leaves, Leaves]:
    """All steps, one after the other."""
    rows: list[Leaves] = []
    state = _settled(state, False)
    before = LAST_WRITE[0]
    for i in range(count - 1, -1, -1) if reverse else range(count):
        try:
            state, y = step(state, [x[i, ...] for x in xs])
        except IndexError as error:
            error.add_note(f"This is step {i} of a loop.")
            raise
        rows.append(_settled(y, LAST_WRITE[0] != before))
    return state, _stacked(rows[::-1] if reverse else rows)


def _settled(leaves: Leaves, writes: bool) -> Leaves:
    """Arrays as they are now: the steps to come may write to them."""
    return [
        ops.copy(x) if type(x) is ndarray or (writes and isinstance(x, Array)) else x
        for x in leaves
    ]


def _stacked(rows: list[Leaves]) -> Leaves:
    """The results of all steps, along a new first axis."""
    return [ops.stack(tuple(map(_array, column)), axis=0) for column in zip(*rows, strict=True)]


def _array(leaf: Any) -> Any:
    return leaf if hasattr(leaf, "dtype") else np.asarray(leaf)


def _none_of(step: Any, init: Leaves, xs: Leaves) -> Leaves:
    """The results of no steps: a step on zeros says what they would be."""
    with no_grad(), np.errstate(all="ignore"):
        _, y = step(init, [ops.zeros_like(x, tuple(x.shape[1:])) for x in xs])
    return [ops.zeros_like(leaf, (0, *leaf.shape)) for leaf in map(_array, y)]


def _within(
    memory: int, step: Any, state: Leaves, xs: Leaves, count: int, reverse: bool
) -> tuple[Leaves, Leaves]:
    """All steps; what is recorded of them takes about so many bytes.

    The second step shows what each step records: what it shares with the first is not its own.
    """
    recorded = budget.Recorded()
    first: list[Leaves] = []
    for i in range(2):
        place = count - 1 - i if reverse else i
        state, y = step(state, [x[place] for x in xs])
        first.append(_settled(y, True))
        each = recorded.add([*state, *y])
    own = budget.size(state)

    def run(state: Leaves, xs: Leaves, n: int, memory: int) -> tuple[Leaves, Leaves]:
        length = budget.segment(n, own, each, memory)
        if length == n:
            return _steps(step, state, xs, n, reverse)
        rest = budget.left_over(n, length, own, memory)
        parts: list[Leaves] = []
        for start in range(0, n, length):
            size = min(length, n - start)
            low = n - start - size if reverse else start
            part = [x[low : low + size] for x in xs]
            state, ys = checkpoint(run)(state, part, size, rest)
            parts.append(ys)
        if reverse:
            parts.reverse()
        return state, _joined(parts)

    others = [x[: count - 2] if reverse else x[2:] for x in xs]
    state, ys = run(state, others, count - 2, memory)
    ends = _stacked(first[::-1] if reverse else first)
    return state, _joined([ys, ends] if reverse else [ends, ys])


def _joined(parts: list[Leaves]) -> Leaves:
    return [ops.concat(column, axis=0) for column in zip(*parts, strict=True)]


def _is_batched(value: Any) -> bool:
    """Whether there is one value for each member of a batch."""
    return bool(_batches(value))


def _to_numpy(predicate: Any) -> Any:
    """The values of a predicate, with an axis for each batch."""
    inner = plain(predicate)
    return backend_of(inner).to_numpy(inner)


def _choose(predicate: Any, yes: Leaves, no: Leaves) -> Leaves:
    return [
        ops.where(predicate, x, y) for x, y in zip(map(_array, yes), map(_array, no), strict=True)
    ]
