"""Levels: each transform in flight has its own level, above the levels of all transforms around it.

Transforms have whole numbers. A tensor made by hand has the level of its array + 0.5. A batch made
by a sweep has level + 0.25. So arrays of two transforms never share a level.

The context of the thread or task knows the transforms around. A thread that was started inside a
transform, without its context, does not know this transform. So a new transform also leaves out
the levels that are in flight elsewhere.

A transform also keeps away from the levels of arrays that have outlived theirs: see `escaped`.

A level is in force as long as the object that entered it lives: it is let go of also where an
interrupt comes before `__exit__`.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from typing import Any

from ..errors import NoGradientError
from .escaped import Stamp, has_escaped, new_stamp


class _Mark(weakref.ref["at_level"]):
    """Stands for a level that was entered, and dies with what has entered it."""

    __slots__ = ("before", "level")
    before: _Mark | None
    level: int


_innermost: ContextVar[_Mark | None] = ContextVar("arraygrad_level", default=None)
# The transforms in flight, in all threads, by their levels.
_in_flight: dict[int, _Mark] = {}


def _alive() -> _Mark | None:
    """The innermost level that is in force here."""
    mark = _innermost.get()
    while mark is not None and mark() is None:
        mark = mark.before
    return mark


def _release(mark: Any) -> None:
    """Let others have the level of a transform."""
    level = mark.level
    if _in_flight.get(level) is mark:
        del _in_flight[level]


class at_level:  # noqa: N801  (it is used like a function)
    """Run the block as if inside a transform of the given level, or of the present one if higher.

    A rule may run after its transform has returned. A transform that is applied inside the rule
    then still gets a higher level.
    """

    __slots__ = ("__weakref__", "_level", "_mark")
    _mark: _Mark

    def __init__(self, level: float) -> None:
        self._level = int(level)

    def __enter__(self) -> int:
        before = _alive()
        mark = _Mark(self, _release)
        mark.before, mark.level = before, 0
        self._mark = mark
        self._choose(mark, 0 if before is None else before.level)
        _innermost.set(mark)
        return mark.level

    def _choose(self, mark: _Mark, present: int) -> None:
        mark.level = max(present, self._level)

    def __exit__(self, *exc: object) -> None:
        mark = self._mark
        if _innermost.get() is mark:  # else it was entered in another context
            _innermost.set(mark.before)
        _release(mark)
        del self._mark


class new_level(at_level):  # noqa: N801  (it is called as a function is)
    """The level of a transform that is applied inside the block."""

    __slots__ = ("_stamp",)
    _stamp: Stamp

    def __init__(self) -> None:
        pass

    def _choose(self, mark: _Mark, present: int) -> None:
        level = mark.level = present + 1
        while _in_flight.setdefault(level, mark) is not mark or has_escaped(level):
            _release(mark)
            level = mark.level = level + 1
        self._stamp = new_stamp(level)

    def __exit__(self, *exc: Any) -> None:
        super().__exit__(*exc)
        del self._stamp
        error = exc[1] if exc else None
        if type(error) is ValueError and isinstance(error.__cause__, NoGradientError):
            # From `out[i] = x`, which NumPy tells in its own words.
            for note in getattr(error, "__notes__", ()):
                error.__cause__.add_note(note)
            raise error.__cause__.with_traceback(error.__traceback__) from None


def in_flight() -> int:
    """The level of the innermost transform in flight; 0 outside of all."""
    mark = _alive()
    return 0 if mark is None else mark.level


def above(level: float = 0) -> float:
    """A level for a batch that only a sweep over tensors of `level` knows of."""
    return max(level, in_flight()) + 0.25
