"""Innermost loops of few steps, written out.

Points in space have two or three coordinates, matrices of rotations three columns. A vector along
such an axis would be mostly empty. So all instructions are repeated for each step of the loop, and
the loop around it becomes the innermost one, with vectors along it.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import replace

from ..lower.core import Fold, Scalar
from .instructions import Address, Inside, Instruction, KernelBody, Store, Total

SHORT = 4  # the most steps of a loop that is written out
LONG = 16  # the least steps of the loop around it
MOST_COPIES = 16
MOST_INSTRUCTIONS = 600


def is_short(body: KernelBody) -> bool:
    """Whether the innermost loop of a body is better written out."""
    short = list(itertools.takewhile(lambda n: n <= SHORT, reversed(body.dims)))
    rest = body.dims[: len(body.dims) - len(short)]
    copies = math.prod(short)
    if not short or not rest or rest[-1] < LONG or copies > MOST_COPIES:
        return False
    if len(body.instructions) * copies > MOST_INSTRUCTIONS or any(t.indices for t in body.totals):
        return False
    # Where an array is read at one of two places, that must be decided for a whole line.
    return not any(isinstance(i.does, Address) and i.does.other for i in body.instructions)


def write_out(body: KernelBody) -> None:
    """Repeat the instructions of a body for each step of its innermost loop, which is then gone."""
    inner, n = body.inner, body.dims.pop()
    copies: dict[int, list[Instruction]] = {}  # of each instruction: one for each step
    order: list[Instruction] = []
    for i in body.instructions:
        args = [copies[id(a)] for a in i.args]
        if isinstance(i.does, Fold):
            found, more = _folded(i.does, args[0])
            order += more
            copies[id(i)] = [found] * n
        elif any(len(set(map(id, a))) > 1 for a in args) or _depends(i.does, inner):
            copies[id(i)] = [
                replace(i, args=tuple(a[k] for a in args), does=_at(i.does, inner, k))
                for k in range(n)
            ]
            order += copies[id(i)]
        else:
            i.args = tuple(a[0] for a in args)
            copies[id(i)] = [i] * n
            order.append(i)
    stores: list[Store] = []
    for s in body.stores:
        steps = range(n) if inner in s.at.steps else (0,)
        stores += [Store(copies[id(s.value)][k], _moved(s.at, inner, k)) for k in steps]
    totals: list[Total] = []
    for t in body.totals:
        values, over = copies[id(t.value)], t.over - {inner}
        if inner in t.over:
            found, more = _folded(t.fold, values)
            order += more
            values = [found]
        steps = range(n) if inner in t.at.steps else (0,)
        has_inner = inner - 1 in over or inner - 1 in t.at.steps
        totals += [
            replace(t, value=values[k], at=_moved(t.at, inner, k), over=over, has_inner=has_inner)
            for k in steps
        ]
    body.instructions, body.stores, body.totals = order, stores, totals


def _folded(fold: Fold, values: list[Instruction]) -> tuple[Instruction, list[Instruction]]:
    """The fold of some values, and all instructions that it takes."""
    made: list[Instruction] = []
    found = values[0]
    for x in values[1:]:
        found = Instruction(found.kind, (found, x), _step_of(fold))
        made.append(found)
    return found, made


@functools.cache
def _step_of(fold: Fold) -> Scalar:
    return Scalar(fold.name, fold.emit)


def _depends(does: object, variable: int) -> bool:
    """Whether what an instruction reads or tests depends on a variable."""
    if isinstance(does, Address) and does.other is not None and variable in does.other.steps:
        return True
    return isinstance(does, Address | Inside) and variable in does.steps


def _at(does: object, variable: int, index: int) -> object:
    """What an instruction does at a known index of a variable."""
    if isinstance(does, Address):
        return _moved(does, variable, index)
    if isinstance(does, Inside):
        start = does.start + index * does.steps.get(variable, 0)
        return replace(does, start=start, steps=_without(does.steps, variable))
    return does


def _moved(at: Address, variable: int, index: int) -> Address:
    start = at.start + index * at.steps.get(variable, 0)
    other = None if at.other is None else _moved(at.other, variable, index)
    return replace(at, start=start, steps=_without(at.steps, variable), other=other)


def _without(steps: dict[int, int], variable: int) -> dict[int, int]:
    return {v: s for v, s in steps.items() if v != variable}
