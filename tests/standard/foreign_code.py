"""Checks gradients of functions that others wrote for the Array API standard.

Run as a program by the tests (``python -m standard.foreign_code 6 NAME …``), because SciPy reads
``SCIPY_ARRAY_API`` when it is imported: it checks rows of the tables and writes what went wrong, or
nothing, by name, as JSON. The number says how many elements of an array get differences of their
own: a larger array is moved in one random direction.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import array_namespace

import arraygrad as ag

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Case:
    """A function with the arguments to differentiate it with respect to.

    `step` is that of the differences: a function with rounding errors needs a larger one.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    step: float = 1e-4

    def __str__(self) -> str:
        return self.name


def like(x: Any, data: Any) -> Any:
    """An array of the library of `x`."""
    return array_namespace(x).asarray(data)


def number(case: Case, arguments: Iterable[Any]) -> Any:
    """The function's result, with real and imaginary parts summed with weights."""
    out = case.function(*arguments)
    xp = ag if isinstance(out, ag.Tensor) else np
    out = xp.asarray(out)
    if xp.isdtype(out.dtype, "complex floating"):
        out = xp.stack([xp.real(out), xp.imag(out)])
    weights = np.random.default_rng(7).standard_normal(out.shape)
    return xp.sum(out * xp.asarray(weights))


def slope(case: Case, i: int, direction: Any) -> float:
    """The derivative of argument `i` in a direction by differences, on plain NumPy arrays."""

    def at(shift: float) -> float:
        moved = [np.array(a) for a in case.arguments]
        moved[i] += shift * case.step * direction
        return float(number(case, moved))

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * case.step)


def directions(array: Any, most: int) -> Any:
    """Each element of an array of so many elements, or a random direction in a larger one."""
    size = array.size
    found = np.eye(size) if size <= most else np.random.default_rng(8).standard_normal((1, size))
    return found.reshape(-1, *array.shape)


def problem(case: Case, most: int) -> str:
    """What is wrong with a function's gradients, or nothing."""
    tensors = [ag.tensor(a, requires_grad=True) for a in case.arguments]
    value = number(case, tensors)
    if not isinstance(value, ag.Tensor) or not value.requires_grad:
        return "the result has lost its gradient"
    gradients = ag.grad(value, tensors, materialize_grads=True)
    expected = float(number(case, case.arguments))
    if not np.isclose(float(value.detach()), expected, rtol=1e-9, atol=1e-10):
        return f"the value is {float(value.detach())}, and with NumPy {expected}"
    if not any(np.any(g.numpy()) for g in gradients):
        return "all gradients are zero, which shows nothing"
    for i, gradient in enumerate(gradients):
        along = directions(gradient, most)
        found = [float(np.sum(gradient.numpy() * direction)) for direction in along]
        expected = [slope(case, i, direction) for direction in along]
        if not np.allclose(found, expected, rtol=1e-6, atol=1e-7):
            return f"argument {i}: the gradient is {found}, by differences {expected}"
    return ""


def outcome(case: Case, most: int) -> str:
    """`problem`, or the error that was raised."""
    try:
        return problem(case, most)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def run_with_setting(arguments: list[str]) -> str:
    """What Python prints, run with ``SCIPY_ARRAY_API=1``."""
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "SCIPY_ARRAY_API": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")]),
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def report(names: list[str], most: int) -> dict[str, str]:
    """What is wrong with functions in the tables, found in a process of its own."""
    written = run_with_setting(["-m", "standard.foreign_code", str(most), *names])
    found: dict[str, str] = json.loads(written)
    return found


def main(most: str, *names: str) -> None:
    from standard import scipy_cases, sklearn_cases

    tables = [scipy_cases.CASES, scipy_cases.REFUSED, sklearn_cases.CASES, sklearn_cases.REFUSED]
    cases = [case for table in tables for case in table if case.name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of divisions by zero, and fits cut short
        json.dump({case.name: outcome(case, int(most)) for case in cases}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
