"""Which nodes take part in a sweep, and in which order. `sweep.engine` runs them."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from ..core.nodes import Node

_number = attrgetter("number")


def planned(
    starts: Iterable[Node], targets: set[Node] | None
) -> tuple[list[Node], set[Node], bool, dict[Node, Any]]:
    """The nodes between the starts of a sweep and its targets.

    Parameters
    ----------
    starts : iterable of nodes
        The nodes of the outputs, where the sweep starts.
    targets : set of nodes, or None
        The nodes whose cotangents are wanted; None for every leaf and every tensor that retains
        its gradient.

    Returns
    -------
    order : list of nodes
        The nodes that have rules, in order of creation.
    needed : set of nodes
        All nodes that take part in the sweep.
    everything : bool
        Whether all edges of the nodes in `order` are needed.
    results : dict of nodes
        The targets, each with None in place of its cotangent.
    """
    # A node that is older than all targets does not depend on any of them.
    oldest = min(map(_number, targets)) if targets else 0
    seen = set(starts)
    stack = list(seen)
    order: list[Node] = []
    leaves: list[Node] = []
    pruned = False
    while stack:
        node = stack.pop()
        if node.pullback is None:
            leaves.append(node)
            continue
        order.append(node)
        for edge in node.edges:
            if edge not in seen:
                if edge.number < oldest:
                    pruned = True
                else:
                    seen.add(edge)
                    stack.append(edge)
    order.sort(key=_number)
    if targets is None:
        retained = [n for n in order if n.extras is not None and n.extras.retained]
        return order, seen, True, dict.fromkeys(leaves + retained)
    results: dict[Node, Any] = dict.fromkeys(targets)
    if not pruned and targets.issuperset(leaves):
        return order, seen, True, results
    needed, between = set(targets), []
    for node in order:
        if not needed.isdisjoint(node.edges):
            needed.add(node)
            between.append(node)
    return between, needed, False, results
