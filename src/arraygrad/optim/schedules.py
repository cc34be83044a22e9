"""Learning rates as functions of the number of steps taken so far.

A schedule takes a Python number, or an array of one number: inside a compiled function, where a
step is an array, it stays part of the program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import ops
from .transforms import check_number

Schedule = Callable[[Any], Any]


def where(condition: Any, a: Any, b: Any) -> Any:
    """A choice by a number, or, by elements, of an array."""
    if isinstance(condition, bool):
        return a if condition else b
    return ops.where(condition, a, b)


def _share(step: Any, steps: int) -> Any:
    """How much of `steps` is over, at most 1."""
    return where(step < steps, step / steps, 1.0)


def _positive(steps: int, name: str = "steps") -> None:
    check_number(name, steps)
    if not steps > 0:
        raise ValueError(f"{name} must be positive, but is {steps}")


def linear(start: float, end: float, steps: int) -> Schedule:
    """From `start` to `end` in equal steps; then `end`.

    Parameters
    ----------
    start, end : float
        The first and the last value.
    steps : int
        The number of steps in between.

    Examples
    --------
    >>> import arraygrad as ag
    >>> rate = ag.optim.linear(1.0, 0.0, 4)
    >>> [rate(step) for step in (0, 1, 4, 9)]
    [1.0, 0.75, 0.0, 0.0]
    """
    _positive(steps)
    return lambda step: start + (end - start) * _share(step, steps)


def cosine(start: float, steps: int, end: float = 0.0) -> Schedule:
    """From `start` to `end` along half a wave of the cosine; then `end`.

    Parameters
    ----------
    start : float
        The first value.
    steps : int
        The number of steps until `end`.
    end : float
        The last value.

    Examples
    --------
    >>> import arraygrad as ag
    >>> rate = ag.optim.cosine(1.0, 10)
    >>> [round(rate(step), 6) for step in (0, 5, 10, 20)]
    [1.0, 0.5, 0.0, 0.0]
    """
    _positive(steps)

    def rate(step: Any) -> Any:
        angle = math.pi * _share(step, steps)
        wave = ops.cos(angle) if hasattr(angle, "dtype") else math.cos(angle)
        return end + (start - end) * (1 + wave) / 2

    return rate


def exponential(start: float, gamma: float, every: int = 1) -> Schedule:
    """`start`, times `gamma` after each `every` steps.

    Parameters
    ----------
    start : float
        The first value.
    gamma : float
        The factor.
    every : int
        The number of steps between two changes.

    Examples
    --------
    >>> import arraygrad as ag
    >>> rate = ag.optim.exponential(1.0, 0.5, every=2)
    >>> [rate(step) for step in range(5)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """
    _positive(every, "every")
    return lambda step: start * gamma ** (step // every)


def polynomial(start: float, steps: int, power: float = 1.0, end: float = 0.0) -> Schedule:
    """From `start` to `end` like a power of the steps that are left.

    Parameters
    ----------
    start : float
        The first value.
    steps : int
        The number of steps until `end`.
    power : float
        The power.
    end : float
        The last value.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.optim.polynomial(1.0, 4, power=2)(2)
    0.25
    """
    _positive(steps)
    return lambda step: end + (start - end) * (1 - _share(step, steps)) ** power


def piecewise(start: float, changes: dict[int, float]) -> Schedule:
    """`start`, times a factor from each given step on.

    Parameters
    ----------
    start : float
        The first value.
    changes : dict
        Factors, by the step from which on they count.

    Examples
    --------
    >>> import arraygrad as ag
    >>> rate = ag.optim.piecewise(1.0, {2: 0.1, 4: 0.5})
    >>> [rate(step) for step in (1, 2, 4)]
    [1.0, 0.1, 0.05]
    """

    def rate(step: Any) -> Any:
        value: Any = start
        for at, factor in changes.items():
            value = value * where(step >= at, factor, 1.0)
        return value

    return rate


def join(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """One schedule after another. Each counts its steps from its own start.

    Parameters
    ----------
    schedules : sequence of schedules
        The schedules.
    boundaries : sequence of int
        The steps at which the next one starts: one fewer than there are schedules.

    Examples
    --------
    >>> import arraygrad as ag
    >>> warm = ag.optim.join([ag.optim.linear(0.0, 1.0, 4), ag.optim.cosine(1.0, 10)], [4])
    >>> [warm(step) for step in (0, 2, 4)]
    [0.0, 0.5, 1.0]
    """
    if not schedules:
        raise ValueError("join() needs at least one schedule")
    if len(boundaries) != len(schedules) - 1 or list(boundaries) != sorted(boundaries):
        raise ValueError(
            f"boundaries must be {len(schedules) - 1} rising numbers, but are {list(boundaries)}"
        )

    def rate(step: Any) -> Any:
        value = schedules[0](step)
        for at, schedule in zip(boundaries, schedules[1:], strict=True):
            since = where(step >= at, step - at, 0)  # no schedule is asked for a step before 0
            value = where(step >= at, schedule(since), value)
        return value

    return rate


def one_cycle(
    max_lr: float,
    steps: int,
    pct_start: float = 0.3,
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
) -> Schedule:
    """Up to `max_lr`, then down to almost nothing, both along a cosine.

    Parameters
    ----------
    max_lr : float
        The largest value.
    steps : int
        The number of steps of the whole cycle.
    pct_start : float
        The part of the cycle that goes up.
    div_factor : float
        The largest value over the first.
    final_div_factor : float
        The first value over the last.

    Examples
    --------
    >>> import arraygrad as ag
    >>> rate = ag.optim.one_cycle(1.0, 11, pct_start=6 / 11)
    >>> [round(rate(step), 4) for step in (0, 5, 10)]
    [0.04, 1.0, 0.0]
    """
    first = max_lr / div_factor
    top = pct_start * steps - 1
    if not 0 < top < steps - 1:
        raise ValueError(f"pct_start={pct_start} leaves no steps of {steps} to go up or down")

    def rate(step: Any) -> Any:
        up = _wave(first, max_lr, step / top)
        down = _wave(max_lr, first / final_div_factor, (step - top) / (steps - 1 - top))
        return where(step <= top, up, down)

    return rate


def _wave(start: float, end: float, share: Any) -> Any:
    share = where(share < 1, where(share > 0, share, 0.0), 1.0)
    wave = ops.cos(math.pi * share) if hasattr(share, "dtype") else math.cos(math.pi * share)
    return end + (start - end) / 2 * (1 + wave)
