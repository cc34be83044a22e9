"""Checks that what a solver returned is a solution, and a smooth function of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .. import ops
from ..core.array import plain
from ..errors import NotASolutionError, SingularError
from .formula import const

_TOLERANCE: ContextVar[float] = ContextVar("arraygrad_solution_tolerance", default=1e-5)
_CHANGE = 1e-3  # how much a derivative may change by a step that is a large part of a small x
_SINGULAR = 1e13  # the condition number from which on a matrix is called singular


@contextmanager
def solution_tolerance(tolerance: float) -> Iterator[None]:
    """How far from a solution x may be, by the length of a Newton step over |x|.

    Derivatives are computed at the x that SciPy returned. If a Newton step from there is longer
    than the tolerance, differentiating raises an error. By default, the tolerance is 1e-5. Near
    zero, a step may be a larger part of x, if it does not change the derivative.
    """
    before = _TOLERANCE.get()
    try:
        _TOLERANCE.set(tolerance)
        yield
    finally:
        _TOLERANCE.set(before)


def check_condition(matrix: Any) -> None:
    """Raise if a Jacobian, a plain array, is singular."""
    with np.errstate(all="ignore"):
        if np.max(_condition(matrix), initial=0.0) < _SINGULAR:
            return
        # It may be due to units: scaled, they do not matter.
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


def check_step(x: Any, step: Any, derivative: Callable[[Any], Any] | None = None) -> None:
    """Raise if a Newton step is too long.

    It may be a large part of a small x, if the derivative is the same before and after the step.
    """
    size = float(np.max(np.abs(np.asarray(plain(const(x)))), initial=0.0))
    length = float(np.max(np.abs(np.asarray(plain(const(step)))), initial=0.0))
    tolerance = _TOLERANCE.get()
    if length <= tolerance * size:
        return
    excess = length / (1.0 + size)
    if excess <= tolerance:
        if derivative is None or not length:
            return
        before, after = derivative(x), derivative(x - ops.reshape(const(step), x.shape))
        if np.max(np.abs(after - before), initial=0.0) <= _CHANGE * np.max(np.abs(before)):
            return
        excess = length / size if size else np.inf
    raise NotASolutionError(
        "what the solver returned is not a solution, so it has no derivative: a Newton step "
        f"from there changes it by {excess:.1e} of its size. Look at the solver's message, "
        "lower its tolerance, or use arraygrad.scipy.solutions.solution_tolerance() if the "
        "derivative there is meant"
    )
