"""The steps that SciPy's solvers of differential equations take, written down as they run."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .tableaus import Tableau, explicit, radau

# How many numbers the stages of all steps may have, if they can be computed again: of an explicit
# method with long states, for which this takes little longer; with others; of an implicit method,
# for which it takes much longer.
_MOST_LONG, _MOST, _MOST_IMPLICIT = 2**17, 2**19, 2**21
_LONG = 64


class Steps(NamedTuple):
    """The accepted steps of a solver, as steps of a Runge–Kutta method.

    Attributes
    ----------
    times : array of shape (steps + 1,)
    stages : array of shape (steps, stages, n), or None
        The slopes K; None if they would take too much memory.
    """

    tableau: Tableau
    times: Any
    stages: Any

    def padded(self, count: int) -> Steps:
        """As many steps as `count`: further ones have length zero."""
        more = count - len(self.stages)
        if not more:
            return self
        times = np.concatenate([self.times, np.repeat(self.times[-1:], more)])
        return Steps(self.tableau, times, np.pad(self.stages, ((0, more), (0, 0), (0, 0))))


class Log:
    """The steps of a solver while it runs.

    With `may_forget`, stages are kept only while they take little memory: they can be computed
    again.
    """

    def __init__(
        self, may_forget: bool = False, note: Callable[[float], object] | None = None
    ) -> None:
        self.times = array("d")
        self.stages: list[Any] | None = []
        self.may_forget = may_forget
        self._note = note  # called with the time after each step
        self.is_explicit = True
        self._size = 0

    def add(self, start: float, end: float, stages: Any) -> None:
        """Note a step."""
        if not self.times:
            self.times.append(start)
        self.times.append(end)
        if self._note is not None:
            self._note(end)
        if self.stages is None:
            return
        self.stages.append(stages)
        self._size += stages.size
        if self.may_forget and self._size > self._most(stages.shape[-1]):
            self.stages = None

    def _most(self, n: int) -> int:
        if not self.is_explicit:
            return _MOST_IMPLICIT
        return _MOST_LONG if n >= _LONG else _MOST

    def steps(self, tableau: Tableau) -> Steps:
        """The steps so far."""
        stages = None if self.stages is None else np.stack(self.stages)
        return Steps(tableau, np.array(self.times), stages)


def _parts(dense: Any) -> int:
    """Into how many steps of Radau's method, of order five, a step of LSODA is divided.

    LSODA can be of order twelve; its interpolating polynomials have a power for each.
    """
    order = len(getattr(dense, "p", ())) - 1
    return 1 if order <= 5 else 2 if order <= 8 else 4


def recording(method: Any, log: Log) -> tuple[Any, Tableau]:
    """A class that solves like `method` and writes its steps to `log`; and its tableau."""
    if hasattr(method, "n_stages") and hasattr(method, "B"):
        tableau = explicit(method)

        def note(solver: Any) -> None:
            stages = np.array(solver.K[: len(tableau.b)])
            if solver.t == solver.t_old:
                stages[...] = solver.fun_single(solver.t, solver.y)
            log.add(solver.t_old, solver.t, stages)

    else:
        tableau = radau()
        log.is_explicit = False
        places = np.append(0.0, tableau.c)
        inverse = np.linalg.inv(tableau.a)

        def note(solver: Any) -> None:
            if solver.t == solver.t_old or not solver.n:
                slope = solver.fun_single(solver.t, solver.y)
                log.add(solver.t_old, solver.t, np.stack([slope] * 3))
                return
            dense = solver.dense_output()
            count = _parts(dense)
            h = (solver.t - solver.t_old) / count
            for i in range(count):
                start = solver.t_old + i * h
                end = solver.t if i + 1 == count else start + h
                if log.stages is None:
                    log.add(start, end, None)
                    continue
                states = dense(start + places * h).T
                log.add(start, end, inverse @ (states[1:] - states[0]) / h)

    class Recording(method):  # type: ignore[misc]
        def step(self) -> Any:
            message = super().step()
            if self.status != "failed":
                note(self)
            return message

    Recording.__name__ = method.__name__
    return Recording, tableau
