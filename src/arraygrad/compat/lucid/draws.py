"""Random numbers, and how to draw the same ones again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...random import Stream

_stream = Stream()


def manual_seed(seed: int) -> None:
    """Let the random numbers start anew from a seed."""
    _stream.restart(seed)


def uniform(shape: tuple[int, ...]) -> Any:
    """Numbers between 0 and 1."""
    return _stream.generator().random(shape)


def normal(shape: tuple[int, ...]) -> Any:
    """Numbers of the standard normal distribution."""
    return _stream.generator().standard_normal(shape)


def repeatable(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that draws the same random numbers whenever it is called."""
    start = _stream.seed, _stream.count
    is_first = True

    def repeated(*args: Any) -> Any:
        nonlocal is_first
        if is_first:
            is_first = False
            return function(*args)
        now = _stream.seed, _stream.count
        _stream.restart(*start)
        try:
            return function(*args)
        finally:
            _stream.restart(*now)

    return repeated
