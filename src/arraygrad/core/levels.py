"""Levels: each transform in flight has its own level, above the levels of all transforms around it.

The level of a transform is an integer. A tensor that the user makes is half a level above the array
that it holds. A batch that exists only inside a sweep is a quarter of a level above all arrays of
the sweep. So two different transforms never meet on the same level.
"""

from __future__ import annotations

from contextvars import ContextVar, Token

_depth: ContextVar[int] = ContextVar("arraygrad_depth", default=0)


class at_level:  # noqa: N801  (it is used like a function)
    """Run the block as if inside a transform of the given level, or of the present one if higher.

    A rule may run after its transform has returned. A transform that is applied inside the rule
    then still gets a higher level.
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
    """Run the block on a new level, one above the transforms in flight."""
    return at_level(_depth.get() + 1)


def in_flight() -> int:
    """The level of the innermost transform in flight; 0 outside of all."""
    return _depth.get()


def above(level: float = 0) -> float:
    """The level for a batch that exists only inside a sweep over tensors of `level`."""
    return max(level, _depth.get()) + 0.25
