"""Closing a function: while it runs once, each tensor that it takes from outside becomes an input.

A closing is one of the modes (`core.modes`), so each thread and task has its own. Ops see it by the
recorder, which they read anyway: while a closing is open, the recorder is a `Staged`. An op then
asks what takes the place of each of its operands, and starts again with these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Closing:
    """The tensors from outside that a function has met, and what stands for them inside.

    Parameters
    ----------
    stand_in : callable
        ``stand_in(x)`` is what the function computes with in the place of the tensor `x`: `x`
        itself, if the function has made it.
    around : Closing or None
        The closing that was open before. It is asked first: what it knows is not from outside.

    Attributes
    ----------
    captured : list of Tensor
        The tensors from outside, in the order in which the function met them.
    stand_ins : list
        What stands for each of them.
    """

    traces = True  # whether the function becomes a program, which runs in its place
    views = True  # whether a view of a tensor from outside is one of what stands for the tensor

    def __init__(self, stand_in: Callable[[Any], Any], around: Closing | None = None) -> None:
        self._stand_in, self._around = stand_in, around
        self.captured: list[Any] = []
        self.stand_ins: list[Any] = []
        # By identity, with the array inside: a write in the function may replace it.
        self._known: dict[int, tuple[Any, Any]] = {}

    def inside(self, x: Any) -> Any:
        """What takes the place of an operand."""
        if not hasattr(x, "_node"):  # not a tensor
            return x
        array, found = self._known.get(id(x), (None, None))
        if found is not None and array is x._array:
            return found
        given = x if self._around is None else self._around.inside(x)
        found = self._stand_in(given)
        if found is not given:
            self.put(x, found)
        return found

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
    """

    __slots__ = ("inside", "make", "views")

    def __init__(self, inside: Callable[[Any], Any], make: Any, views: bool) -> None:
        self.inside, self.make, self.views = inside, make, views
