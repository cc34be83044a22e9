"""Checks gradients of functions that others wrote for the Array API standard.

Run as a program by the tests (``python -m standard.foreign_code scipy_cases NAME …``), because
SciPy reads ``SCIPY_ARRAY_API`` when it is imported: it checks rows of a module's tables and writes
what went wrong, or nothing, by name, as JSON.
"""

from __future__ import annotations

import importlib
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


def slopes(case: Case, i: int) -> Any:
    """The derivatives with respect to argument `i` by differences, on plain NumPy arrays."""
    found = np.empty(case.arguments[i].shape)
    for place in np.ndindex(found.shape):

        def at(shift: float, place: tuple[int, ...] = place) -> float:
            moved = [np.array(a) for a in case.arguments]
            moved[i][place] += shift * case.step
            return float(number(case, moved))

        found[place] = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * case.step)
    return found


def problem(case: Case) -> str:
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
        differences = slopes(case, i)
        if not np.allclose(gradient.numpy(), differences, rtol=1e-6, atol=1e-7):
            return f"argument {i}: the gradient is {gradient.numpy()}, by differences {differences}"
    return ""


def outcome(case: Case) -> str:
    """`problem`, or the error that was raised."""
    try:
        return problem(case)
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


def report(module: str, names: list[str]) -> dict[str, str]:
    """What is wrong with functions in a module's tables, found in a process of its own."""
    written = run_with_setting(["-m", "standard.foreign_code", module, *names])
    found: dict[str, str] = json.loads(written)
    return found


def main(module: str, *names: str) -> None:
    tables = importlib.import_module(f"standard.{module}")
    cases = [case for case in (*tables.CASES, *tables.REFUSED) if case.name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of divisions by zero, and fits cut short
        json.dump({case.name: outcome(case) for case in cases}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
