"""The solution of a differential equation with derivatives: states, interpolation, events."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction, Array
from ...errors import SingularError
from ..field import Field
from ..formula import as_array, const
from ..implicit import implicit
from ..values import Runs, attach
from .march import Trajectory
from .steps import Steps


def _refuse_jump(trajectory: Trajectory, stages: Any, times: Any, y0: Any) -> None:
    """Raise if the right-hand side jumps at a time that depends on parameters."""
    if isinstance(y0, Array):
        return
    field, points = trajectory.field, trajectory.points(stages, times, y0)
    if not field.has_choices:
        return
    # A solver may have smoothed the jump in its stages.
    values = const(field(points, [const(array) for array in field.outside]))
    time = field.jump(points[0], values, by_outside_only=False)
    if time is not None:
        raise SingularError(
            f"the right-hand side jumps near t = {time:.6g}, at a time that depends on a parameter "
            "or on the state, so that its derivative misses what a shift of the jump adds: stop at "
            "the jump by a terminal event, and start again after it"
        )


class Path:
    """A solution, as a function of the initial state, the ends and what the equation depends on.

    Parameters
    ----------
    runs : Runs
    f : callable
        The right-hand side f(t, y), of a state with n numbers, which may be complex.
    steps : list of Steps
        The steps of each member of a batch.
    start, end : array
        The first time, and the time at which the solver was to stop.
    y0 : array
        The initial state.
    """

    def __init__(
        self, runs: Runs, f: AnyFunction, steps: list[Steps], start: Any, end: Any, y0: Any
    ) -> None:
        self.is_complex = any(np.iscomplexobj(s.stages) for s in steps)
        self.tableau = steps[0].tableau
        count = max(len(s.stages) for s in steps)
        padded = [s.padded(count) for s in steps]
        self.plain_times = [s.times for s in steps]
        times = runs.join([s.times for s in padded])
        stages = runs.join([self._real(s.stages) for s in padded])
        if self.is_complex:
            f = _of_reals(f)
            y0 = (
                ops.concat([ops.real(y0), ops.imag(y0)])
                if _is_complex(y0)
                else ops.concat([y0, ops.zeros_like(y0)])
            )
        self.f = f
        is_first = np.arange(count + 1) == 0
        # The equation ends where it was to end, unless an event came first.
        is_last = runs.join([(s.times == s.times[-1]) & (np.arange(count + 1) > 0) for s in padded])
        reached = ops.abs(times - const(end)) == 0
        self.times = times
        if isinstance(start, Array) or isinstance(end, Array):
            inner = ops.where(is_last & reached, end, times)
            self.times = ops.where(is_first, start, inner)
        trajectory = Trajectory(self.tableau, f, stages, times, const(y0))
        if not isinstance(stages, Array) and len(stages):
            _refuse_jump(trajectory, stages, times, const(y0))
        self.k = trajectory.solved(stages, self.times, y0, check=False)
        self.states = trajectory.starts(self.k, self.times, y0)
        self._field = trajectory.field

    def _real(self, stages: Any) -> Any:
        """Complex numbers as pairs of real numbers."""
        return np.concatenate([stages.real, stages.imag], -1) if self.is_complex else stages

    def as_given(self, states: Any) -> Any:
        """States with complex numbers, if the equation is complex."""
        if not self.is_complex:
            return states
        n = states.shape[-1] // 2
        return states[..., :n] + 1j * states[..., n:]

    def _stages(self, places: Any, start: Any, h: Any) -> Any:
        """The stages of some steps, and those that only the interpolation needs."""
        k, t = ops.take(self.k, places, axis=0), self.tableau
        states = ops.take(self.states, places, axis=0)
        for row, c in zip(t.more_a, t.more_c, strict=True):
            inner = ops.tensordot(row[: k.shape[1]], k, axes=((0,), (1,)))
            at, state = start + c * h, states + h[:, None] * inner
            field = self._field.elsewhere(self.f, const(at), const(state))
            k = ops.concat([k, field((at, state))[:, None, :]], axis=1)
        return k

    def places(self, times: Any, member: int = 0) -> Any:
        """In which steps some times lie; all arrays are plain."""
        return np.clip(self.nodes(times, member) - 1, 0, len(self.plain_times[member]) - 2)

    def nodes(self, times: Any, member: int = 0) -> Any:
        """The numbers of the nodes at, or after, some times; all arrays are plain."""
        mesh = self.plain_times[member]
        if mesh[-1] < mesh[0]:
            mesh, times = -mesh, -times
        return np.minimum(np.searchsorted(mesh, times, side="left"), len(mesh) - 1)

    def at(self, times: Any, places: Any) -> Any:
        """The states at some times, from the polynomials of the steps at `places`."""
        if not isinstance(times, Array) and not isinstance(self.times, Array):
            if np.array_equal(times, self.times[places + 1]):
                return ops.take(self.states, places + 1, axis=0)
        start = ops.take(self.times, places, axis=0)
        h = ops.take(self.times, places + 1, axis=0) - start
        k = self._stages(places, start, h)
        x = (times - start) / h
        powers = ops.stack([x ** (m + 1) for m in range(self.tableau.p.shape[1])], axis=-1)
        weights = ops.matmul(powers, self.tableau.p.T)
        moved = h[:, None] * ops.sum(weights[:, :, None] * k, axis=1)
        return ops.take(self.states, places, axis=0) + moved

    def event(self, g: AnyFunction, times: Any, places: Any) -> tuple[Any, Any]:
        """The times of an event, where g(t, y(t)) is zero; and the states then."""
        states = self.at(times, places)

        def of_point(t: Any, y: Any) -> Any:
            value = as_array(g(t, self.as_given(y)))
            return ops.reshape(value, ()) if value.ndim else value

        field = Field(of_point, times, const(states))
        # The polynomials of an implicit method are not quite those in which SciPy found the event.
        exact = self.tableau.is_explicit
        found = implicit(lambda t: field((t, self.at(t, places))), times, check=exact)
        return found, self.at(found, places)


def _is_complex(x: Any) -> bool:
    return bool(np.dtype(x.dtype).kind == "c")


def _of_reals(f: AnyFunction) -> AnyFunction:
    """A complex right-hand side as one of real and imaginary parts."""

    def real(t: Any, y: Any) -> Any:
        n = y.shape[-1] // 2
        value = as_array(f(t, y[:n] + 1j * y[n:]))
        return ops.concat([ops.real(value), ops.imag(value) if _is_complex(value) else 0 * value])

    return real


class Solution:
    """The continuous solution that `solve_ivp(dense_output=True)` returns, with derivatives.

    Called with a time or a vector of times, like SciPy's `OdeSolution`.
    """

    def __init__(self, path: Path | None, own: Any) -> None:
        self._path, self._own = path, own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def __call__(self, t: Any) -> Any:
        t = as_array(t)
        if self._path is None or _has_batch(t) or isinstance(self._own, list):
            raise ValueError(
                "the continuous solution cannot be called under vmap: pass t_eval to solve_ivp"
            )
        plain = const(t)
        value = self._own(plain)
        flat = ops.reshape(t, (-1,))
        places = self._path.places(np.reshape(plain, (-1,)))
        states = ops.matrix_transpose(self._path.as_given(self._path.at(flat, places)))
        return attach(value, ops.reshape(states, value.shape))


def _has_batch(x: Any) -> bool:
    return isinstance(const(x), Array)
