"""Levels: each transform in flight has one of its own, above those of all transforms around it."""

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


def above() -> int:
    """A level above all transforms in flight, for arrays that are not handed to user code."""
    return _depth.get() + 1
