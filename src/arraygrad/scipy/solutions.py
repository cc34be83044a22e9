"""Checks that what a solver returned is a solution, and a smooth function of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..core.array import plain
from ..errors import NotASolutionError, SingularError
from .formula import const

_TOLERANCE: ContextVar[float] = ContextVar("arraygrad_solution_tolerance", default=1e-5)
_SINGULAR = 1e13  # the condition number from which on a matrix is called singular


@contextmanager
def solution_tolerance(tolerance: float) -> Iterator[None]:
    """How far from a solution x may be, by the length of a Newton step over 1 + |x|.

    Derivatives are computed at the x that SciPy returned. If a Newton step from there is longer
    than the tolerance, differentiating raises an error. By default, the tolerance is 1e-5.
    """
    before = _TOLERANCE.get()
    try:
        _TOLERANCE.set(tolerance)
        yield
    finally:
        _TOLERANCE.set(before)


def check_condition(matrix: Any) -> None:
    """Raise if a Jacobian, a plain array, is singular."""
    with np.errstate(all="ignore"):  # scaled, so that units do not matter
        rows = np.max(np.abs(matrix), axis=-1, keepdims=True, initial=0.0)
        matrix = matrix / np.where(rows == 0, 1.0, rows)
        columns = np.max(np.abs(matrix), axis=-2, keepdims=True, initial=0.0)
        matrix = matrix / np.where(columns == 0, 1.0, columns)
        condition = np.max(_condition(matrix), initial=0.0)
    if not condition < _SINGULAR:
        raise singular(condition)


def singular(condition: float) -> SingularError:
    """The error for a singular Jacobian."""
    return SingularError(
        "the solution is not a smooth function of the parameters: the Jacobian of the equations at "
        f"the solution is singular (condition number {condition:.1e}). It may be a double root, or "
        "depend on one unknown too many"
    )


def _condition(matrix: Any) -> Any:
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.inf
    size = np.linalg.norm(matrix, 1, axis=(-2, -1)) * np.linalg.norm(inverse, 1, axis=(-2, -1))
    return np.where(np.isnan(size), np.inf, size)


def check_step(x: Any, step: Any) -> None:
    """Raise if a Newton step is too long."""
    at, step = np.abs(np.asarray(plain(const(x)))), np.abs(np.asarray(plain(const(step))))
    excess = np.max(step, initial=0.0) / (1.0 + np.max(at, initial=0.0))
    if not excess <= _TOLERANCE.get():
        raise NotASolutionError(
            "what the solver returned is not a solution, so it has no derivative: a Newton step "
            f"from there changes it by {excess:.1e} of its size. Look at the solver's message, "
            "lower its tolerance, or use arraygrad.scipy.solutions.solution_tolerance() if the "
            "derivative there is meant"
        )
