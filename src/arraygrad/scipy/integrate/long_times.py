"""Trajectories of so many steps that their stages do not fit in memory.

Only states at a few times are kept. For derivatives, the steps between two of them are taken again,
with states at a few times between these, and so on: the memory grows with the logarithm of the
number of steps.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction, Array
from ...errors import NotASolutionError
from ...func import jvp, vjp
from ...ops.define.library import declare
from ..field import Field
from ..formula import Formula, capture, const
from ..linear import is_floating, of_places
from ..values import Runs, attach
from .march import Trajectory, march
from .path import Path
from .steps import Steps
from .tableaus import Tableau, moved

_PARTS = 16  # into how many parts a range of steps is divided
_ITERATIONS, _SMALL = 12, 1e-11  # of Newton's method, and its last change of a state
_SHORT = 2**15  # how many numbers the stages of a range may have that is not divided


def as_formula(runs: Runs, f: AnyFunction, time: float, y0: Any) -> Formula | None:
    """The right-hand side as a formula; None if its steps cannot be taken again by it.

    They cannot in a batch, for complex states, or if the function takes decisions.
    """
    if not runs.is_single or np.dtype(y0.dtype).kind == "c":
        return None
    formula = capture(f, time, const(y0))
    return None if formula.has_branches else formula


def long_solution(
    runs: Runs,
    result: Any,
    formula: Formula,
    steps: Steps,
    start: Any,
    end: Any,
    y0: Any,
    t_eval: Any,
) -> tuple[Any, Any]:
    """The times and states of a result with derivatives."""
    (tableau, times, _), values = steps, result.t
    mesh = _between(times, start, end)
    at = ops.astype(t_eval, times.dtype)[: len(values)]
    places = np.clip(np.searchsorted(_rising(times), _rising(values, times)) - 1, 0, len(times) - 2)
    theta = [const(array) for array in formula.outside]
    y, done, columns = y0, 0, []
    for place in np.unique(places):
        y = _range(y, mesh[done : place + 1], *formula.outside, formula=formula, tableau=tableau)
        ends, inside = mesh[place : place + 2], places == place
        stages = _replayed(formula, tableau, const(y), const(ends), theta)
        step = Steps(tableau, times[place : place + 2], stages)
        path = Path(runs, _closed(formula), [step], ends[0], ends[1], y)
        columns.append(path.at(at[inside], np.zeros(inside.sum(), int)))
        done = place
    states = attach(result.y, ops.matrix_transpose(ops.concat(columns)))
    return (attach(values, at) if isinstance(at, Array) else values), states


def _closed(formula: Formula) -> AnyFunction:
    return lambda t, y: formula(t, y, *formula.outside)


def _rising(times: Any, mesh: Any = None) -> Any:
    """Times that rise, also where the mesh falls."""
    mesh = times if mesh is None else mesh
    return times if mesh[-1] >= mesh[0] else -times


def _between(times: Any, start: Any, end: Any) -> Any:
    """The mesh, as a function of its ends."""
    if not isinstance(start, Array) and not isinstance(end, Array):
        return times
    place = np.arange(len(times))
    return ops.where(place == 0, start, ops.where(place == len(times) - 1, end, times))


# --- the op: the state after a range of steps ----------------------------------------------------


def _replayed(formula: Formula, tableau: Tableau, y: Any, times: Any, theta: Sequence[Any]) -> Any:
    """The stages of steps that are taken again."""
    return ops.stack([k for k, _ in _steps(formula, tableau, y, times, theta)])


def _steps(formula: Formula, tableau: Tableau, y: Any, times: Any, theta: Sequence[Any]) -> Any:
    """The stages of each step, and the state after it. All arrays are plain."""
    field = Field.of_formula(formula, theta)
    guess = None
    for i in range(times.shape[0] - 1):
        t, h = times[i], times[i + 1] - times[i]
        stages: Any = []
        if tableau.is_explicit:
            for row, c in zip(tableau.a, tableau.c, strict=True):
                stages.append(formula(t + c * h, moved(y, h, row, stages), *theta))
        else:
            stages = guess = _implicit_stages(field, tableau, times[i : i + 2], y, guess)
        y = moved(y, h, tableau.b, stages)
        yield ops.stack(list(stages)), y


def _implicit_stages(field: Field, tableau: Tableau, times: Any, y: Any, guess: Any) -> Any:
    """The stages of one step of an implicit method, by Newton's iteration."""
    if guess is None:
        guess = np.zeros((len(tableau.b), *y.shape))
    k = np.repeat(guess[-1:], len(guess), axis=0)[None]
    trajectory = Trajectory(tableau, field, k, times, y)
    theta = times, y, *field.outside
    size = 1.0 + np.max(np.abs(y), initial=0.0)
    for _ in range(_ITERATIONS):
        change = march(trajectory, k, theta, np.asarray(trajectory(k, *theta)), False)
        k = k - change
        if np.max(np.abs(change), initial=0.0) * abs(times[1] - times[0]) <= _SMALL * size:
            return k[0]
    raise NotASolutionError(
        f"solve_ivp: the step from {times[0]:.6g} to {times[1]:.6g} could not be taken again by "
        "Newton's iteration, so the solution has no derivatives: lower rtol and atol, or leave out "
        "t_eval, which keeps all stages in memory"
    )


def _compute(xp: Any, y: Any, times: Any, *theta: Any, formula: Formula, tableau: Tableau) -> Any:
    for _, state in _steps(formula, tableau, y, times, theta):
        y = state
    return y


def _by_parts(formula: Formula, tableau: Tableau, y: Any, times: Any, *theta: Any) -> Any:
    """The same by differentiable functions: of shorter ranges, or of all stages of a short one."""
    count = times.shape[0] - 1
    if not count:
        return y
    short = max(1, _SHORT // (len(tableau.b) * y.shape[-1]))
    if count <= short:
        stages = _replayed(formula, tableau, const(y), const(times), [const(t) for t in theta])
        field = Field.of_formula(formula, theta)
        trajectory = Trajectory(tableau, field, stages, const(times), const(y))
        k = trajectory.solved(stages, times, y, check=False)
        return trajectory.starts(k, times, y)[-1]
    edges = np.linspace(0, count, min(_PARTS, math.ceil(count / short)) + 1).astype(int)
    for low, high in itertools.pairwise(edges):
        y = _range(y, times[low : high + 1], *theta, formula=formula, tableau=tableau)
    return y


def _reverse(
    g: Any, wanted: Sequence[bool], y: Any, times: Any, theta: Any, formula: Any, tableau: Any
) -> list[Any]:
    given = [y, times, *theta]
    pairs = zip(given, wanted, strict=False)
    places = [i for i, (array, is_wanted) in enumerate(pairs) if is_wanted and is_floating(array)]
    by_parts = functools.partial(_by_parts, formula, tableau)
    _, pull = vjp(of_places(by_parts, given, places), *(given[i] for i in places))
    result: list[Any] = [None] * len(given)
    for i, part in zip(places, pull(g), strict=True):
        result[i] = part
    return result


def _forward(
    t_y: Any, t_times: Any, t_theta: Any, y: Any, times: Any, theta: Any, formula: Any, tableau: Any
) -> Any:
    given, tangents = [y, times, *theta], [t_y, t_times, *t_theta]
    places = [i for i, t in enumerate(tangents) if t is not None]
    by_parts = functools.partial(_by_parts, formula, tableau)
    moving = tuple(given[i] for i in places), tuple(tangents[i] for i in places)
    return jvp(of_places(by_parts, given, places), *moving)[1]


_range = declare(
    "trajectory_range",
    "y",
    "times",
    "*theta",
    compute=_compute,
    joint=_reverse,
    jvp=_forward,
    holomorphic=False,
)
