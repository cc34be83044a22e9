"""What is worth saving for a derivative, and what is computed again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...core.kinds import Moves
from ..trace.program import Call, Constant, Full, Input, Node, needed
from .scalars import scalar_cost

RECOMPUTED = 60  # the cost up to which elementwise values are computed again in the second program


def worth_saving(
    outputs: Sequence[Node], seeds: Sequence[Node], gradients: Sequence[Node | None]
) -> tuple[list[Node], set[Node]]:
    """The values to keep for the gradients, and the outputs that the gradients read.

    The values are those that are costly to compute again. What takes few instructions for each
    element is computed again, from the arguments or from other values that are kept, and are not
    larger: memory is slower than that. The outputs are there anyway.
    """
    after = set(seeds)
    wanted = [g for g in gradients if g is not None]
    order = needed(wanted)
    kept = set(outputs)
    recipes: dict[Node, _Recipe] = {}
    for node in order:
        if any(a in after for a in node.nodes):
            after.add(node)
        recipes[node] = _recipe(node, recipes, kept)
    rest = [a for node in order if node in after for a in node.nodes if a not in after]
    rest += [g for g in wanted if g not in after]
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    while rest:
        node = rest.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in kept or isinstance(node, Input | Constant | Full):
            continue
        if node in recipes[node].kept:
            found[node] = None
        else:
            rest += node.nodes
    return sorted(found, key=lambda node: node.number), seen & kept


class _Recipe(NamedTuple):
    """How to compute a value again: the cost for an element, and the values to keep for it."""

    cost: int
    kept: frozenset[Node]


def _recipe(node: Node, recipes: dict[Node, _Recipe], kept: set[Node]) -> _Recipe:
    nothing = _Recipe(0, frozenset())
    if node in kept or isinstance(node, Input | Constant | Full):
        return nothing
    own = None
    if isinstance(node, Call):
        is_view = isinstance(node.op.kind, Moves) and node.op.kind.shares
        own = 0 if is_view else scalar_cost(node.op)
    if own is None:
        return _Recipe(0, frozenset({node}))
    parts = [recipes[a] for a in node.nodes]
    cost = own + sum(part.cost for part in parts)
    kept_for_it = nothing.kept.union(*(part.kept for part in parts))
    if cost > RECOMPUTED or sum(map(_size, kept_for_it)) > _size(node):
        return _Recipe(0, frozenset({node}))
    return _Recipe(cost, kept_for_it)


def _size(node: Node) -> int:
    return math.prod(node.shape)
