"""Levels: each transform in flight has its own level, above the levels of all transforms around it.

Transforms have whole numbers. A tensor made by hand has the level of its array + 0.5. A batch made
by a sweep has level + 0.25. So arrays of two transforms never share a level.

The context of the thread or task knows the transforms around. A thread that was started inside a
transform, without its context, does not know this transform. So a new transform also leaves out
the levels that are in flight elsewhere, and those of arrays that have outlived their transform: see
`escaped`.

If an interrupt comes before `__exit__`, the transforms that follow have higher levels than they
need, which does no harm.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from .escaped import Stamp, claim

_innermost: ContextVar[int] = ContextVar("arraygrad_level", default=0)
in_flight = _innermost.get  # the level of the innermost transform in flight; 0 outside of all


class at_level:  # noqa: N801  (it is used like a function)
    """Run the block as if inside a transform of the given level, or of the present one if higher.

    A rule may run after its transform has returned. A transform that is applied inside the rule
    then still gets a higher level.
    """

    __slots__ = ("_before", "level")
    level: int

    def __init__(self, level: float) -> None:
        self.level = int(level)

    def __enter__(self) -> int:
        self._before = in_flight()
        self._choose(self._before)
        _innermost.set(self.level)
        return self.level

    def _choose(self, present: int) -> None:
        self.level = max(present, self.level)

    def __exit__(self, *exc: object) -> None:
        if in_flight() == self.level:  # else it was entered in another thread or task
            _innermost.set(self._before)


class new_level(at_level):  # noqa: N801  (it is called as a function is)
    """The level of a transform that is applied inside the block."""

    __slots__ = ("_stamp",)
    _stamp: Stamp

    def __init__(self) -> None:
        pass

    def _choose(self, present: int) -> None:
        self._stamp = Stamp()
        self.level = present + 1
        while not claim(self.level, self._stamp):
            self.level += 1

    def __exit__(self, *exc: Any) -> None:
        super().__exit__(*exc)
        del self._stamp


def above(level: float = 0) -> float:
    """A level for a batch that only a sweep over tensors of `level` knows of."""
    return max(level, in_flight()) + 0.25
