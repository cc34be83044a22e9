"""A trajectory as an implicit function of the right-hand side, the initial state and the times.

All stages K of all steps of a Runge–Kutta method solve one system of equations, K = f(t, y(K)). Its
Jacobian is triangular in time. To solve with it is to march through time: forward for tangents,
backward for cotangents. The right-hand side is evaluated for all stages at once.

If f has so many components that the Jacobians of all stages would take much time or memory, the
march differentiates one step after the other.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction
from ...func import jacfwd, jvp, vjp
from ..field import Field
from ..implicit import remembered, solve_implicit
from .tableaus import Tableau

_MOST = 2**24  # how many numbers the Jacobians of all stages may have
_LONG = 24  # how long a state may be, if its Jacobians are to be formed where they need not be


class Trajectory:
    """The equations for all stages: a formula of ``K, times, y0`` and what f depends on.

    K has the shape (steps, stages, n).
    """

    def __init__(self, tableau: Tableau, f: AnyFunction, stages: Any, times: Any, y0: Any) -> None:
        """`stages`, `times` and `y0` have no derivatives; they may be batches."""
        self.tableau = tableau
        at, states = self.points(stages, times, y0)
        self.field = Field(f, at, states)

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
        return _by_steps(formula, k, times, y0, outside, b, adjoint)
    slopes = formula.slopes(k, times, y0, outside)
    stages = _Stages(tableau, slopes, h, adjoint)
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


class _Stages:
    """The equations between the stages of each step: ``X_s − h J_s Σ a_sj X_j = R_s``."""

    def __init__(self, tableau: Tableau, slopes: Any, h: Any, adjoint: bool) -> None:
        self.adjoint = adjoint
        self.is_explicit = tableau.is_explicit
        self.a = tableau.a
        self.slopes = np.swapaxes(slopes, -1, -2) if adjoint else slopes
        self.h = h[:, None, None]
        if not self.is_explicit:
            steps, s, n, _ = slopes.shape
            product = self.h[..., None, None] * np.einsum("sj,isab->isajb", self.a, slopes)
            matrix = np.eye(s * n) - product.reshape(steps, s * n, s * n)
            self.matrix = np.swapaxes(matrix, -1, -2) if adjoint else matrix

    def solve(self, right: Any) -> Any:
        """The solution for right-hand sides of the shape (steps, stages, n, columns)."""
        shape = right.shape
        if not self.is_explicit:
            flat = right.reshape(shape[0], shape[1] * shape[2], shape[3])
            return np.linalg.solve(self.matrix, flat).reshape(shape)
        found = np.array(np.broadcast_to(right, shape))
        stages = range(shape[1])
        for s in reversed(stages) if self.adjoint else stages:
            others = self.a[:, s] if self.adjoint else self.a[s]
            used = [j for j in stages if others[j]]
            if not used:
                continue
            if self.adjoint:  # the slope is that of the later stage
                parts = [others[j] * (self.slopes[:, j] @ found[:, j]) for j in used]
                found[:, s] += self.h * sum(parts)
            else:
                mixed = sum(others[j] * found[:, j] for j in used)
                found[:, s] += self.h * (self.slopes[:, s] @ mixed)
        return found


def _by_steps(
    formula: Trajectory, k: Any, times: Any, y0: Any, outside: Any, b: Any, adjoint: bool
) -> Any:
    """March without the Jacobians of all stages.

    Each step of an explicit method is differentiated by itself, as a function of its first state
    and of a change of each of its stages. An implicit method takes the Jacobians of one step.
    """
    h = np.diff(times)
    at, states = (np.asarray(x) for x in formula.points(k, times, y0))
    steps, count, n = k.shape
    starts = np.asarray(formula.starts(k, times, y0))
    nothing = np.zeros((count, n), k.dtype)
    w = np.empty_like(k)
    total = np.zeros_like(y0)
    for i in reversed(range(steps)) if adjoint else range(steps):
        if not formula.tableau.is_explicit:
            w[i], total = _implicit_step(
                formula, i, at, states, outside, h[i], b[i], total, adjoint
            )
            continue
        step = functools.partial(_explicit_step, formula, i, at, outside, h[i])
        if adjoint:
            total, w[i] = vjp(step, starts[i], nothing)[1]((total, b[i]))
        else:
            _, (total, w[i]) = jvp(step, (starts[i], nothing), (total, b[i]))
    return w


def _explicit_step(
    formula: Trajectory, i: int, at: Any, outside: Any, h: float, y: Any, change: Any
) -> tuple[Any, Any]:
    """The state after a step, and its stages, to which `change` is added."""
    tableau, count = formula.tableau, len(formula.tableau.b)
    stages: list[Any] = []
    for s in range(count):
        place = i * count + s
        own, more = formula.field.at(place)
        state = y
        for weight, stage in zip(tableau.a[s], stages, strict=False):
            if weight:
                state = state + (h * weight) * stage
        stages.append(own(at[place], state, *outside[more]) + change[s])
    end = y
    for weight, stage in zip(tableau.b, stages, strict=True):
        if weight:
            end = end + (h * weight) * stage
    return end, ops.stack(stages)


def _implicit_step(
    formula: Trajectory,
    i: int,
    at: Any,
    states: Any,
    outside: Any,
    h: float,
    b: Any,
    total: Any,
    adjoint: bool,
) -> tuple[Any, Any]:
    tableau = formula.tableau
    count = b.shape[0]
    rows = []
    for place in range(i * count, (i + 1) * count):
        own, more = formula.field.at(place)
        rows.append(jacfwd(own, argnums=1)(at[place], states[place], *outside[more]))
    slopes = np.stack([np.asarray(row) for row in rows])
    stages = _Stages(tableau, slopes[None], np.array([h]), adjoint)
    if adjoint:
        right = b + h * tableau.b[:, None] * total
        w = stages.solve(right[None, ..., None])[0, ..., 0]
        return w, total + np.einsum("sab,sa->b", slopes, w)
    right = b + slopes @ total
    w = stages.solve(right[None, ..., None])[0, ..., 0]
    return w, total + h * np.tensordot(tableau.b, w, 1)
