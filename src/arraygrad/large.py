"""The sweep's way through elementwise ops on large NumPy arrays: in blocks, see `backends.blocks`.

A stretch of nodes, all elementwise and of one shape, is run for one block after the other. So the
cotangents in between are never larger than a block: only those that leave the stretch are written
to memory. Sums are made in the same order as without blocks, and so come out the same.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .backends.blocks import CUTTABLE, Blocks
from .graph import FREED, LAST_WRITE, Node

if TYPE_CHECKING:
    from .engine import Sweep


class _Broadcast(NamedTuple):
    """A use of an array that was broadcast: what it gives has yet to be summed."""

    edge: Node
    node: Node
    position: int


Target = Node | _Broadcast


def run_large(
    sweep: Sweep, start: Node, g: Any, table: dict[Node, Any], owned: set[Node], spare: bool
) -> bool:
    """Run a node whose cotangent is `g`, and elementwise ones that follow; says if it could.

    Of the arrays in the table, none is overwritten but those of nodes that are `owned`; and `g`
    only if it is `spare`.
    """
    nodes = _stretch(sweep, start)
    edges = {edge for node in nodes for edge in node.edges if edge.shape == start.shape}
    inputs = {node: table[node] for node in edges.union(nodes) if node in table} | {start: g}
    if not nodes or any(type(a) is not np.ndarray for a in inputs.values()):
        return False
    blocks = Blocks.of((*inputs.values(), *(value for node in nodes for value in node.saved)))
    if blocks is None:
        return False

    steps = [_Step(node, _rules(sweep, node), len(node.saved)) for node in nodes]
    first = blocks.first()
    passing = {id(part): array for part, array in zip(first, inputs.values(), strict=False)}
    results: dict[Target, Any] = {}
    computed: dict[Target, Any] = {}  # those of the results that are not inputs as they are
    shared: set[Target] = set()
    leaving = _leaving(steps, inputs, first, {})
    seen: dict[int, Target] = {}
    for target, part in leaving.items():
        if id(part) in passing:
            results[target] = passing[id(part)]
            continue
        twin = seen.setdefault(id(part), target)
        if twin is not target:  # as for both sides of a sum
            results[target] = results[twin]
            if not isinstance(target, _Broadcast):  # those are read now, and never written
                shared |= {target, twin}
            continue
        if target in owned:
            results[target] = table[target]
        elif spare and all(rule is not None for _, rule in steps[0].rules):
            # Nothing but the first rules reads `g`: of each block, they are done with it.
            results[target], spare = g, False
        else:
            results[target] = blocks.empty(start.dtype)
        computed[target] = blocks.flat(results[target])

    def run(block: list[Any], place: slice) -> None:
        places = {target: array[place] for target, array in computed.items()}
        parts = _leaving(steps, inputs, block, places)
        for target, into in places.items():
            if parts[target] is not into:
                into[...] = parts[target]

    if computed:
        blocks.each(run)
    for node in nodes:
        table.pop(node, None)
    for target, total in results.items():
        if isinstance(target, _Broadcast):
            sweep.add(table, owned, target.edge, total, target.node)
        else:
            table[target] = total
            if target in shared:
                owned.discard(target)
            elif target in computed:
                owned.add(target)
    return True


def _stretch(sweep: Sweep, start: Node) -> list[Node]:
    """A node and those that the sweep comes to next, as long as they can be run in blocks."""
    order = sweep.order
    found: list[Node] = []
    for index in range(bisect_left(order, start.number, key=attrgetter("number")), -1, -1):
        node = order[index]
        if node is not start and not _can_follow(sweep, node, start):
            break
        if not _is_elementwise(sweep, node):
            break
        found.append(node)
    return found


def _can_follow(sweep: Sweep, node: Node, start: Node) -> bool:
    pullback = node.pullback
    assert pullback is not None
    return (
        pullback.in_blocks
        and pullback.simple
        and node.extras is None
        and node.shape == start.shape
        and node.dtype == start.dtype
        and node.saved is not FREED
        and node.number >= LAST_WRITE[0]  # what it saved has not been written since
        and node not in sweep.results
    )


def _is_elementwise(sweep: Sweep, node: Node) -> bool:
    """Whether a node's rules give arrays of its own shape and dtype, by a look at one element."""
    if not all(isinstance(value, CUTTABLE) for value in node.saved):
        return False
    g = np.ones((1,) * len(node.shape), node.dtype)
    saved = [v[(slice(1),) * v.ndim] if isinstance(v, np.ndarray) else v for v in node.saved]
    for edge, rule in _rules(sweep, node):
        part = g if rule is None else rule(g, saved)
        same = type(part) is np.ndarray and part.shape == g.shape and part.dtype == g.dtype
        if not same or edge.dtype != g.dtype:
            return False
    return True


def _rules(sweep: Sweep, node: Node) -> list[tuple[Node, Any]]:
    assert node.pullback is not None
    both = zip(node.edges, node.pullback.rules, strict=True)
    return [(edge, rule) for edge, rule in both if edge in sweep.needed]


class _Step(NamedTuple):
    """A node to run, with the rules for those of its edges that take part."""

    node: Node
    rules: list[tuple[Node, Any]]
    saved: int  # how many values


def _leaving(
    steps: list[_Step], inputs: dict[Node, Any], block: list[Any], places: dict[Target, Any]
) -> dict[Target, Any]:
    """The cotangents after the nodes were run, for a block of the inputs and of what was saved.

    Sums are written to the `places` that there are for them.
    """
    table: dict[Target, Any] = dict(zip(inputs, block, strict=False))
    at = len(inputs)
    for node, rules, count in steps:
        saved = block[at : at + count]
        at += count
        g = table.pop(node, None)
        if g is None:
            continue
        for position, (edge, rule) in enumerate(rules):
            part = g if rule is None else rule(g, saved)
            if edge.shape != node.shape:
                table[_Broadcast(edge, node, position)] = part
            elif edge in table:
                table[edge] = np.add(table[edge], part, out=places.get(edge))
            else:
                table[edge] = part
    return table
