"""What a scan and a while loop have in common: a body that runs step by step, from state to state.

Its forward derivative and its batch are bodies of the same form, so they are such loops, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ops import zeros_like
from ..trace.bodies import Body, Loop, in_batch, is_smooth, pushed, spread


class Stepping(Loop):
    """A loop of steps.

    Attributes
    ----------
    body : Body
        From constants, the state and elements, to the next state and results.
    asked : int
        How many constants of a condition come before all other inputs of the loop.
    constants, states : int
        How many inputs of the body are constants, and how many are its state.
    """

    body: Body
    asked = 0
    constants: int
    states: int

    def like(self, body: Body, constants: int, states: int) -> Any:
        """The same loop with another body, in whose state more parts may come last."""
        raise NotImplementedError

    def moving(self, flags: Sequence[bool]) -> list[bool]:
        """Which inputs of the body have a derivative, if those of the loop with a flag have one."""
        found = list(flags[self.asked :])
        while True:
            out, before = self.body.moves(found), list(found)
            for j in range(self.states):
                found[self.constants + j] |= out[j]
            if found == before:
                return found

    def with_tangents(self, flags: Sequence[bool]) -> tuple[Any, list[int], list[int]]:
        """The loop of the forward derivative; which inputs and outputs of the body have tangents.

        The tangents of constants, of the state, of elements and of results come after these.
        """
        c, s = self.constants, self.states
        has = self.moving(flags)
        moving = [i for i, flag in enumerate(has) if flag]
        moves = self.body.moves(has)
        outs = [k for k, m in enumerate(moves) if (has[c + k] if k < s else m)]
        made = pushed(self.body, moving, outs)
        count, number = len(self.body.inputs), len(self.body.outputs)
        inputs = self._grouped(made.inputs[:count], made.inputs[count:], moving)
        own, tangents = made.outputs[:number], made.outputs[number:]
        more = sum(k < s for k in outs)
        outputs = [*own[:s], *tangents[:more], *own[s:], *tangents[more:]]
        loop = self.like(Body(inputs, outputs), c + sum(i < c for i in moving), s + more)
        return loop, moving, outs

    def _grouped(
        self, values: Sequence[Any], tangents: Sequence[Any], moving: Sequence[int]
    ) -> list[Any]:
        """Constants, state and elements, each followed by their tangents."""
        first, last = self.constants, self.constants + self.states
        found: list[Any] = []
        for low, high in ((0, first), (first, last), (last, len(values))):
            found += values[low:high]
            found += [t for t, i in zip(tangents, moving, strict=True) if low <= i < high]
        return found

    def joined(
        self, arrays: Sequence[Any], tangents: Sequence[Any], moving: Sequence[int]
    ) -> list[Any]:
        """Arrays and tangents, in the order in which the loop with tangents takes them.

        There is a tangent, or None for zero, for each input of the body.
        """
        own = arrays[self.asked :]
        filled = [zeros_like(own[i]) if tangents[i] is None else tangents[i] for i in moving]
        return [*arrays[: self.asked], *self._grouped(own, filled, moving)]

    def push(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The results, and their tangents."""
        flags = [t is not None and is_smooth(a) for a, t in zip(arrays, tangents, strict=True)]
        loop, moving, outs = self.with_tangents(flags)
        out = loop.run(self.joined(arrays, tangents[self.asked :], moving))
        s, number = self.states, len(self.body.outputs)
        more = sum(k < s for k in outs)
        results = [*out[:s], *out[s + more : number + more]]
        found = dict(zip(outs, [*out[s : s + more], *out[number + more :]], strict=True))
        return results, [found[k] if k in found else zeros_like(x) for k, x in enumerate(results)]

    def batched_body(self, flags: Sequence[bool], size: int) -> tuple[Body, list[bool], list[bool]]:
        """The body for a batch, and which of its inputs and outputs have the axis of the batch."""
        first, last = self.constants, self.constants + self.states
        given = list(flags[self.asked :])
        while True:
            body, found = in_batch(self.body, given, size)
            state = [a or b for a, b in zip(given[first:last], found, strict=False)]
            if state == given[first:last]:
                break
            given[first:last] = state
        wanted = [*state, *found[self.states :]]
        return spread(body, found, wanted, size), given, wanted
