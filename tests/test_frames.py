"""How many Python functions are called for an op that is recorded, and for a node that is swept.

Small arrays take as long as the calls around them, and calls can be counted: exactly, and the same
on every machine. A bound is what was counted when it was set, on Python 3.11; later versions have
no frames for comprehensions. Whoever needs more frames has to say here what for.

Counted is what one step more of a long chain costs, so that constant costs do not matter. Frames
of NumPy's and of array-api-compat's own functions are left out: they change with their versions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from frames import frames

import arraygrad as ag
from arraygrad.core.cpython import PORTABLE

pytestmark = pytest.mark.skipif(PORTABLE, reason="rules that are the identity are called, then")

Step = Callable[[Any, Any], Any]

VALUES = np.array([1.0, 2.0, 3.0, 4.0]) / 7
MATRIX = np.eye(4)


def chain(step: Step, length: int) -> tuple[int, int]:
    """The frames of recording so many steps, and those of sweeping over them."""
    x, y = (ag.tensor(a, requires_grad=True) for a in (VALUES, VALUES[::-1].copy()))

    def record() -> Any:
        z = x * y
        for _ in range(length):
            z = step(z, y)
        return z

    recording, z = frames(record)
    sweep, _ = frames(lambda: ag.grad(z, [x, y], np.ones(4)))
    return recording, sweep


def per_step(step: Step) -> tuple[float, float]:
    chain(step, 10)  # fills the tables of functions by types
    short, long = chain(step, 50), chain(step, 150)
    return (long[0] - short[0]) / 100, (long[1] - short[1]) / 100


def write(z: Any, y: Any) -> Any:
    z[1:2] = y[0]
    return z


# For each step: the step itself, then the most frames to record it, and to sweep over it. The frame
# of the step counts as one.
STEPS: dict[str, tuple[Step, int, int]] = {
    "product and sum": (lambda z, y: z * y + y, 8, 4),
    "functions of one array": (lambda z, y: ag.sin(ag.exp(z)), 11, 7),
    "number on the right": (lambda z, y: z * 0.5, 7, 2),
    "number on the left": (lambda z, y: 0.5 * z, 5, 2),
    "constant array": (lambda z, y: z * VALUES, 7, 2),
    "power": (lambda z, y: z**2, 8, 2),
    "choice": (lambda z, y: ag.where(VALUES > 0.3, z, y), 14, 18),
    "two reshapes": (lambda z, y: ag.reshape(ag.reshape(z, (2, 2)), (4,)), 41, 10),
    "sum over an axis, and sum": (lambda z, y: z + ag.sum(z, axis=0), 16, 19),
    "mean, and difference": (lambda z, y: z - ag.mean(z), 14, 24),
    "slice, and product": (lambda z, y: z * z[1:2], 21, 20),
    "element, and product": (lambda z, y: z * z[1], 20, 17),
    "elements by array, and product": (lambda z, y: z * z[np.array([1, 0, 3, 3])], 33, 15),
    "matrix product": (lambda z, y: z @ MATRIX, 7, 4),
    "write, and element": (write, 62, 23),
    "write of a sum": (lambda z, y: z.__iadd__(y), 27, 1),
}


@pytest.mark.parametrize("name", STEPS)
def test_frames(name: str) -> None:
    step, recording, sweep = STEPS[name]
    found = per_step(step)
    assert found[0] <= recording
    assert found[1] <= sweep


def test_frames_of_what_is_not_recorded() -> None:
    def count(length: int) -> int:
        x = ag.tensor(VALUES, requires_grad=True)

        def compute() -> None:
            with ag.no_grad():
                z = x
                for _ in range(length):
                    z = z * x + x

        return frames(compute)[0]

    count(10)
    assert count(150) - count(50) <= 8 * 100


def test_frames_on_plain_arrays() -> None:
    y = VALUES.copy()
    ag.add(ag.sin(y), y)
    assert frames(lambda: ag.add(ag.sin(y), y))[0] <= 5


def test_frames_are_counted() -> None:
    assert frames(lambda: (lambda: 1)()) == (2, 1)
    # A function around a function, as a wrapper that is called for every op would be, is noticed.
    step, _, _ = STEPS["product and sum"]
    assert per_step(lambda z, y: step(z, y))[0] == per_step(step)[0] + 1
