"""Levels: each transform in flight has one of its own, above those of all transforms around it.

Transforms have whole numbers. A tensor made by hand is half a level above the array it is over, and
a batch that only a sweep knows of is a quarter of a level above everything that takes part in it:
so no two things that meet are ever on one level.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_depth: ContextVar[int] = ContextVar("arraygrad_depth", default=0)


@contextmanager
def new_level() -> Iterator[int]:
    """The level of a transform that is applied inside the block."""
    level = _depth.get() + 1
    token = _depth.set(level)
    try:
        yield level
    finally:
        _depth.reset(token)


@contextmanager
def at_level(level: float) -> Iterator[None]:
    """Run what is inside as if within a transform of that level, or of the present one if higher.

    For rules that run after the transform they belong to has returned: transforms that they apply
    in turn must not take its level for theirs.
    """
    token = _depth.set(max(_depth.get(), int(level)))
    try:
        yield
    finally:
        _depth.reset(token)


def in_flight() -> int:
    """The level of the innermost transform in flight; 0 outside of all."""
    return _depth.get()


def above(level: float = 0) -> float:
    """A level for a batch that only a sweep over tensors of `level` knows of."""
    return max(level, _depth.get()) + 0.25
