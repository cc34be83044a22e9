"""Levels: each transform in flight has one of its own, above those of all transforms around it.

Transforms have whole numbers. A tensor made by hand is half a level above the array it is over, and
a batch that only a sweep knows of is a quarter of a level above everything that takes part in it:
so no two things that meet are ever on one level.
"""

from __future__ import annotations

from contextvars import ContextVar, Token

_depth: ContextVar[int] = ContextVar("arraygrad_depth", default=0)


class at_level:  # noqa: N801  (it is called as a function is)
    """Run what is inside as if within a transform of that level, or of the present one if higher.

    For rules that run after the transform they belong to has returned: transforms that they apply
    in turn must not take its level for theirs.
    """

    __slots__ = ("_level", "_token")
    _token: Token[int]

    def __init__(self, level: float) -> None:
        self._level = max(_depth.get(), int(level))

    def __enter__(self) -> int:
        self._token = _depth.set(self._level)
        return self._level

    def __exit__(self, *exc: object) -> None:
        _depth.reset(self._token)


def new_level() -> at_level:
    """The level of a transform that is applied inside the block."""
    return at_level(_depth.get() + 1)


def in_flight() -> int:
    """The level of the innermost transform in flight; 0 outside of all."""
    return _depth.get()


def above(level: float = 0) -> float:
    """A level for a batch that only a sweep over tensors of `level` knows of."""
    return max(level, _depth.get()) + 0.25
