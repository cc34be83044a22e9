"""`cond` as an op: a choice between two programs. Its derivatives and batches are choices, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ops import any as some
from ...ops import argmax, expand_dims, logical_not, reshape, take, where, zeros_like
from ...ops.writing import detached
from ..run.loop_steps import ChoiceStep
from ..trace.bodies import (
    Body,
    Loop,
    Pulled,
    in_batch,
    is_smooth,
    loop_op,
    pushed,
    spread,
    traced_body,
)
from ..trace.inference import Type
from ..trace.program import Node, needed
from .lifted import closed


class Choice(Loop):
    """A choice between two bodies.

    Parameters
    ----------
    yes, no : Body
        They take different arrays, and return results of the same shapes and dtypes.
    """

    op = loop_op("cond")
    step = ChoiceStep

    def __init__(self, yes: Body, no: Body) -> None:
        self.yes, self.no = yes, no
        self.split = 1 + len(yes.inputs)  # after the predicate, and the inputs of `yes`

    def __repr__(self) -> str:
        yes, no = (len(needed(body.outputs)) for body in (self.yes, self.no))
        return f"<choice between {yes} and {no} values>"

    def types(self) -> list[Type]:
        """The shapes and dtypes of the results."""
        return [(x.shape, x.dtype) for x in self.yes.outputs]

    def compute(self, arrays: Sequence[Any]) -> list[Any]:
        """The choice on NumPy arrays, op by op."""
        if bool(arrays[0]):
            return self.yes(arrays[1 : self.split])
        return self.no(arrays[self.split :])

    # --- derivatives and batches ---

    def _branches(self, values: Sequence[Any]) -> list[tuple[Body, Sequence[Any]]]:
        """Each body, with what belongs to its inputs."""
        return [(self.yes, values[1 : self.split]), (self.no, values[self.split :])]

    def push(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The results, and their tangents."""
        given = [t is not None and is_smooth(a) for a, t in zip(arrays, tangents, strict=True)]
        moves = [body.moves(flags) for body, flags in self._branches(given)]
        outs = [k for k, pair in enumerate(zip(*moves, strict=True)) if any(pair)]
        bodies, taken = [], [arrays[0]]
        for (body, flags), (_, own), (_, t) in zip(
            self._branches(given), self._branches(arrays), self._branches(tangents), strict=True
        ):
            moving = [i for i, flag in enumerate(flags) if flag]
            bodies.append(_tangents(body, moving, outs))
            taken += [*own, *(t[i] for i in moving)]
        found = iter(Choice(*bodies).run(taken)) if outs else iter(())
        return self.run(arrays), [
            next(found) if k in outs else zeros_like(arrays[0], *kind)
            for k, kind in enumerate(self.types())
        ]

    def pull(self, gs: Any, wanted: Sequence[bool], out: Any, arrays: Sequence[Any]) -> list[Any]:
        """The cotangents of the inputs."""
        flags = [*wanted, *[False] * (len(arrays) - len(wanted))]
        flags = [w and is_smooth(a) for w, a in zip(flags, arrays, strict=True)]
        seeds = [k for k, g in enumerate(gs) if g is not None]
        targets = [i for i, flag in enumerate(flags) if flag]
        bodies, taken = [], [arrays[0]]
        for (body, own), start in zip(self._branches(arrays), (1, self.split), strict=True):
            mine = {i - start: i for i in targets if start <= i < start + len(body.inputs)}
            pulled = Pulled(body, list(mine))
            found = dict(zip(mine.values(), pulled.gradients(seeds, list(mine)), strict=True))
            like = [
                pulled.seeds.get(k) or pulled.trace.input_like(body.outputs[k]).node for k in seeds
            ]
            outputs = [found.get(i) or pulled.zeros(arrays[i]) for i in targets]
            bodies.append(Body([*pulled.inputs, *like], outputs))
            taken += [*own, *(gs[k] for k in seeds)]
        parts: list[Any] = [None] * len(arrays)
        for i, part in zip(targets, Choice(*bodies).run(taken), strict=True):
            parts[i] = part
        return parts

    def batch(self, arrays: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
        """The results for a batch, all with its axis in front."""
        size = next(x.shape[0] for x, flag in zip(arrays, flags, strict=True) if flag)
        bodies = []
        for body, own in self._branches(flags):
            made, found = in_batch(body, own, size)
            bodies.append(spread(made, found, [True] * len(found), size))
        if not flags[0] or not size:
            return Choice(*bodies).run(arrays if size else [False, *arrays[1:]])
        yes, no = (
            _run_for(members, body, own, has)
            for members, body, (_, own), (_, has) in zip(
                (arrays[0], logical_not(arrays[0])),
                bodies,
                self._branches(arrays),
                self._branches(flags),
                strict=True,
            )
        )
        return [_by_members(arrays[0], x, y) for x, y in zip(yes, no, strict=True)]


def _by_members(members: Any, x: Any, y: Any) -> Any:
    return where(reshape(members, (-1, *(1,) * (x.ndim - 1))), x, y)


def _run_for(members: Any, body: Body, arrays: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The results of a branch for some members of a batch.

    The others compute with the values of the first of these: there the branch is defined, and so
    are its derivatives. A derivative that is infinite, times zero, is no number. For the same
    reason a branch for no member is not run.
    """
    first = argmax(members)
    given = [
        _by_members(members, x, expand_dims(take(detached(x), first, axis=0), axis=0)) if has else x
        for x, has in zip(arrays, flags, strict=True)
    ]
    return Choice(body, _zeros(body, range(len(body.outputs)))).run([some(members), *given])


def _tangents(body: Body, moving: Sequence[int], outs: Sequence[int]) -> Body:
    """The forward derivative of a body, without its results."""
    if moving:
        made = pushed(body, moving, outs)
        return Body(made.inputs, made.outputs[len(body.outputs) :])
    return _zeros(body, outs, body.inputs)


def _zeros(body: Body, outs: Sequence[int], inputs: Sequence[Node] = ()) -> Body:
    """A body that returns zeros, like some of the results of another."""
    return traced_body(
        lambda given: [np.zeros(body.outputs[k].shape, body.outputs[k].dtype) for k in outs],
        inputs,
    )


Branch = Callable[[list[Any]], list[Any]]


def cond(predicate: Any, yes: Branch, no: Branch, operands: list[Any]) -> list[Any]:
    """Write down a choice, as `func.cond` does it."""
    dtypes: list[Any] = []

    def converted(branch: Branch) -> Branch:
        """The branch, with its numbers as arrays of the dtypes of the other's results."""

        def run(given: list[Any]) -> list[Any]:
            out = branch(given)
            known = dtypes or [None] * len(out)
            return [
                x if hasattr(x, "dtype") else np.asarray(x, d)
                for x, d in zip(out, known, strict=True)
            ]

        return run

    def body(branch: Branch) -> tuple[Body, list[Any]]:
        return closed(converted(branch), operands, may_not_run=True)

    first, _ = body(yes)
    dtypes = [x.dtype for x in first.outputs]
    otherwise, for_no = body(no)
    dtypes = [x.dtype for x in otherwise.outputs]
    chosen, for_yes = body(yes)
    arrays = [x for x in operands if hasattr(x, "dtype")]
    return Choice(chosen, otherwise).run([predicate, *for_yes, *arrays, *for_no, *arrays])
