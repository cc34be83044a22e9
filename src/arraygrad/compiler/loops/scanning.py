"""`scan` as an op: a loop whose body is a program.

Its derivatives and batches are loops, too:

forward   the loop of the body's forward derivative: tangents are a part of the state
reverse   a loop in the other direction: see `scan_reverse`
batch     the loop of the body for a batch
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.nodes import recorder
from ...ops import broadcast_to, moveaxis, zeros_like
from ..run.loop_steps import ScanStep
from ..trace.bodies import (
    Body,
    Flags,
    Loop,
    in_batch,
    is_recorded,
    is_smooth,
    loop_op,
    operands,
    pushed,
    settled,
    spread,
)
from ..trace.inference import Type
from ..trace.program import needed
from .scan_reverse import Kept


class Scan(Loop):
    """A loop of known length.

    Parameters
    ----------
    body : Body
        From constants, the state and elements, to the next state and results.
    constants, states : int
        How many inputs of the body are constants, and how many are its state.
    length : int
    reverse : bool
    recomputes : bool
        Whether the reverse pass computes all of each step again, and keeps only the states.

    Attributes
    ----------
    kept : Kept or None
        If it is there, the last results of the loop are what the reverse pass needs.
    """

    op = loop_op("scan")
    step = ScanStep

    def __init__(
        self,
        body: Body,
        constants: int,
        states: int,
        length: int,
        reverse: bool,
        recomputes: bool = False,
    ) -> None:
        self.body = body
        self.constants, self.states = constants, states
        self.length, self.reverse = length, reverse
        self.recomputes = recomputes
        self.kept: Kept | None = None
        self._recorded: dict[Flags, Scan] = {}

    def __repr__(self) -> str:
        return f"<loop of {self.length} steps, {len(needed(self.body.outputs))} values>"

    def like(self, body: Body, constants: int, states: int, reverse: bool | None = None) -> Scan:
        """Another loop of the same length."""
        reverse = self.reverse if reverse is None else reverse
        return Scan(body, constants, states, self.length, reverse, self.recomputes)

    # --- what it computes ---

    def types(self) -> list[Type]:
        """The shapes and dtypes of the results: the last state, and the results of all steps."""
        out = self.body.outputs
        last = [(x.shape, x.dtype) for x in out[: self.states]]
        return [*last, *(((self.length, *x.shape), x.dtype) for x in out[self.states :])]

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The loop on arrays of any type. What a reverse pass will need is kept."""
        if not any(isinstance(a, Array) for a in arrays):
            return self.compute(arrays)
        loop = self
        if recorder() is not None:
            flags = tuple(is_recorded(a) and is_smooth(a) for a in arrays)
            if any(flags):
                loop = loop.recorded(flags)
        return settled(self.op(*operands(arrays), loop=loop)[: len(self.body.outputs)])

    def again(self, arrays: Sequence[Any]) -> list[Any]:
        """The loop as a part of a body: also what it keeps is a result, which may be used."""
        if self.kept is None:
            return self.run(arrays)
        return self.like(self.body, self.constants, self.states).run(arrays)

    def order(self) -> range:
        """The steps, in their order."""
        return range(self.length - 1, -1, -1) if self.reverse else range(self.length)

    def compute(self, arrays: Sequence[Any]) -> list[Any]:
        """The loop on NumPy arrays, op by op."""
        first = self.constants + self.states
        constants, xs = arrays[: self.constants], arrays[first:]
        state = [np.array(a) for a in arrays[self.constants : first]]
        rows = [np.empty(shape, dtype) for shape, dtype in self.types()[self.states :]]
        for i in self.order():
            out = self.body([*constants, *state, *(x[i] for x in xs)])
            state = out[: self.states]
            for row, y in zip(rows, out[self.states :], strict=True):
                row[i] = y
        return [*map(np.asarray, state), *rows]

    # --- derivatives and batches ---

    def moving(self, flags: Sequence[bool]) -> list[bool]:
        """Which inputs of the body have a derivative, if those of the loop with a flag have one."""
        found = list(flags)
        while True:
            out = self.body.moves(found)
            before = list(found)
            for j in range(self.states):
                found[self.constants + j] |= out[j]
            if found == before:
                return found

    def push(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The results, and their tangents."""
        given = [t is not None and is_smooth(a) for a, t in zip(arrays, tangents, strict=True)]
        flags = self.moving(given)
        moves = self.body.moves(flags)
        c, s = self.constants, self.states
        moving = [i for i, flag in enumerate(flags) if flag]
        outs = [k for k, m in enumerate(moves) if (flags[c + k] if k < s else m)]
        body = pushed(self.body, moving, outs)

        count = len(self.body.inputs)

        def grouped(values: Sequence[Any], more: Sequence[Any]) -> list[Any]:
            """Constants, state and elements, each followed by their tangents."""
            found: list[Any] = []
            for low, high in ((0, c), (c, c + s), (c + s, count)):
                found += values[low:high]
                found += [m for m, i in zip(more, moving, strict=True) if low <= i < high]
            return found

        inputs = grouped(body.inputs[:count], body.inputs[count:])
        number = len(self.body.outputs)
        own, further = body.outputs[:number], body.outputs[number:]
        of_state = [t for t, k in zip(further, outs, strict=True) if k < s]
        of_rows = [t for t, k in zip(further, outs, strict=True) if k >= s]
        outputs = [*own[:s], *of_state, *own[s:], *of_rows]
        filled = [zeros_like(arrays[i]) if tangents[i] is None else tangents[i] for i in moving]
        loop = self.like(
            Body(inputs, outputs),
            c + sum(flags[:c]),
            s + len(of_state),
        )
        out = loop.run(grouped(arrays, filled))
        state = iter(out[s : s + len(of_state)])
        rows = iter(out[number + len(of_state) :])
        results = [*out[:s], *out[s + len(of_state) : number + len(of_state)]]
        chosen = set(outs)
        moved = [
            (next(state) if k < s else next(rows)) if k in chosen else zeros_like(x)
            for k, x in enumerate(results)
        ]
        return results, moved

    def batch(self, arrays: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
        """The results for a batch, all with its axis in front."""
        c, s = self.constants, self.states
        size = next(a.shape[0] for a, flag in zip(arrays, flags, strict=True) if flag)
        given = list(flags)
        while True:
            body, found = in_batch(self.body, given, size)
            state = [a or b for a, b in zip(given[c : c + s], found, strict=False)]
            if state == given[c : c + s]:
                break
            given[c : c + s] = state
        wanted = [*state, *found[s:]]
        if wanted != list(found):
            body = spread(body, found, wanted, size)
        taken = []
        for i, (a, is_there, needs) in enumerate(zip(arrays, flags, given, strict=True)):
            if i >= c + s and is_there:
                a = moveaxis(a, 0, 1)
            elif needs and not is_there:
                a = broadcast_to(a, (size, *a.shape))
            taken.append(a)
        out = self.like(body, c, s).run(taken)
        results = []
        for k, (x, has) in enumerate(zip(out, wanted, strict=True)):
            if not has:
                x = broadcast_to(x, (size, *x.shape))
            elif k >= s:
                x = moveaxis(x, 1, 0)
            results.append(x)
        return results

    # --- the reverse pass ---

    def recorded(self, flags: Flags) -> Scan:
        """The same loop, which also keeps what the cotangents of inputs with a flag need."""
        found = self._recorded.get(flags)
        if found is None:
            kept = Kept(self, flags)
            found = self._recorded[flags] = self.like(kept.body, self.constants, self.states)
            found.kept = kept
        return found

    def pull(self, gs: Any, wanted: Sequence[bool], out: Any, arrays: Sequence[Any]) -> list[Any]:
        """The cotangents of the inputs."""
        targets = [*wanted, *[False] * (len(arrays) - len(wanted))]
        targets = [w and is_smooth(a) for w, a in zip(targets, arrays, strict=True)]
        loop = self
        if self.kept is None or any(g is not None for g in gs[self.kept.visible :]):
            loop = self.like(self.body, self.constants, self.states)
            loop = loop.recorded(tuple(targets))
            out = self.op(*operands(arrays), loop=loop)
        assert loop.kept is not None
        return loop.kept.pull(loop, gs, targets, out, arrays)
