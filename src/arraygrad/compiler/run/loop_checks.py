"""Steps of a loop that are compared with NumPy: for ``compile(check=True)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..trace.bodies import Body
from .checked import compare


class StepChecks:
    """Called after each step of a loop: what it computed must be what NumPy makes of the same.

    Parameters
    ----------
    loop : Loop
        For errors.
    body : Body
        From constants, the state and elements, to the next state and results.
    given : sequence of arrays
        The constants, the first state, and what the loop goes over.
    constants, states : int
        How many of these are constants, and how many the state.
    rows : sequence of arrays
        Where the results of the steps are written.
    order : sequence of int
        The steps, in their order: their places in what the loop goes over, and in the results.
    condition : Body, optional
        Takes `asked`, constants of its own, and the state.
    """

    def __init__(
        self,
        loop: Any,
        body: Body,
        given: Sequence[Any],
        constants: int,
        states: int,
        rows: Sequence[Any] = (),
        order: Sequence[int] = (),
        condition: Body | None = None,
        asked: Sequence[Any] = (),
    ) -> None:
        self._loop, self._body = loop, body
        self._constants = given[:constants]
        self._state = [np.array(x) for x in given[constants : constants + states]]
        self._xs = given[constants + states :]
        self._rows, self._order = rows, order
        self._condition, self._asked = condition, asked

    def __call__(self, number: int, state: Sequence[Any]) -> None:
        """Compare the state after so many steps, and the results of the last of them."""
        step = number - 1
        self._ask(step, True)
        at = self._order[step] if self._order else step
        with np.errstate(all="ignore"):
            wanted = self._body([*self._constants, *self._state, *(x[at] for x in self._xs)])
        found = [*state, *(row[at] for row in self._rows)]
        for x, y, node in zip(found, wanted, self._body.outputs, strict=True):
            compare(np.asarray(x), y, node, f"step {step} of a {repr(self._loop)[1:-1]}")
        self._state = [np.array(x) for x in state]

    def end(self, number: int) -> None:
        """Compare that the loop ended after so many steps, as its condition did not hold."""
        self._ask(number, False)

    def _ask(self, step: int, goes_on: bool) -> None:
        if self._condition is None:
            return
        with np.errstate(all="ignore"):
            (wanted,) = self._condition([*self._asked, *self._state])
        where = f"the condition before step {step} of a {repr(self._loop)[1:-1]}"
        found = np.array(goes_on)
        compare(found, np.asarray(wanted, np.bool_), self._condition.outputs[0], where)
