"""Random numbers, and how to draw the same ones again."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

_random = np.random.default_rng()


def manual_seed(seed: int) -> None:
    """Let the random numbers start anew from a seed."""
    global _random
    _random = np.random.default_rng(seed)


def uniform(shape: tuple[int, ...]) -> Any:
    """Numbers between 0 and 1."""
    return _random.random(shape)


def normal(shape: tuple[int, ...]) -> Any:
    """Numbers of the standard normal distribution."""
    return _random.standard_normal(shape)


def repeatable(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that draws the same random numbers whenever it is called."""
    state = copy.deepcopy(_random)
    is_first = True

    def repeated(*args: Any) -> Any:
        global _random
        nonlocal is_first
        if is_first:
            is_first = False
            return function(*args)
        now, _random = _random, copy.deepcopy(state)
        try:
            return function(*args)
        finally:
            _random = now

    return repeated
