"""Random numbers."""

from __future__ import annotations

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
