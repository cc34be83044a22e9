"""A trajectory as an implicit function of the right-hand side, the initial state and the times.

All stages K of all steps of a Runge–Kutta method solve one system of equations, K = f(t, y(K)). Its
Jacobian is triangular in time. To solve with it is to march through time: forward for tangents,
backward for cotangents. The right-hand side is evaluated for all stages at once.

If the Jacobians of all stages would take much time or memory, `long_states` does it step by step.
"""

from __future__ import annotations

import math
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
_LONG = 24  # how long a state may be, if its Jacobians are to be formed where they need not be


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

    def slopes(self, k: Any, times: Any, y0: Any, outside: Sequence[Any]) -> Any:
        """The Jacobian of f at each stage, of the shape (steps, stages, n, n)."""

        def blocks() -> Any:
            points = self.points(k, times, y0)
            found = self.field.map(lambda f: jacfwd(f, argnums=1), points, outside)
            return np.asarray(found).reshape(*k.shape, k.shape[-1])

        return remembered(self, (k, times, y0, *outside), blocks)


def march(formula: Any, k: Any, theta: Sequence[Any], b: Any, adjoint: bool) -> Any:
    """Solve J w = b, or Jᵀ w = b, where J is the Jacobian of a trajectory by its stages."""
    times, y0, *outside = theta
    h = np.diff(times)
    tableau, n = formula.tableau, k.shape[-1]
    if math.prod(k.shape) * n > _MOST or (tableau.is_explicit and n > _LONG):
        return march_by_steps(formula, k, times, y0, outside, b, adjoint)
    slopes = formula.slopes(k, times, y0, outside)
    stages = Stages(tableau, slopes, h, adjoint)
    q = stages.solve(b[..., None])[..., 0]
    w = np.empty_like(q)
    if adjoint:
        weights = h[:, None, None, None] * tableau.b[:, None, None] * np.eye(n)
        v = stages.solve(weights)
        pulled = np.einsum("isab,isa->ib", slopes, q)
        back = np.einsum("isab,isac->ibc", slopes, v)
        total = np.zeros_like(y0)
        for i in reversed(range(len(h))):
            w[i] = q[i] + v[i] @ total
            total = total + back[i] @ total + pulled[i]
        return w
    u = stages.solve(slopes)
    pushed = h[:, None] * np.tensordot(tableau.b, q, ((0,), (1,)))
    ahead = h[:, None, None] * np.tensordot(tableau.b, u, ((0,), (1,)))
    state = np.zeros_like(y0)
    for i in range(len(h)):
        w[i] = q[i] + u[i] @ state
        state = state + ahead[i] @ state + pushed[i]
    return w
