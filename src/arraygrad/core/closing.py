"""Closing a function: while it runs once, each array that it takes from outside becomes an input.

A closing is one of the modes (`core.modes`), so each thread and task has its own. Ops see it by the
recorder, which they read anyway: while a closing is open, the recorder is a `Staged`. An op then
asks what takes the place of each of its operands, and starts again with these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .nodes import stage

BODY_WRITES = (
    "the body of a loop writes to an array from outside, which would happen only once, when the "
    "loop is compiled: make what is written a part of the loop's state"
)


class Closing:
    """The tensors from outside that a function has met, and what stands for them inside.

    Parameters
    ----------
    stand_in : callable
        ``stand_in(x)`` is what the function computes with in the place of the tensor `x`: `x`
        itself, if the function has made it.
    around : Closing or None
        The closing that was open before. It is asked first: an array that it knows is not
        from outside.

    Attributes
    ----------
    captured : list of Tensor
        The tensors from outside, in the order in which the function met them.
    stand_ins : list
        What stands for each of them.
    reads : list of triples
        What the function has read of tensors: the tensor, a function that reads it, and what it
        was.
    """

    traces = True  # whether the function becomes a program, which runs in its place
    views = True  # whether a view of a tensor from outside is one of what stands for the tensor
    level: float = -math.inf  # arrays of transforms are asked for, too, if their levels are lower

    def __init__(self, stand_in: Callable[[Any], Any], around: Closing | None = None) -> None:
        self._stand_in, self._around = stand_in, around
        if around is not None:
            self.level = around.level
        self.captured: list[Any] = []
        self.reads: list[tuple[Any, Any, Any]] = [] if around is None else around.reads
        self.stand_ins: list[Any] = []
        # By identity, with the array inside: a write in the function may replace it.
        self._known: dict[int, tuple[Any, Any]] = {}

    def inside(self, x: Any) -> Any:
        """The array that takes the place of an operand."""
        if not hasattr(x, "_node"):  # not a tensor
            return x if self._around is None else self._around.inside(x)
        array, found = self._known.get(id(x), (None, None))
        if found is not None and array is x._array:
            return found
        given = x if self._around is None else self._around.inside(x)
        found = self._stand_in(given)
        if found is not given:
            self.put(x, found)
        return found

    def targets(self, inputs: list[Any]) -> list[Any]:
        """What takes the place of tensors by which the function computes a gradient."""
        if self._around is not None:  # which may refuse
            self._around.targets(inputs)
        return list(map(self.inside, inputs))

    def put(self, x: Any, stand_in: Any) -> None:
        """Let something take the place of a tensor from outside."""
        self._known[id(x)] = (x._array, stand_in)
        self.captured.append(x)
        self.stand_ins.append(stand_in)


class Staged:
    """The recorder while a closing is open.

    Attributes
    ----------
    inside : callable
        What takes the place of an operand.
    make : callable or None
        The recorder that ops would have without a closing.
    views : bool
        Whether ops that make views look for what takes the place of an operand, too.
    level : float
        Below this level, ops on arrays of transforms look for it, too.
    """

    __slots__ = ("inside", "level", "make", "views")

    def __init__(self, closing: Closing, make: Any) -> None:
        self.inside, self.make = closing.inside, make
        self.views, self.level = closing.views, closing.level


def lent(level: float, arrays: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The stand-ins of arrays whose highest level is `level`; None if no array has one.

    Arrays that are no tensors are replaced only in the body of a loop that may never run.
    """
    staged = stage()
    if type(staged) is not Staged or staged.level <= level:
        return None
    given = tuple(map(staged.inside, arrays))
    return given if any(y is not x for x, y in zip(arrays, given, strict=True)) else None


def refuse_write(array: Any) -> None:
    """Raise if an array is from outside the body that is being closed."""
    if lent(array.level, (array,)) is not None:
        raise TypeError(BODY_WRITES)
