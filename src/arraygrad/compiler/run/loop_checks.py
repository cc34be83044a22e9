"""Loops of which each step is compared with NumPy: for ``compile(check=True)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..trace.bodies import Body
from .checked import compare
from .loop_calls import FOREVER, CompiledLoop, Ran


class CheckedLoop(CompiledLoop):
    """A loop that runs step by step: what each computes must be what NumPy makes of the same.

    Parameters
    ----------
    code : CompiledLoop
    body : Body
    condition : Body or None
        What the loop is made of.
    what : str
        The loop, for errors.
    """

    def __init__(self, code: CompiledLoop, body: Body, condition: Body | None, what: str) -> None:
        super().__init__(code.body, code.constants, code.states, code.reverse, code.condition)
        self.how, self.parts = code.how, code.parts  # type: ignore[method-assign]
        self._code, self._body, self._asks, self._what = code, body, condition, what

    def run(self, arrays: Sequence[Any], rows: Sequence[Any], length: int = FOREVER) -> Ran:
        a, first = self.asked, self.asked + self.constants
        state = [np.array(x) for x in arrays[first : first + self.states]]
        xs = arrays[first + self.states :]
        for step in range(length):
            at = length - 1 - step if self.reverse else step
            given = [*state, *(x[at : at + 1] for x in xs)]
            one = [row[at : at + 1] for row in rows]
            out, steps = self._code.run([*arrays[:first], *given], one, 1)
            with np.errstate(all="ignore"):
                goes_on = self._asks is None or bool(self._asks([*arrays[:a], *state])[0])
                if goes_on is not bool(steps):
                    wanted = np.asarray(goes_on)
                    where = f"the condition before step {step} of a {self._what}"
                    compare(np.array(bool(steps)), wanted, self._asks.outputs[0], where)  # type: ignore[union-attr]
                if not steps:
                    return state, step
                expected = self._body([*arrays[a:first], *state, *(x[at] for x in xs)])
            found = [*out, *(row[0] for row in one)]  # and then what the caller checks
            for x, y, node in zip(found, expected, self._body.outputs, strict=False):
                compare(np.asarray(x), y, node, f"step {step} of a {self._what}")
            state = out
        return state, length
