"""`scan` as an op: a loop whose body is a program.

Its derivatives and batches are loops, too:

forward   the loop of the body's forward derivative: tangents are a part of the state
reverse   a loop in the other direction, over what the first loop has kept of each step. The state
          is the cotangent of the state; cotangents of arrays that all steps use are added up
batch     the loop of the body for a batch
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.nodes import recorder
from ..func import budget
from ..ops import broadcast_to, concat, moveaxis, reshape, zeros_like
from ..ops.define.op import Own, declare
from .bodies import (
    Body,
    Flags,
    Loop,
    Pulled,
    in_batch,
    is_smooth,
    operands,
    pushed,
    settled,
    spread,
)
from .derivative import _is_recorded, worth_saving
from .inference import Type
from .lifted import closed, like_first
from .loop_steps import ScanStep
from .program import Call, Node, Result, needed


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
    """

    name = "scan"

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
        # For a loop that keeps what its reverse pass needs: the number of its own results, before
        # what it keeps; and the pullback of the body.
        self.visible = len(body.outputs)
        self.pulled: Pulled | None = None
        self.saved: list[Node] = []
        self._recorded: dict[Flags, Scan] = {}

    def __repr__(self) -> str:
        return f"<loop of {self.length} steps, {len(needed(self.body.outputs))} values>"

    def like(self, body: Body, constants: int, states: int, reverse: bool | None = None) -> Scan:
        """Another loop of the same length."""
        reverse = self.reverse if reverse is None else reverse
        return Scan(body, constants, states, self.length, reverse, self.recomputes)

    # --- what it computes ---

    def step(self, node: Any, lowering: Any) -> ScanStep:
        """The step of a program that runs it."""
        return ScanStep(node, lowering)

    def types(self) -> list[Type]:
        """The shapes and dtypes of the results: the last state, and the results of all steps."""
        out = self.body.outputs
        last = [(x.shape, x.dtype) for x in out[: self.states]]
        return [*last, *(((self.length, *x.shape), x.dtype) for x in out[self.states :])]

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The loop on arrays of any type. What a reverse pass will need is kept."""
        loop = self
        if recorder() is not None and self.pulled is None:
            flags = tuple(_is_recorded(a) and is_smooth(a) for a in arrays)
            if any(flags):
                loop = self.recorded(flags)
        if not any(isinstance(a, Array) for a in arrays):
            return loop.compute(arrays)[: self.visible]
        return settled(run_scan(*operands(arrays), loop=loop)[: self.visible])

    def again(self, arrays: Sequence[Any]) -> list[Any]:
        """The loop as a part of a body: also what it keeps is a result, which may be used."""
        if self.pulled is None:
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
            found = self._recorded[flags] = self._keeping(flags)
        return found

    def _keeping(self, flags: Flags) -> Scan:
        moving = [i for i, flag in enumerate(self.moving(flags)) if flag]
        pulled = Pulled(self.body, moving)
        c, s = self.constants, self.states
        gradients = pulled.gradients(list(pulled.seeds), moving)
        rows = [node for node in pulled.outputs[s:] if isinstance(node, Call | Result)]
        saved: list[Node] = []
        if not self.recomputes:
            changing = _after(pulled.inputs[c:], pulled.outputs, gradients)
            found = worth_saving(rows, list(pulled.seeds.values()), gradients)
            saved = [node for node in found if node in changing]
        fixed = [*pulled.inputs[:c], *pulled.inputs[c + s :], *pulled.seeds.values()]
        known = set(needed([g for g in gradients if g], [*saved, *rows, *fixed]))
        saved += [node for node in pulled.inputs[c : c + s] if node in known]
        loop = self.like(Body(pulled.inputs, [*pulled.outputs, *saved]), c, s)
        loop.visible, loop.pulled, loop.saved = self.visible, pulled, saved
        return loop

    @property
    def kept(self) -> int:
        """The bytes that each step keeps for the reverse pass."""
        return sum(math.prod(x.shape) * x.dtype.itemsize for x in self.saved)

    def pull(self, gs: Any, wanted: Sequence[bool], out: Any, arrays: Sequence[Any]) -> list[Any]:
        """The cotangents of the inputs."""
        targets = [*wanted, *[False] * (len(arrays) - len(wanted))]
        targets = [w and is_smooth(a) for w, a in zip(targets, arrays, strict=True)]
        loop = self
        if self.pulled is None or any(g is not None for g in gs[self.visible :]):
            loop = self.like(self.body, self.constants, self.states)
            loop = loop.recorded(tuple(targets))
            out = run_scan(*operands(arrays), loop=loop)
        return loop._pull(gs, targets, out, arrays)

    def _pull(self, gs: Any, wanted: list[bool], out: Any, arrays: Sequence[Any]) -> list[Any]:
        assert self.pulled is not None
        pulled, c, s = self.pulled, self.constants, self.states
        moving = [i for i, flag in enumerate(self.moving(wanted)) if flag]
        state = [i for i in moving if c <= i < c + s]
        seeds = [k for k in pulled.seeds if k < s or gs[k] is not None]
        targets = [i for i in moving if wanted[i] or i in state]
        gradients = dict(zip(targets, pulled.gradients(seeds, targets), strict=True))
        trace = pulled.trace
        # Candidates for inputs of the body, each with the array that the loop gets for it.
        constants = {pulled.inputs[i]: arrays[i] for i in range(c)}
        rows = {pulled.inputs[i]: arrays[i] for i in range(c + s, len(arrays))}
        for k in range(s, self.visible):
            if isinstance(pulled.outputs[k], Call | Result):
                rows[pulled.outputs[k]] = out[k]
            if k in seeds:
                rows[pulled.seeds[k]] = gs[k]
        rows |= dict(zip(self.saved, out[self.visible :], strict=True))
        first: dict[Node, Any] = {}
        for i in state:
            k = i - c
            node = pulled.seeds.get(k) or trace.input_like(pulled.inputs[i]).node
            first[node] = zeros_like(out[k]) if gs[k] is None else gs[k]
        outputs = [gradients.get(i) or pulled.zeros(pulled.inputs[i]) for i in state]
        summed = [i for i in targets if i < c and gradients[i] is not None]
        for i in summed:
            node = trace.input_like(pulled.inputs[i]).node
            first[node] = zeros_like(arrays[i])
            outputs.append(pulled.sum_of(node, gradients[i]))  # type: ignore[arg-type]
        each = [i for i in targets if i >= c + s and gradients[i] is not None]
        outputs += [gradients[i] for i in each]  # type: ignore[misc]
        found = set(needed(outputs, [*constants, *first, *rows]))
        constants = {node: a for node, a in constants.items() if node in found}
        rows = {node: a for node, a in rows.items() if node in found}
        body = Body([*constants, *first, *rows], outputs)
        loop = self.like(body, len(constants), len(first), not self.reverse)
        results = loop.run([*constants.values(), *first.values(), *rows.values()])
        parts: list[Any] = [None] * len(arrays)
        for i, part in zip([*state, *summed, *each], results, strict=True):
            if wanted[i]:
                parts[i] = part
        return parts


def _after(
    inputs: Sequence[Node], outputs: Sequence[Node], more: Sequence[Node | None]
) -> set[Node]:
    """The nodes that depend on some inputs."""
    found = set(inputs)
    for node in needed([*outputs, *(x for x in more if x is not None)]):
        if not found.isdisjoint(node.nodes):
            found.add(node)
    return found


def _batch(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
    return tuple(params["loop"].batch(arrays, flags))


run_scan = declare(
    "scan",
    "*arrays",
    compute=lambda xp, *arrays, loop: tuple(loop.compute(arrays)),
    joint=lambda gs, wanted, out, arrays, loop: loop.pull(gs, wanted, out, arrays),
    jvp=lambda arrays, t_arrays, loop: tuple(loop.push(arrays, t_arrays)[1]),
    holomorphic=False,
    multiple=True,
    own=Own(
        batch=_batch,
        push=lambda arrays, tangents, params: params["loop"].push(arrays, tangents),
        types=lambda inputs, params: params["loop"].types(),
    ),
)


def scan(
    step: Any, init: list[Any], xs: list[Any], count: int, reverse: bool, memory: int | None
) -> tuple[list[Any], list[Any]]:
    """Write down a scan, as `func.scan` does it."""
    s = len(init)
    results = 0

    def flat(given: list[Any]) -> list[Any]:
        nonlocal results
        state, y = step(given[:s], given[s:])
        results = len(y)
        return [*map(like_first, state, init), *y]

    elements = [_Element(x) for x in xs]
    if not all(hasattr(x, "dtype") for x in init):
        body, _ = closed(flat, [*init, *elements])
        init = [
            x if hasattr(x, "dtype") else np.asarray(x, out.dtype)
            for x, out in zip(init, body.outputs, strict=False)
        ]
    body, captured = closed(flat, [*init, *elements])
    loop = Scan(body, len(captured), s, count, reverse)
    taken = [*captured, *init, *xs]
    if memory is not None and recorder() is not None:
        # All that may be recorded: a transform around this loop is not known inside another body.
        flags = tuple(map(is_smooth, taken))
        own, each = budget.size(init), loop.recorded(flags).kept
        length = budget.segment(count, own, each, memory)
        if length < count:
            rest = budget.left_over(count, length, own, memory)
            return _in_segments(step, init, xs, count, reverse, length, rest)
    out = loop.run(taken)
    return out[:s], out[s:]


class _Element:
    """An element of an array along its first axis: its shape and dtype."""

    def __init__(self, array: Any) -> None:
        self.shape, self.dtype = tuple(array.shape[1:]), array.dtype


def _in_segments(
    step: Any, init: list[Any], xs: list[Any], count: int, reverse: bool, length: int, memory: int
) -> tuple[list[Any], list[Any]]:
    """A scan of segments, each of which is a scan that the reverse pass computes again."""
    whole = count // length
    extra = count - whole * length
    # The segments come first, then what is left over.
    middle = [x[extra:] if reverse else x[: whole * length] for x in xs]
    pieces = [reshape(x, (whole, length, *x.shape[1:])) for x in middle]
    s = len(init)

    def segment(given: list[Any]) -> list[Any]:
        state, ys = scan(step, given[:s], given[s:], length, reverse, memory)
        return [*state, *ys]

    body, captured = closed(segment, [*init, *map(_Element, pieces)])
    loop = Scan(body, len(captured), s, whole, reverse, recomputes=True)
    out = loop.run([*captured, *init, *pieces])
    state = out[:s]
    ys = [reshape(y, (whole * length, *y.shape[2:])) for y in out[s:]]
    if extra:
        rest = [x[:extra] if reverse else x[whole * length :] for x in xs]
        state, more = scan(step, state, rest, extra, reverse, memory)
        pairs = zip(more, ys, strict=True) if reverse else zip(ys, more, strict=True)
        ys = [concat(pair, axis=0) for pair in pairs]
    return state, ys
