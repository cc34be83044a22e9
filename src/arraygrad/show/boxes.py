"""The boxes of a drawing: from a graph or a compiled program, and fewer of them if it is large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import prod
from typing import Any

import numpy as np

from ..compiler.call.report import steps_of
from ..compiler.run.executable import Executable
from ..compiler.trace.program import Call, Result, needed
from ..core.nodes import Leaf, Node, public_edge
from .tables import range_text

LONGEST = 256  # nodes in the body of a loop that is found


@dataclass
class Box:
    """A node of a drawing: one op, or several.

    Attributes
    ----------
    title, shape, dtype, line, value, gradient : str
        Texts; empty if not known.
    nbytes, saved : int
        The bytes of its results, and of the arrays that it keeps for the derivative.
    group : str
        What it is a part of: a function of the user's, or a step of a compiled program.
    inputs : list of int
        The places of the boxes that it takes results from.
    count : int
        How many ops it stands for.
    ops : Counter
        How many of each, if they are several.
    """

    title: str
    shape: str
    dtype: str
    nbytes: int
    inputs: list[int] = field(default_factory=list)
    saved: int = 0
    line: str = ""
    group: str = ""
    value: str = ""
    gradient: str = ""
    count: int = 1
    ops: Counter[str] = field(default_factory=Counter)


def nodes_of(starts: Iterable[Node]) -> list[Node]:
    """The nodes of all ops and leaves that tensors depend on, in order of creation."""
    found: set[Node] = set()
    stack = [public_edge(node).node for node in starts]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += [public_edge(edge).node for edge in node.edges]
    return sorted(found, key=lambda node: node.number)


def boxes_of_graph(
    nodes: Sequence[Node],
    names: dict[Node, str],
    place: Callable[[Node], tuple[str, str]],
    values: bool,
    gradients: dict[Node, Any],
) -> list[Box]:
    """A box for each node. `place` says the line of a node, and the function that has the line."""
    places = {node: i for i, node in enumerate(nodes)}
    boxes, kept = [], _kept_values(nodes) if values else {}
    for node in nodes:
        shapes: Any = node.shape if isinstance(node.shape, list) else [node.shape]
        dtypes: Any = node.dtype if isinstance(node.dtype, list) else [node.dtype]
        kept_now = node.saved if isinstance(node.saved, tuple) else ()
        saved = [v for s in kept_now for v in (s if type(s) is tuple else (s,))]
        line, group = place(node)
        boxes.append(
            Box(
                names.get(node, "leaf") if isinstance(node, Leaf) else node.pullback.name,  # type: ignore[union-attr]
                ", ".join(str(tuple(shape)) for shape in shapes),
                ", ".join(dict.fromkeys(map(str, dtypes))),
                sum(map(_size, shapes, dtypes)),
                list(dict.fromkeys(places[public_edge(edge).node] for edge in node.edges)),
                sum(getattr(value, "nbytes", 0) for value in saved),
                line,
                group,
                range_text(kept[node]) if node in kept else "",
                range_text(gradients[node]) if gradients.get(node) is not None else "",
            )
        )
    return boxes


def _size(shape: Sequence[int], dtype: Any) -> int:
    return prod(shape) * getattr(dtype, "itemsize", 0)


def _kept_values(nodes: Sequence[Node]) -> dict[Node, Any]:
    """The values of nodes, as far as the graph has them: of leaves, and what rules need."""
    found: dict[Node, Any] = {n: n.array for n in nodes if isinstance(n, Leaf)}
    for node in nodes:
        if node.pullback is not None and isinstance(node.saved, tuple):
            edges = dict(zip(node.pullback.positions, node.edges, strict=False))
            for value, source in zip(node.saved, node.pullback.sources, strict=False):
                if source is not None and hasattr(value, "dtype"):
                    found[node if source == -1 else edges.get(source, node)] = value
    return found


def boxes_of_program(executable: Executable) -> list[Box]:
    """A box for each value of a compiled program, grouped by the steps that compute them."""
    nodes = needed(executable.results, executable.inputs)
    nodes = [node for node in nodes if not isinstance(node, Result)]
    places = {node: i for i, node in enumerate(nodes)}
    steps = steps_of(executable)
    boxes = []
    for node in nodes:
        inputs = [a.args[0] if isinstance(a, Result) else a for a in node.nodes]
        group = steps.get(node, "")
        title = node.op.name if isinstance(node, Call) else node.what()
        at = list(dict.fromkeys(places[a] for a in inputs))
        dtype, size = "" if node.dtype is None else str(node.dtype), _size(node.shape, node.dtype)
        boxes.append(Box(title, str(node.shape), dtype, size, at, group=group))
    return boxes


# --- fewer boxes ---------------------------------------------------------------------------------


def collapsed(boxes: list[Box], limit: int) -> list[Box]:
    """At most `limit` boxes: loops are rolled up, then stretches of a function become boxes."""
    before = len(boxes) + 1
    while limit < len(boxes) < before:
        before = len(boxes)
        boxes = _merged(boxes, _rolled(boxes))
    if len(boxes) > limit:
        runs = [len(list(run)) for _, run in groupby(boxes, key=lambda box: box.group)]
        length = -(-len(boxes) // limit)
        parts = [min(length, run - i) for run in runs for i in range(0, run, length)]
        boxes = _merged(boxes, np.repeat(np.arange(len(parts)), parts).tolist())
    if len(boxes) > limit:
        boxes = _merged(boxes, [i * limit // len(boxes) for i in range(len(boxes))])
    return boxes


def _rolled(boxes: list[Box]) -> list[int]:
    """For each box, the new box that it becomes a part of: the same for each turn of a loop.

    A loop is a sequence of ops that occurs at least three times in a row. Of all loops that begin
    at a box, the one with most boxes is chosen.
    """
    numbers: dict[Any, int] = {}
    keys = [(b.title, b.shape, b.dtype, b.line, b.count) for b in boxes]
    ids = np.array([numbers.setdefault(key, len(numbers)) for key in keys])
    n = len(ids)
    covered, period = np.zeros(n, int), np.ones(n, int)
    for k in range(1, min(LONGEST, n // 3) + 1):
        differs = np.append(np.flatnonzero(ids[k:] != ids[:-k]), n - k)
        run = differs[np.searchsorted(differs, np.arange(n - k))] - np.arange(n - k)
        cover = np.where(run >= 2 * k, (run // k + 1) * k, 0)
        is_longer = cover > covered[: n - k]
        covered[: n - k][is_longer], period[: n - k][is_longer] = cover[is_longer], k
    target: list[int] = []
    new = 0
    while len(target) < n:
        i = len(target)
        length, k = int(covered[i]) or 1, int(period[i]) if covered[i] else 1
        target += [new + j % k for j in range(length)]
        new += k
    return target


def _merged(boxes: list[Box], target: list[int]) -> list[Box]:
    """The boxes that some boxes become, given the new place of each."""
    members: dict[int, list[Box]] = {}
    for box, place in zip(boxes, target, strict=True):
        members.setdefault(place, []).append(box)
    merged = []
    for place in sorted(members):
        parts = members[place]
        first = parts[0]
        inputs = list(dict.fromkeys(target[i] for box in parts for i in box.inputs))
        if len(parts) == 1:
            merged.append(replace(first, inputs=inputs))
            continue
        titles = Counter[str]()
        for box in parts:
            titles.update(box.ops or {box.title: box.count})
        is_loop = len(titles) == 1
        several = [f"{title} ×{count}" for title, count in titles.most_common(3)]
        common = ", ".join([*several, "…"] if len(titles) > 3 else several)
        made = Box(
            first.title if is_loop else f"{first.group}: {common}" if first.group else common,
            first.shape if is_loop else "",
            first.dtype if is_loop else "",
            sum(box.nbytes for box in parts),
            [i for i in inputs if is_loop or i != place],
            sum(box.saved for box in parts),
            first.line if is_loop or all(box.line == first.line for box in parts) else "",
            first.group if all(box.group == first.group for box in parts) else "",
            count=sum(box.count for box in parts),
            ops=titles,
        )
        merged.append(made)
    return merged
