"""Sums over all steps of a loop, of which the last part is computed after the loop.

The reverse pass of a loop adds up what each step contributes to the cotangents of constants. A
contribution is often a product of two values, such as those of a layer: then the sum is one large
product of the values of all steps, side by side. That takes less time than a small product and a
sum in each step. Ops that are linear are applied to the sum, once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.kinds import Contracts, Moves
from ...ops import matmul, matrix_transpose, permute_dims, reshape
from ...ops import sum as sum_of
from ..trace.bodies import Body, in_batch
from ..trace.interpret import compute
from ..trace.program import Call, Node

DEEPEST = 50  # ops after each other that are looked through

Labels = tuple[str, str, str]


@dataclass
class _Way:
    """How the sum of a value over all steps is found.

    Attributes
    ----------
    node : Node
    cost : int
        The bytes that each step writes for it.
    how : {"loop", "rows", "product", "op"}
        The loop adds it up; its values are side by side anyway; it is a product of values side by
        side; it is an op on sums.
    parts : dict of Node to _Way
        The arguments of an op that are sums.
    stacked : set of Node
        The values of all steps that are put side by side for it.
    """

    node: Node
    cost: int
    how: str
    parts: dict[Node, _Way] = field(default_factory=dict)
    stacked: set[Node] = field(default_factory=set)


class Sums:
    """Sums of values over all steps of a loop.

    Parameters
    ----------
    nodes : iterable of Node
        The values to add up.
    is_fixed : callable
        Whether a value is the same in all steps.
    rows : collection of Node
        Values of which those of all steps will be side by side in any case.
    room : int
        The bytes that each step may write for more of them.

    Attributes
    ----------
    added : list of Node
        What the loop must add up.
    stacked : list of Node
        What the loop must put side by side, beside `rows`.
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        is_fixed: Callable[[Node], bool],
        rows: Collection[Node],
        room: int,
    ) -> None:
        self._is_fixed = is_fixed
        self._rows = set(rows)
        self._room = room
        self._ways: dict[Node, _Way] = {}
        self.added: list[Node] = []
        self.stacked: list[Node] = []
        for node in sorted(set(nodes), key=lambda node: (-size(node), node.number)):
            way = self._ways[node] = self._way(node)
            new = sorted(way.stacked - self._rows, key=lambda node: node.number)
            self.stacked += new
            self._rows.update(new)
            self._room -= sum(map(size, new))
            self.added += [x for x in _leaves(way) if x not in self.added]

    # --- the way ---

    def _way(self, node: Node, depth: int = 0) -> _Way:
        here = _Way(node, size(node), "loop")
        if node in self._rows:
            return _Way(node, 0, "rows")
        if depth > DEEPEST or not isinstance(node, Call) or node.op.multiple:
            return here
        changing = [a for a in node.nodes if not self._is_fixed(a)]
        if _labels(node) is not None and len(changing) == 2:
            stacked = {_source(a) for a in changing}
            new = sum(size(x) for x in stacked - self._rows)
            if new <= min(here.cost, self._room):
                return _Way(node, new, "product", stacked=stacked)
        elif _is_linear(node, changing):
            parts = {a: self._way(a, depth + 1) for a in changing}
            stacked = set().union(*(part.stacked for part in parts.values()))
            cost = sum(part.cost for part in parts.values())
            new = sum(size(x) for x in stacked - self._rows)
            if cost <= here.cost and new <= self._room:
                return _Way(node, cost, "op", parts, stacked)
        return here

    # --- the sums ---

    def values(
        self,
        added: Sequence[Any],
        rows: dict[Node, Any],
        fixed: Callable[[Node], Any],
        length: int,
    ) -> dict[Node, Any]:
        """All sums.

        Parameters
        ----------
        added : sequence of arrays
            What the loop has added up.
        rows : dict
            For each value that is side by side: the values of all steps.
        fixed : callable
            The array for a value that is the same in all steps.
        length : int
            The number of steps.
        """
        known = dict(zip(self.added, added, strict=True))

        def stack(node: Node) -> Any:
            source = _source(node)
            if node is source:
                return rows[node]
            body, _ = in_batch(Body([source], [node]), [True], length)
            return body([rows[source]])[0]

        def total(way: _Way) -> Any:
            node = way.node
            if way.how == "loop":
                return known[node]
            if way.how == "rows":
                return sum_of(rows[node], axis=0)
            if way.how == "product":
                labels = _labels(node)
                assert labels is not None
                a, b = map(stack, node.nodes)
                return _product(a, b, labels)
            args = {a: total(way.parts[a]) if a in way.parts else fixed(a) for a in node.nodes}
            return compute(node, args)

        return {node: total(way) for node, way in self._ways.items()}


def size(node: Node) -> int:
    """The bytes of a value."""
    return math.prod(node.shape) * int(node.dtype.itemsize)


def _leaves(way: _Way) -> list[Node]:
    """What the loop must add up."""
    if way.how == "op":
        return [x for part in way.parts.values() for x in _leaves(part)]
    return [way.node] if way.how == "loop" else []


def _source(node: Node) -> Node:
    """The value that a view shows, also through other views."""
    while isinstance(node, Call) and isinstance(node.op.kind, Moves) and node.op.kind.shares:
        if len(node.args) != 1:
            break
        (node,) = node.args
    return node


def _is_linear(node: Call, changing: Sequence[Node]) -> bool:
    """Whether the op of a sum of arguments is the sum of its results."""
    kind = node.op.kind
    if node.names or not node.op.is_library or any(a.dtype != node.dtype for a in changing):
        return False
    if kind.linear == "each":
        return len(changing) == 1 and node.args.count(changing[0]) == 1
    inputs = node.args
    if isinstance(kind, Moves) and kind.indices:  # which are no numbers that are added up
        inputs = node.args[:1]
    return kind.linear is True and len(changing) == len(inputs)


def _labels(node: Node) -> Labels | None:
    """The labels of a product of two values, if it sums over axes of both only."""
    if not isinstance(node, Call) or not isinstance(node.op.kind, Contracts):
        return None
    labels = node.op.kind.labels
    if labels is None or len(node.nodes) != 2 or node.names:
        return None
    if isinstance(labels, tuple):
        found: Any = tuple(node.params[name] for name in labels)
    else:
        found = labels(*(a.ndim for a in node.nodes))
    left, right, to = found
    lengths: dict[str, set[int]] = {}
    for names, x in ((left, node.nodes[0]), (right, node.nodes[1])):
        for name, n in zip(names, x.shape, strict=True):
            lengths.setdefault(name, set()).add(n)
    is_plain = all(len(set(names)) == len(names) for names in found)
    is_known = set(left) | set(to) >= set(right) and set(right) | set(to) >= set(left)
    return found if is_plain and is_known and all(len(n) == 1 for n in lengths.values()) else None


def _product(a: Any, b: Any, labels: Labels) -> Any:
    """The sum over all steps of a product of two values, both with an axis of steps in front."""
    left, right, to = labels
    batch = [c for c in to if c in left and c in right]
    inner = [c for c in left if c in right and c not in to]
    lengths = dict(zip(left + right, (*a.shape[1:], *b.shape[1:]), strict=True))

    def shape(names: Sequence[str]) -> tuple[int, ...]:
        return tuple(lengths[c] for c in names)

    def matrices(x: Any, names: str, own: Sequence[str]) -> Any:
        order = [*(1 + names.index(c) for c in batch), 0, *(1 + names.index(c) for c in inner)]
        turned = permute_dims(x, (*order, *(1 + names.index(c) for c in own)))
        steps = x.shape[0] * math.prod(shape(inner))
        return reshape(turned, (*shape(batch), steps, math.prod(shape(own))))

    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]
    found = matmul(matrix_transpose(matrices(a, left, rows)), matrices(b, right, columns))
    order = [*batch, *rows, *columns]
    return permute_dims(reshape(found, shape(order)), tuple(order.index(c) for c in to))
