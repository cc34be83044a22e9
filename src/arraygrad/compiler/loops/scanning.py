"""`scan` as an op: a loop whose body is a program.

Its derivatives and batches are loops, too: see `stepping`; and `scan_reverse` for the reverse pass,
which is a loop in the other direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.nodes import recorder
from ...ops import broadcast_to, moveaxis
from ..run.loop_steps import ScanStep
from ..trace.bodies import (
    Body,
    Flags,
    is_recorded,
    is_smooth,
    loop_op,
    operands,
    settled,
)
from ..trace.inference import Type
from ..trace.program import needed
from .scan_reverse import Kept
from .stepping import Stepping


class Scan(Stepping):
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

    def batch(self, arrays: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
        """The results for a batch, all with its axis in front."""
        c, s = self.constants, self.states
        size = next(a.shape[0] for a, flag in zip(arrays, flags, strict=True) if flag)
        body, given, wanted = self.batched_body(flags, size)
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
