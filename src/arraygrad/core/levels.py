"""Levels: each transform in flight has its own level, above the levels of all transforms around it.

Transforms have whole numbers. A tensor made by hand has the level of its array + 0.5. A batch made
by a sweep has level + 0.25. So arrays of two transforms never share a level.

The context of the thread or task knows the transforms around. A thread that was started inside a
transform, without its context, does not know this transform. So a new transform also leaves out
the levels that are in flight elsewhere.

An array may outlive its transform, as by `leaked.append(x)` inside a function under `jvp` or
`vmap`. It still holds the tangent, or the batch, of a transform that is over, and a later transform
of the same level would take it for one of its own. So each transform has a stamp, and all its
arrays refer to the stamp. As long as the stamp is alive, new transforms leave out its level.

If an interrupt comes before `__exit__`, the transforms that follow have higher levels than they
need, which does no harm.
"""

from __future__ import annotations

import functools
import weakref
from contextvars import ContextVar
from typing import Any

_innermost: ContextVar[int] = ContextVar("arraygrad_level", default=0)
in_flight = _innermost.get  # the level of the innermost transform in flight; 0 outside of all


class Stamp:
    """Stands for one run of a transform."""

    __slots__ = ("__weakref__",)


# The stamp at each level that a transform in flight has, or whose arrays have outlived it.
_stamps: dict[float, weakref.ref[Stamp]] = {}


def _claim(level: float, stamp: Stamp) -> bool:
    """Take a level for a transform, which keeps the stamp until its end. False if it is taken."""
    made = weakref.ref(stamp, functools.partial(_stamps.pop, level))
    return _stamps.setdefault(level, made) is made  # one step: other threads may claim it, too


def stamp_at(level: float) -> Stamp | None:
    """The stamp for an array at a level; None if no transform has begun there, as in a sweep."""
    found = _stamps.get(level)
    return None if found is None else found()


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
        while not _claim(self.level, self._stamp):
            self.level += 1

    def __exit__(self, *exc: Any) -> None:
        super().__exit__(*exc)
        del self._stamp


def above(level: float = 0) -> float:
    """A level for a batch that only a sweep over tensors of `level` knows of."""
    return max(level, in_flight()) + 0.25


@functools.cache
def type_at_level(base: type[Any], level: float) -> type[Any]:
    """The type of the arrays of a transform at a level; `base` is their kind."""
    return type(
        base.__name__, (base,), {"__slots__": (), "__module__": base.__module__, "level": level}
    )
