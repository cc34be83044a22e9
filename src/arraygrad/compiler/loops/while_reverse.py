"""The reverse pass of a `while_loop` as an op.

It runs the loop again, which keeps the state before each step. Then it is a scan over these states,
from the last to the first. Its derivatives follow from those of the loop with tangents.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops import broadcast_to, zeros_like
from ..run.loop_steps import WhilePulledStep
from ..trace.bodies import Body, Loop, Pulled, loop_op
from ..trace.inference import Type
from ..trace.program import Node
from .scanning import Scan

if TYPE_CHECKING:
    from .repeating import While


class WhilePulled(Loop):
    """The reverse pass of a loop as an op: from its inputs, and cotangents of the last state.

    Let the loop be F, and L the loop with tangents, from (x, t) to (F(x), F'(x) t). The pullback of
    L takes cotangents (a, b). It returns F'(x)ᵀ a + (F''(x) t)ᵀ b for x, and F'(x)ᵀ b for t. So
    with this op for L, one has

    - the tangent of F'(x)ᵀ g along (t, u), by the cotangents (u, g);
    - the cotangent of x, if that of F'(x)ᵀ g is h: by the tangent h, and the cotangents (0, g).
      The cotangent of g is F'(x) h.

    Parameters
    ----------
    loop : While
    targets : sequence of int
        The inputs of the body whose cotangents are wanted.
    """

    op = loop_op("while_loop_pullback")
    step = WhilePulledStep

    def __init__(self, loop: While, targets: Sequence[int]) -> None:
        self.loop, self.targets = loop, list(targets)
        self.flags = [False] * loop.asked + [
            i in self.targets for i in range(len(loop.body.inputs))
        ]
        self.moving = [i for i, flag in enumerate(loop.moving(self.flags)) if flag]
        b = loop.constants
        # The parts of the state that have a cotangent.
        self.seeded = [i - b for i in self.moving if i >= b]

    def __repr__(self) -> str:
        return f"<reverse pass of a {self.loop!r}>"

    @property
    def carried(self) -> int:
        """The number of arrays that go from step to step: cotangents of the state, and sums."""
        return len(self.seeded) + sum(i < self.loop.constants for i in self.targets)

    @functools.cached_property
    def back(self) -> Body:
        """One step back: from constants, what is carried, and the state before the step.

        What is carried are the cotangents of the state, and the sums of those of the constants that
        are wanted.
        """
        loop, b = self.loop, self.loop.constants
        pulled = Pulled(loop.body, self.moving)
        constants = [i for i in self.targets if i < b]
        gradients = pulled.gradients(self.seeded, [*(b + j for j in self.seeded), *constants])
        carried: list[Node] = []
        outputs: list[Node] = []
        for j, g in zip(self.seeded, gradients, strict=False):
            like = pulled.inputs[b + j]
            carried.append(pulled.seeds.get(j) or pulled.trace.input_like(like).node)
            outputs.append(g or pulled.zeros(like))
        for i, g in zip(constants, gradients[len(self.seeded) :], strict=True):
            before = pulled.trace.input_like(pulled.inputs[i]).node
            carried.append(before)
            outputs.append(before if g is None else pulled.sum_of(before, g))
        return Body([*pulled.inputs[:b], *carried, *pulled.inputs[b:]], outputs)

    def split(self, arrays: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The inputs of the loop, and what is carried to the last step: the sums are zero."""
        given, gs = self._parts(arrays)
        constants = [self.loop.body.inputs[i] for i in self.targets if i < self.loop.constants]
        return given, [*gs, *(np.zeros(x.shape, x.dtype) for x in constants)]

    def cotangents(self, carried: Sequence[Any]) -> list[Any]:
        """The cotangents of the targets, from what is carried out of the first step."""
        b = self.loop.constants
        of_state = dict(zip(self.seeded, carried, strict=False))
        sums = iter(carried[len(self.seeded) :])
        return [next(sums) if i < b else np.array(of_state[i - b]) for i in self.targets]

    def types(self) -> list[Type]:
        """The shapes and dtypes of the targets."""
        found = [self.loop.body.inputs[i] for i in self.targets]
        return [(x.shape, x.dtype) for x in found]

    def compute(self, arrays: Sequence[Any]) -> list[Any]:
        """The reverse pass on NumPy arrays, op by op."""
        given, carried = self.split(arrays)
        _, for_body, first = self.loop.split(given)
        states = self.loop.states_of(given)[:-1]
        rows = [
            np.array([state[j] for state in states], x.dtype).reshape(-1, *x.shape)
            for j, x in enumerate(first)
        ]
        loop = Scan(self.back, len(for_body), self.carried, len(states), reverse=True)
        return self.cotangents(loop.compute([*for_body, *carried, *rows]))

    # --- derivatives and batches ---

    def _parts(self, arrays: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        split = len(arrays) - len(self.seeded)
        return list(arrays[:split]), list(arrays[split:])

    def _with_tangents(
        self, arrays: Any, tangents: Any, moving: Any, gs: Any
    ) -> tuple[While, Any, Any, dict[int, Any]]:
        """The loop with tangents, and its inputs.

        Then the place of each input of the body there, and the cotangents of the tangents of the
        state, by their places there. More of the state may have tangents than has cotangents.
        """
        loop = self.loop
        made, places, _ = loop.with_tangents([False] * loop.asked + moving)
        inputs = loop.joined(arrays, tangents, places)
        b = loop.constants
        extra = sum(i < b for i in places)
        seeds = dict(zip(self.seeded, gs, strict=True))
        moved = [i - b for i in places if i >= b]
        of_tangents = {loop.states + k: seeds[j] for k, j in enumerate(moved) if j in seeds}
        of_body = {i: i if i < b else i + extra for i in range(len(loop.body.inputs))}
        return made, inputs, of_body, of_tangents

    def push(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The results, and their tangents."""
        given, gs = self._parts(arrays)
        t_given, t_gs = self._parts(tangents)
        t_body = t_given[self.loop.asked :]
        moving = [t is not None or i in self.targets for i, t in enumerate(t_body)]
        loop, inputs, places, of_tangents = self._with_tangents(given, t_body, moving, gs)
        pulled = WhilePulled(loop, [places[i] for i in self.targets])
        of_primals = dict(zip(self.seeded, t_gs, strict=True))
        seeds = self._seeds(loop, pulled, inputs, of_primals | of_tangents)
        return self.run(arrays), pulled.run([*inputs, *seeds])

    def pull(self, hs: Any, wanted: Sequence[bool], out: Any, arrays: Sequence[Any]) -> list[Any]:
        """The cotangents of the inputs."""
        given, gs = self._parts(arrays)
        a = self.loop.asked
        t_body: list[Any] = [None] * len(self.loop.body.inputs)
        for i, h in zip(self.targets, hs, strict=True):
            t_body[i] = h
        moving = list(self.flags[a:])
        loop, inputs, places, of_tangents = self._with_tangents(given, t_body, moving, gs)
        flags = [*wanted, *[False] * (len(arrays) - len(wanted))]
        targets = [i - a for i in range(a, len(given)) if flags[i]]
        parts: list[Any] = [None] * len(arrays)
        if targets:
            pulled = WhilePulled(loop, [places[i] for i in targets])
            seeds = self._seeds(loop, pulled, inputs, of_tangents)
            for i, part in zip(targets, pulled.run([*inputs, *seeds]), strict=True):
                parts[a + i] = part
        if any(flags[len(given) :]):
            last = loop.run(inputs)[self.loop.states :]
            parts[len(given) :] = last
        return parts

    def _seeds(
        self, loop: While, pulled: WhilePulled, inputs: Any, known: dict[int, Any]
    ) -> list[Any]:
        """Cotangents for another loop, of those parts of its state that are seeded there."""
        found = []
        for j in pulled.seeded:
            g = known.get(j)
            like = inputs[loop.asked + loop.constants + j]
            found.append(zeros_like(like) if g is None else g)
        return found

    def batch(self, arrays: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
        """The results for a batch, all with its axis in front."""
        size = next(x.shape[0] for x, flag in zip(arrays, flags, strict=True) if flag)
        every = [
            x if flag else broadcast_to(x, (size, *x.shape))
            for x, flag in zip(arrays, flags, strict=True)
        ]
        given, gs = self._parts(every)
        whole = [True] * len(given)
        loop, of_state, differs = self.loop.in_batch(whole, size)
        inputs = self.loop.batched(given, whole, of_state, differs, size)
        # The masked loop has the constants of the condition in its body, too.
        extra = self.loop.asked if differs else 0
        pulled = WhilePulled(loop, [i + extra for i in self.targets])
        seeds = self._seeds(loop, pulled, inputs, dict(zip(self.seeded, gs, strict=True)))
        return pulled.run([*inputs, *seeds])
