"""A trajectory as an implicit function of the right-hand side, the initial state and the times.

All stages K of all steps of a Runge–Kutta method solve one system of equations, K = f(t, y(K)). Its
Jacobian is triangular in time. To solve with it is to march through time: forward for tangents,
backward for cotangents. The right-hand side is evaluated for all stages at once.

If the Jacobians of all stages would take much time or memory, `long_states` does it step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction
from ...func import jacfwd
from ..field import Field
from ..implicit import solve_implicit
from ..linear import remembered
from .long_states import march_by_steps
from .stages import Stages
from .tableaus import Tableau

_MOST = 2**24  # how many numbers the Jacobians of all stages may have
_CHUNK = 2**20  # how many of them are computed at once
# How long a state of an explicit or of an implicit method may be, if its Jacobians are formed.
_LONG = 24, 40


class Trajectory:
    """The equations for all stages: a formula of ``K, times, y0`` and what f depends on.

    K has the shape (steps, stages, n).
    """

    def __init__(
        self, tableau: Tableau, f: AnyFunction | Field, stages: Any, times: Any, y0: Any
    ) -> None:
        """`stages`, `times` and `y0` have no derivatives; they may be batches."""
        self.tableau = tableau

        own = f if isinstance(f, Field) else Field(f, *self.points(stages, times, y0))
        self.field: Field = own

    def starts(self, k: Any, times: Any, y0: Any) -> Any:
        """The states at all times, of the shape (steps + 1, n)."""
        steps = (times[1:] - times[:-1])[:, None] * ops.tensordot(
            self.tableau.b, k, axes=((0,), (1,))
        )
        return y0 + ops.concat([ops.zeros_like(steps[:1]), ops.cumulative_sum(steps, axis=0)])

    def points(self, k: Any, times: Any, y0: Any) -> tuple[Any, Any]:
        """The times and states of all stages, one after the other."""
        h = times[1:] - times[:-1]
        inner = ops.matmul(self.tableau.a, k)
        states = self.starts(k, times, y0)[:-1, None, :] + h[:, None, None] * inner
        at = times[:-1, None] + self.tableau.c * h[:, None]
        n = k.shape[-1]
        return ops.reshape(at, (-1,)), ops.reshape(states, (-1, n))

    def __call__(self, k: Any, times: Any, y0: Any, *outside: Any) -> Any:
        """What is left of the equations: K − f."""
        values = self.field(self.points(k, times, y0), outside)
        return k - ops.reshape(values, k.shape)

    def solved(self, k: Any, times: Any, y0: Any, check: bool) -> Any:
        """The stages with derivatives."""
        outside = (times, y0, *self.field.outside)
        return solve_implicit(k, outside, self, march, check)

    # --- for the march: all arrays are plain ---

    def slopes(self, k: Any, times: Any, y0: Any, outside: Sequence[Any], steps: range) -> Any:
        """The Jacobian of f at each stage of some steps, of the shape (steps, stages, n, n)."""
        count, n = k.shape[1:]

        def blocks() -> Any:
            points = self.points(k, times, y0)
            places = None
            if len(steps) < len(k):
                places = np.arange(steps.start * count, steps.stop * count)
            found = self.field.map(lambda f: jacfwd(f, argnums=1), points, outside, places)
            return np.asarray(found).reshape(len(steps), count, n, n)

        if len(steps) < len(k):
            return blocks()
        return remembered(self, (k, times, y0, *outside), blocks)


def march(formula: Any, k: Any, theta: Sequence[Any], b: Any, adjoint: bool) -> Any:
    """Solve J w = b, or Jᵀ w = b, where J is the Jacobian of a trajectory by its stages."""
    times, y0, *outside = theta
    tableau, (steps, count, n) = formula.tableau, k.shape
    if steps * count * n**2 > _MOST or n > _LONG[not tableau.is_explicit]:
        return march_by_steps(formula, k, times, y0, outside, b, adjoint)
    h = np.diff(times)
    w = np.empty_like(k)
    total = np.zeros_like(y0)
    at_once = max(1, _CHUNK // (count * n**2))
    parts = [range(i, min(i + at_once, steps)) for i in range(0, steps, at_once)]
    run = _backward if adjoint else _forward
    for part in parts[::-1] if adjoint else parts:
        own = slice(part.start, part.stop)
        slopes = formula.slopes(k, times, y0, outside, part)
        w[own], total = run(Stages(tableau, slopes, h[own], adjoint), h[own], b[own], total)
    return w


def _forward(stages: Stages, h: Any, b: Any, state: Any) -> tuple[Any, Any]:
    """March through some steps: the stages, and the state after them."""
    found = stages.solve(np.concatenate([b[..., None], stages.slopes], axis=-1))
    q, u = found[..., 0], found[..., 1:]
    weights = stages.tableau.b
    pushed = h[:, None] * np.tensordot(weights, q, ((0,), (1,)))
    ahead = h[:, None, None] * np.tensordot(weights, u, ((0,), (1,)))
    for i in range(len(h)):
        q[i] += u[i] @ state
        state = state + ahead[i] @ state + pushed[i]
    return q, state


def _backward(stages: Stages, h: Any, b: Any, total: Any) -> tuple[Any, Any]:
    """March back through some steps: the stages, and the cotangent of the state before them."""
    shares = h[:, None, None, None] * stages.tableau.b[:, None, None] * np.eye(b.shape[-1])
    found = stages.solve(np.concatenate([b[..., None], shares], axis=-1))
    moved = (stages.slopes.mT @ found).sum(1)
    (q, v), (pulled, back) = ((x[..., 0], x[..., 1:]) for x in (found, moved))
    for i in reversed(range(len(h))):
        q[i] += v[i] @ total
        total = total + back[i] @ total + pulled[i]
    return q, total
