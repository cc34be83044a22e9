"""`while_loop` as an op: a loop whose condition and body are programs.

Its forward derivative is a loop, too: see `stepping`. Its reverse pass is an op of its own: see
`while_reverse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...ops import any as any_of
from ...ops import broadcast_to, reshape, where, zeros_like
from ..run.loop_steps import WhileStep
from ..trace.bodies import Body, in_batch, is_smooth, loop_op, traced_body
from ..trace.inference import Type
from ..trace.program import needed
from .lifted import closed, like_first
from .stepping import Stepping
from .while_reverse import WhilePulled


class While(Stepping):
    """A loop that goes on as long as a condition holds.

    Parameters
    ----------
    condition, body : Body
        Both take constants of their own, and the state.
    states : int
        How many arrays the state has.
    """

    op = loop_op("while_loop")
    step = WhileStep

    def __init__(self, condition: Body, body: Body, states: int) -> None:
        self.condition, self.body, self.states = condition, body, states
        self.asked = len(condition.inputs) - states
        self.constants = len(body.inputs) - states

    def __repr__(self) -> str:
        return f"<while loop, {len(needed(self.body.outputs))} values>"

    def types(self) -> list[Type]:
        """The shapes and dtypes of the state."""
        return [(x.shape, x.dtype) for x in self.body.outputs]

    def split(self, arrays: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """The constants of the condition, those of the body, and the state."""
        a, b = self.asked, self.asked + self.constants
        return list(arrays[:a]), list(arrays[a:b]), list(arrays[b:])

    def compute(self, arrays: Sequence[Any]) -> list[Any]:
        """The last state, from NumPy arrays, op by op."""
        return self.states_of(arrays)[-1]

    def states_of(self, arrays: Sequence[Any]) -> list[list[Any]]:
        """All states, from NumPy arrays, op by op."""
        for_condition, for_body, state = self.split(arrays)
        found = [list(map(np.asarray, state))]
        while bool(self.condition([*for_condition, *found[-1]])[0]):
            found.append(self.body([*for_body, *found[-1]]))
        return found

    # --- derivatives and batches ---

    def like(self, body: Body, constants: int, states: int) -> While:
        """The same loop with another body, in whose state more parts come last."""
        count = len(self.condition.inputs)
        more = body.inputs[constants + self.states : constants + states]
        condition = traced_body(
            lambda given: self.condition(given[:count]), [*self.condition.inputs, *more]
        )
        return While(condition, body, states)

    def pull(self, gs: Any, wanted: Sequence[bool], out: Any, arrays: Sequence[Any]) -> list[Any]:
        """The cotangents of the inputs."""
        a = self.asked
        flags = [*wanted, *[False] * (len(arrays) - len(wanted))]
        targets = [i for i, w in enumerate(flags) if w and i >= a and is_smooth(arrays[i])]
        parts: list[Any] = [None] * len(arrays)
        if targets:
            loop = WhilePulled(self, [i - a for i in targets])
            seeds = [zeros_like(out[k]) if gs[k] is None else gs[k] for k in loop.seeded]
            for i, part in zip(targets, loop.run([*arrays, *seeds]), strict=True):
                parts[i] = part
        return parts

    def in_batch(self, flags: Sequence[bool], size: int) -> tuple[While, list[bool], bool]:
        """The loop for a batch; which parts of the state have its axis; whether members differ.

        If the condition differs between members, the loop goes on until it has ended for all. Then
        the state has a second part: the last state from which each member went on. The body runs on
        that for members that have ended: there it is defined, and so are its derivatives.
        """
        a, b, c = self.asked, self.constants, self.asked + self.constants
        body, _, of_state = self.batched_body(flags, size)
        condition, (differs,) = in_batch(self.condition, [*flags[:a], *of_state], size)
        if not differs:
            return While(condition, body, self.states), of_state, False
        of_state = [True] * self.states
        body, _, _ = self.batched_body([*flags[:c], *of_state], size)
        condition, _ = in_batch(self.condition, [*flags[:a], *of_state], size)
        state = body.inputs[b:]

        def step(given: list[Any]) -> list[Any]:
            now, before = given[c : c + self.states], given[c + self.states :]
            (goes_on,) = condition([*given[:a], *now])
            start = _chosen(goes_on, now, before)
            out = body([*given[a:c], *start])
            return [*_chosen(goes_on, out, now), *start]

        def goes_on(given: list[Any]) -> list[Any]:
            return [any_of(condition(given[: a + self.states])[0])]

        constants = [*condition.inputs[:a], *body.inputs[:b]]
        loop = While(
            traced_body(goes_on, [*condition.inputs[:a], *state, *state]),
            traced_body(step, [*constants, *state, *state]),
            2 * self.states,
        )
        return loop, of_state, True

    def batch(self, arrays: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
        """The results for a batch, all with its axis in front."""
        size = next(x.shape[0] for x, flag in zip(arrays, flags, strict=True) if flag)
        loop, of_state, differs = self.in_batch(flags, size)
        out = loop.run(self.batched(arrays, flags, of_state, differs, size))
        return [
            x if has else broadcast_to(x, (size, *x.shape))
            for x, has in zip(out, of_state, strict=False)
        ]

    def batched(
        self, arrays: Sequence[Any], flags: Sequence[bool], of_state: Any, differs: bool, size: int
    ) -> list[Any]:
        """The inputs of the loop for a batch."""
        c = self.asked + self.constants
        state = [
            broadcast_to(x, (size, *x.shape)) if has and not flag else x
            for x, flag, has in zip(arrays[c:], flags[c:], of_state, strict=True)
        ]
        if not differs:
            return [*arrays[:c], *state]
        # The body of the masked loop evaluates the condition, too.
        before = [x.detach() if isinstance(x, Array) else x for x in state]
        return [*arrays[: self.asked], *arrays[:c], *state, *before]


def _chosen(condition: Any, yes: Sequence[Any], no: Sequence[Any]) -> list[Any]:
    """For each member of a batch, one of two values."""
    return [
        where(reshape(condition, (*condition.shape, *(1,) * (x.ndim - condition.ndim))), x, y)
        for x, y in zip(yes, no, strict=True)
    ]


def while_loop(condition: Any, body: Any, init: list[Any]) -> list[Any]:
    """Write down a loop, as `func.while_loop` does it."""
    if not all(hasattr(x, "dtype") for x in init):
        made, _ = closed(body, init, may_not_run=True)
        init = [
            x if hasattr(x, "dtype") else np.asarray(x, out.dtype)
            for x, out in zip(init, made.outputs, strict=True)
        ]
    goes_on, for_condition = closed(lambda given: [condition(given)], init)
    step, for_body = closed(
        lambda given: [*map(like_first, body(given), init)], init, may_not_run=True
    )
    return While(goes_on, step, len(init)).run([*for_condition, *for_body, *init])
