"""Which elements of an array are live. An element is live if some output depends on it.

An overwritten value is dead: its cotangent is zero, even if the value was infinite or NaN. A
derivative rule would multiply zero by such a value and give NaN. So a sweep keeps a mask of the
live elements of each array that was written. It sets the cotangents of dead elements to zero, and
an array without live elements gets no cotangent at all.

Masks cost time at every write, and few programs overwrite values that are not finite. So a sweep
runs first without masks. If its results contain NaN, it runs a second time, with masks. It uses
masks from the start if it cannot run twice: if values are not computed yet, or if the graph has
user code, such as hooks.

The kind of an op decides which elements of its inputs are live:

=============  ===================================================================================
Elementwise    those at the places of live elements of the result
Moves          those that were moved to live elements of the result: run the rules on the mask
Reduces        all that a live element of the result was reduced from
AlongAxis      all along the axis of a live element; for a running op, up to the last live element
Contracts      run the rules on the mask, with ones in place of saved arrays
Matrices       all of a matrix with a live result
Opaque         all
=============  ===================================================================================

An element is dead only if every use of its array leaves it dead, so uses are counted. Dependence in
the other direction, from inputs to results, is in `arrays.spread`.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from typing import Any

import numpy as np

from ..backends import backend_of
from ..core.array import plain
from ..core.axes import kept
from ..core.indices import HOLE, fill
from ..core.kinds import AlongAxis, Contracts, Elementwise, Kind, Matrices, Moves, Reduces
from ..core.nodes import Node, Output
from ..ops.define.rules import Pullback
from ..ops.regions import Region
from ..ops.writing import put

Mask = Any  # an array of booleans, True where elements are live


class Live:
    """The live elements of one node, as found from the first `uses` of its uses.

    `mask` is a mask, or for a node with several outputs, a list of masks and None.
    """

    __slots__ = ("mask", "uses")

    def __init__(self, mask: Any) -> None:
        self.mask = mask
        self.uses = 1


# How to run one node: whether each edge gets a cotangent; for an elementwise op, the mask of the
# rules' results; for each edge, the mask of its cotangent. None stands for a mask without dead
# elements.
Followed = tuple[list[bool], "Mask | None", "list[Mask | None]"]


class Liveness:
    """The live elements of the arrays in one sweep.

    Parameters
    ----------
    needed : set of nodes
        All nodes of the sweep.
    order : list of nodes
        The nodes of the sweep that have rules.
    starts : list of nodes
        The nodes of the outputs.
    follows : bool or None
        Whether to use masks; None to decide at the first write.

    Attributes
    ----------
    known : dict of Node to Live
        The nodes that may have dead elements.
    """

    __slots__ = ("_counts", "_needed", "_order", "_starts", "_without", "follows", "known")

    def __init__(
        self, needed: set[Node], order: list[Node], starts: list[Node], follows: bool | None
    ) -> None:
        self.follows = follows
        self.known: dict[Node, Live] = {}
        self._needed = needed
        self._order = order
        self._starts = starts
        self._counts: Counter[Node] | None = None
        self._without: dict[Node, Any] = {}

    @property
    def _uses(self) -> Counter[Node]:
        """How often each node is used. Counted when first needed."""
        if self._counts is None:
            self._counts = Counter(edge for node in self._order for edge in node.edges)
            self._counts.update(self._starts)
        return self._counts

    def _take(self, node: Node) -> Mask | None:
        """The mask of a node; None if all its elements may be live."""
        known = self.known.pop(node, None)
        return None if known is None or known.uses != self._uses[node] else known.mask

    def _note(self, edge: Node, mask: Mask) -> None:
        """Add the live elements of one use of an array. The caller gives `mask` away."""
        known = self.known.get(edge)
        if known is None:
            self.known[edge] = Live(np.asarray(mask))  # an array, which can be written
        else:
            known.mask = np.asarray(known.mask | mask)
            known.uses += 1

    def collect(self, node: Output) -> None:
        """Pass the mask of an output to its node, which has several outputs."""
        parent = node.edges[0]
        if self.known:
            mask = self._take(node)
            if mask is not None and not node.is_hooked:
                masks = self.known.setdefault(parent, Live([None] * len(parent.shape))).mask
                masks[node.index] = mask

    def follow(self, node: Node, g: Any, saved: tuple[Any, ...]) -> Followed:
        """Find the live elements of the inputs of a node with the cotangent `g`."""
        needed, edges = self._needed, node.edges
        kind: Kind = node.pullback.kind  # type: ignore[union-attr]
        wanted = [edge in needed for edge in edges]
        of_inputs: list[Mask | None] = [None] * len(edges)
        if self.follows is False:  # the common case
            return wanted, None, of_inputs
        if self.follows is None and kind.overwrites:
            self.follows = self._must_follow(g)
        if not self.follows:
            return wanted, None, of_inputs
        mask = self._mask_of(node, g, saved, kind)
        aligned = isinstance(kind, Elementwise) and not kind.overwrites
        if isinstance(mask, list) and (aligned or isinstance(kind, Reduces | AlongAxis)):
            mask = _union(mask)
        if mask is None:
            return wanted, None, of_inputs
        # Ops that only move elements give zeros for dead elements by themselves.
        computes = isinstance(kind, Reduces | AlongAxis | Contracts | Matrices)
        for i, part in enumerate(_live_parts(kind, mask, node, wanted, saved)):
            if part is None:
                continue
            edge = edges[i]
            if part.shape != tuple(edge.shape):
                part = _fitted(part, edge.shape)
            if part.any():
                of_inputs[i] = part.copy() if computes and not part.all() else None
                self._note(edge, part)
            elif part.size:
                self._without[edge] = _some(g)
                self._drop(edge)
                wanted[i] = False
        return wanted, mask if aligned else None, of_inputs

    def _mask_of(self, node: Node, g: Any, saved: tuple[Any, ...], kind: Kind) -> Mask | None:
        """The mask of a node; None if it makes no element of the inputs dead."""
        pullback = node.pullback
        assert pullback is not None
        mask: Any
        if pullback.multiple:
            known = self.known.pop(node, None)
            mask = None if known is None else _masks_of_all(node, g, known.mask)
        else:
            mask = self._take(node) if node in self.known else None
        if node.is_hooked:
            return None
        if mask is None:
            if not kind.overwrites:
                selects = isinstance(kind, Moves) and self.known
                if not selects or self._is_read(node, saved):
                    return None
            if not _can_be_followed(g, node.shape):
                return None
            if pullback.multiple:
                return _masks_of_all(node, g, [None] * len(node.shape))
            mask = np.ones(node.shape, np.bool_)
        return mask

    def _must_follow(self, g: Any) -> bool:
        """Whether to use masks now, because the sweep cannot run a second time."""
        if not isinstance(plain(g), np.ndarray | np.generic):
            return True
        return any(
            node.extras is not None or type(node) is not Node or node.pullback.is_users  # type: ignore[union-attr]
            for node in self._order
        )

    def _drop(self, edge: Node) -> None:
        """Count one use less of a node. A node that is not used does not use its inputs, either."""
        stack = [edge]
        while stack:
            node = stack.pop()
            self._uses[node] -= 1
            if not self._uses[node]:
                stack += [e for e in node.edges if e in self._needed]

    def _is_read(self, node: Node, saved: tuple[Any, ...]) -> bool:
        """Whether a node reads a part of an array. If so, mark this part as live, in place.

        A new mask for each read would make it slow to read an array element by element.
        """
        pullback = node.pullback
        assert pullback is not None
        kind = pullback.kind
        if not isinstance(kind, Moves) or kind.template is None or kind.adds:
            return False
        values = dict(zip(pullback.kept, saved, strict=True))
        indices = values[kind.indices[0]]
        if indices and any(type(i) is not np.ndarray or i.dtype.kind == "b" for i in indices):
            return False
        known = self.known.get(node.edges[0])
        if known is not None:
            known.mask[fill(values[kind.template], indices)] = True
            known.uses += 1
        return True

    def unreached(self) -> dict[Node, Any]:
        """The nodes that overwritten values were computed from.

        For each, some cotangent that was not passed on: it says which library zeros are made in.
        """
        found = dict(self._without)
        stack = list(found)
        while stack:
            node = stack.pop()
            for edge in node.edges:
                if edge in self._needed and edge not in found:
                    found[edge] = found[node]
                    stack.append(edge)
        return found


# Lazy arrays with more elements get no mask, as it might not fit in memory.
_MOST = 1 << 24


def _can_be_followed(g: Any, shape: Any) -> bool:
    if isinstance(g, list):
        pairs = zip(g, shape, strict=True)
        return all(_can_be_followed(part, s) for part, s in pairs if part is not None)
    size = math.prod(shape)
    if size <= _MOST:
        return True
    return size == size and backend_of(g).has_values(plain(g))  # NaN: a length not yet computed


def _some(g: Any) -> Any:
    """The cotangent of a node, or of one of its outputs."""
    return next(part for part in g if part is not None) if isinstance(g, list) else g


def _masks_of_all(node: Node, g: list[Any], masks: list[Mask | None]) -> list[Mask]:
    """The masks of all outputs of a node. An output without a cotangent is dead."""
    return [
        np.full(shape, part is not None) if mask is None else mask
        for part, mask, shape in zip(g, masks, node.shape, strict=True)
    ]


def _union(masks: list[Mask]) -> Mask | None:
    """The elements that are live in any output, if all outputs have one shape; else None."""
    if len({mask.shape for mask in masks}) > 1:
        return None
    return np.logical_or.reduce(masks)


def cleared(part: Any, mask: Mask | None) -> Any:
    """A cotangent with zeros for the dead elements of a mask of its shape."""
    if mask is None or tuple(part.shape) != mask.shape:
        return part
    if mask.all():
        return part
    index = ((HOLE,), (~mask,)) if mask.ndim else None  # not all libraries know 0-d masks
    return put(part, 0, region=Region(mask.shape, (), index))


def _fitted(mask: Mask, wanted: tuple[int, ...]) -> Mask:
    """A mask for an array that was broadcast: an element is live if any of its copies is."""
    extra = mask.ndim - len(wanted)
    axes = tuple(i for i in range(mask.ndim) if i < extra or wanted[i - extra] != mask.shape[i])
    return mask.any(axis=axes).reshape(wanted)


# --- by the kind of an op ------------------------------------------------------------------------


def _live_parts(
    kind: Kind, mask: Any, node: Node, wanted: list[bool], saved: tuple[Any, ...]
) -> list[Mask | None]:
    """The masks of a node's inputs, if its result has `mask`; None for all elements."""
    pullback = node.pullback
    assert pullback is not None
    if pullback.live is not None:
        return pullback.live(mask, pullback, wanted, saved)  # type: ignore[no-any-return]
    if isinstance(kind, Elementwise) and not kind.overwrites:
        return [np.array(mask) if w else None for w in wanted]
    if isinstance(kind, Moves | Elementwise):
        return _by_rules(mask, pullback, wanted, saved)
    if isinstance(kind, Contracts):
        return _by_rules(mask, pullback, wanted, _ones_for_arrays(pullback, saved))
    if isinstance(kind, Reduces | AlongAxis):
        axis = saved[pullback.kept.index(kind.axis)]
        running = isinstance(kind, AlongAxis) and kind.running
        return [
            _in_lines(mask, axis, tuple(edge.shape), running) if w else None
            for edge, w in zip(node.edges, wanted, strict=True)
        ]
    if isinstance(kind, Matrices):
        return [
            _in_matrices(mask, pullback, kind, tuple(edge.shape)) if w else None
            for edge, w in zip(node.edges, wanted, strict=True)
        ]
    return [None] * len(wanted)


def _by_rules(
    mask: Any, pullback: Pullback, wanted: list[bool], saved: tuple[Any, ...]
) -> list[Mask | None]:
    """The masks of the inputs of an op that moves or adds elements: run its rules on the mask."""
    if not all(_is_numpy(i) for s in saved for i in (s if isinstance(s, tuple | list) else (s,))):
        return [None] * len(wanted)
    ones = [m.astype(np.float64) for m in mask] if pullback.multiple else mask.astype(np.float64)
    parts = [
        np.asarray((ones if rule is None else rule(ones, saved)) != 0) if w else None
        for rule, w in zip(pullback.rules, wanted, strict=True)
    ]
    return [None if part is None or part.all() else part for part in parts]


def _is_numpy(value: Any) -> bool:
    """Whether a value is a NumPy array, or not an array at all."""
    return not hasattr(value, "dtype") or isinstance(value, np.ndarray | np.generic)


def _ones_for_arrays(pullback: Pullback, saved: tuple[Any, ...]) -> tuple[Any, ...]:
    """The saved values, with each array replaced by ones."""
    return tuple(
        np.ones(value.shape) if place in pullback.arrays else value
        for place, value in enumerate(saved)
    )


def _in_lines(mask: Mask, axis: Any, shape: tuple[int, ...], running: bool) -> Mask:
    """The elements of an array with this shape that share a line along `axis` with a live one."""
    if axis is None:
        axis = tuple(range(len(shape)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    if running:
        (axis,) = axes
        later = np.flip(np.logical_or.accumulate(np.flip(mask, axis), axis), axis)
        return np.ascontiguousarray(later)
    rank = max(len(shape), mask.ndim)
    if mask.ndim == len(shape):
        mask = mask.any(axis=axes, keepdims=True)
    elif mask.ndim == len(shape) - len(axes):
        mask = mask.reshape(kept(shape, axes))
    else:  # this input was broadcast to the others
        mask = mask.any(axis=axes, keepdims=True)
        shape = (1,) * (rank - len(shape)) + shape
        wide = np.broadcast_shapes(mask.shape, shape)
        return np.array(np.broadcast_to(mask, wide))
    return np.array(np.broadcast_to(mask, np.broadcast_shapes(mask.shape, shape)))


def _in_matrices(
    mask: Any, pullback: Pullback, kind: Matrices, shape: tuple[int, ...]
) -> Mask | None:
    """The elements of matrices whose results have a live element; None if not known."""
    masks = mask if pullback.multiple else [mask]
    if pullback.arity == 1:
        leads: list[int] | None = [len(shape) - 2] * len(masks)
    else:
        ranks = _ranks(kind, pullback.arity)
        leads = ranks and [m.ndim - rank for m, rank in zip(masks, ranks, strict=True)]
    if leads is None:
        return None
    live = np.logical_or.reduce(
        [m.any(axis=tuple(range(lead, m.ndim))) for m, lead in zip(masks, leads, strict=True)]
    )
    live = live.reshape((*live.shape, 1, 1))
    return np.array(np.broadcast_to(live, np.broadcast_shapes(live.shape, shape)))


@functools.cache
def _ranks(kind: Matrices, arity: int) -> list[int] | None:
    """The number of axes of each result for single matrices; None if keywords decide it."""
    try:
        return [len(shape) for shape in kind.shapes(*[(2, 2)] * arity)]
    except TypeError:  # `shapes` takes keywords, too
        return None
