"""What a loop computes before its first step.

- Values that are the same in all steps are computed once.
- Products of elements with such values, and parts of these at indices, are computed for all steps
  at once: one large product takes less time than many small ones. So are their derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.kinds import Contracts, Elementwise, Moves
from ..trace.bodies import Body, in_batch, spread
from ..trace.program import Call, Node, Result, needed

FEW = 16  # numbers, which are computed again in each step rather than read
SMALL = 1 << 24  # bytes that a loop may take for values of all steps
TIMES = 4  # or this many times what it goes over and returns

NOTHING, FIXED, ELEMENT, STATE = range(4)  # what a value depends on, at most


class Ahead(NamedTuple):
    """The values of a body that are computed before the loop.

    Attributes
    ----------
    fixed : list of Node
        Those that are the same in all steps.
    each : list of Node
        Those that differ between steps, and do not depend on the state.
    """

    fixed: list[Node]
    each: list[Node]


def ahead(body: Body, constants: int, states: int, length: int, frugal: bool) -> Ahead:
    """What to compute before a loop of some steps; if it is frugal, nothing for each of these."""
    inputs = body.inputs
    ranks = dict.fromkeys(inputs[:constants], FIXED)
    ranks |= dict.fromkeys(inputs[constants : constants + states], STATE)
    ranks |= dict.fromkeys(inputs[constants + states :], ELEMENT)
    order = needed(body.outputs, inputs)
    for node in order:
        if node not in ranks:
            is_users = isinstance(node, Call) and not node.op.is_library
            ranks[node] = (
                STATE if is_users else max((ranks[a] for a in node.nodes), default=NOTHING)
            )
    found: list[Node] = []
    over = inputs[constants + states :]
    room = max(SMALL, TIMES * length * sum(map(size, [*over, *body.outputs[states:]])))
    for node in order:
        if node in inputs:
            continue
        if ranks[node] == FIXED and _is_work(node):
            found.append(node)
        elif ranks[node] == ELEMENT and not frugal and _is_large_at_once(node, ranks):
            room -= length * size(node)
            if room >= 0:
                found.append(node)
    read = set(needed(body.outputs, [*inputs, *found]))
    return Ahead(*([x for x in found if x in read and ranks[x] == r] for r in (FIXED, ELEMENT)))


def _is_work(node: Node) -> bool:
    """Whether it takes time to compute a value."""
    if isinstance(node, Result):
        return True
    if not isinstance(node, Call) or node.op.multiple:
        return False
    kind = node.op.kind
    if isinstance(kind, Moves) and kind.shares:
        return False
    return not isinstance(kind, Elementwise) or math.prod(node.shape) > FEW


def _is_large_at_once(node: Node, ranks: dict[Node, int]) -> bool:
    """Whether a value is a product of an element and something fixed, or a part of that."""
    if not isinstance(node, Call) or node.op.multiple:
        return False
    kind = node.op.kind
    of = [ranks[a] for a in node.nodes]
    if isinstance(kind, Contracts):
        return min(of) < ELEMENT
    return isinstance(kind, Moves) and bool(kind.indices) and not kind.adds and of[0] < ELEMENT


def size(node: Node) -> int:
    """The bytes of a value."""
    return math.prod(node.shape) * int(node.dtype.itemsize)


def computed(
    body: Body, constants: int, states: int, found: Ahead, length: int, arrays: Sequence[Any]
) -> tuple[Body, int, list[Any]]:
    """The body that is left to the loop, the number of its constants, and the loop's arrays."""
    inputs = body.inputs
    first = constants + states
    own = dict(zip(inputs[:constants], arrays, strict=False))
    own |= zip(found.fixed, Body(inputs[:constants], found.fixed)(arrays[:constants]), strict=True)
    over = dict(zip(inputs[first:], arrays[first:], strict=True))
    if found.each:
        flags = [False] * len(own) + [True] * len(over)
        at_once, has = in_batch(Body([*own, *over], found.each), flags, length)
        at_once = spread(at_once, has, [True] * len(has), length)
        over |= zip(found.each, at_once([*own.values(), *over.values()]), strict=True)
    read = set(needed(body.outputs, [*own, *over]))
    own = {node: a for node, a in own.items() if node in read}
    over = {node: a for node, a in over.items() if node in read}
    made = Body([*own, *inputs[constants:first], *over], body.outputs)
    return made, len(own), [*own.values(), *arrays[constants:first], *over.values()]
