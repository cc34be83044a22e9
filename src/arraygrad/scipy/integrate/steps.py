"""The steps that SciPy's solvers of differential equations take, written down as they run."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from .tableaus import Tableau, explicit, radau

# Into how many steps of Radau's method a step of another implicit method is divided. LSODA can be
# of order twelve, Radau is of order five.
_PARTS = {"LSODA": 4, "BDF": 2}


class Steps(NamedTuple):
    """The accepted steps of a solver, as steps of a Runge–Kutta method.

    Attributes
    ----------
    times : array of shape (steps + 1,)
    stages : array of shape (steps, stages, n)
        The slopes K.
    """

    tableau: Tableau
    times: Any
    stages: Any

    def padded(self, count: int) -> Steps:
        """As many steps as `count`: further ones have length zero."""
        more = count - len(self.stages)
        times = np.concatenate([self.times, np.repeat(self.times[-1:], more)])
        return Steps(self.tableau, times, np.pad(self.stages, ((0, more), (0, 0), (0, 0))))


def recording(method: Any, log: list[Any]) -> tuple[Any, Tableau]:
    """A class that solves like `method` and writes its steps to `log`; and its tableau."""
    if hasattr(method, "n_stages") and hasattr(method, "B"):
        tableau = explicit(method)

        def note(solver: Any) -> None:
            stages = np.array(solver.K[: len(tableau.b)])
            if solver.t == solver.t_old:
                stages[...] = solver.fun_single(solver.t, solver.y)
            log.append((solver.t_old, solver.t, stages))

    else:
        tableau = radau()
        inverse = np.linalg.inv(tableau.a)
        parts = _PARTS.get(method.__name__, 1)

        def note(solver: Any) -> None:
            if solver.t == solver.t_old:
                slope = solver.fun_single(solver.t, solver.y)
                log.append((solver.t_old, solver.t, np.stack([slope] * 3)))
                return
            dense = solver.dense_output()
            ends = np.linspace(solver.t_old, solver.t, parts + 1)
            for start, end in itertools.pairwise(ends):
                h = end - start
                states = dense(np.append(start, start + tableau.c * h)).T
                log.append((start, end, inverse @ (states[1:] - states[0]) / h))

    class Recording(method):  # type: ignore[misc]
        def step(self) -> Any:
            message = super().step()
            if self.status != "failed":
                note(self)
            return message

    Recording.__name__ = method.__name__
    return Recording, tableau


def steps_of(tableau: Tableau, log: list[Any]) -> Steps:
    """The steps in a log."""
    times = np.array([log[0][0], *(end for _, end, _ in log)])
    return Steps(tableau, times, np.stack([stages for _, _, stages in log]))
