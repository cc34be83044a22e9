"""Which elements of a cotangent are zero because nothing depends on them.

A value that was overwritten has the cotangent zero, whatever it was: also where it was infinite or
NaN, and a derivative rule would make NaN of zero times that. So a sweep remembers, of the arrays
that were written, which elements are *live*: some result depends on them. Rules that act element
by element are corrected to zero at the others, and an array without live elements gets no cotangent
at all.

That costs time in every write, and few programs overwrite what is not finite. So a sweep first goes
without, and only if there is NaN in its results once more with it; unless values are not known, or
there is code of the user's on the way, such as hooks, that must not be run twice.

What is live follows the cotangents through ops that only move or add up elements, and through those
that act element by element; any other op makes an end of it, and sees zeros like any others. An
element is dead only if it is so for every use of its array, so uses are counted.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from ..backends import backend_of
from ..core.array import plain
from ..core.indices import HOLE, fill
from ..core.nodes import Node
from ..ops import indexing, reductions
from ..ops import shape as rearranging
from ..ops.regions import Region
from ..ops.writing import choose, put


class Live:
    """What is known of one node's cotangent: a mask, from so many of its uses."""

    __slots__ = ("mask", "uses")

    def __init__(self, mask: Any) -> None:
        self.mask = mask
        self.uses = 1


class Overwritten:
    """The live elements in one sweep.

    Parameters
    ----------
    needed : set of nodes
        Those that take part.
    order : list of nodes
        Those of them that have rules.
    starts : list of nodes
        Where cotangents come in from outside.
    follows : bool or None
        Whether to follow what is live; None to decide at the first write.

    Attributes
    ----------
    known : dict of Node to Live
        The nodes in whose cotangents some elements may be dead.
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
        """How often each node is used, counted when first asked for."""
        if self._counts is None:
            self._counts = Counter(edge for node in self._order for edge in node.edges)
            self._counts.update(self._starts)
        return self._counts

    def _take(self, node: Node) -> Any:
        """The mask of the live elements of a node's cotangent; None if all may be."""
        known = self.known.pop(node, None)
        return None if known is None or known.uses != self._uses[node] else known.mask

    def _note(self, edge: Node, mask: Any) -> None:
        """Note which elements one use of an array reaches; `mask` is nobody else's from now on."""
        known = self.known.get(edge)
        if known is None:
            self.known[edge] = Live(mask)
        else:
            known.mask = known.mask | mask
            known.uses += 1

    def pass_on(self, node: Node, g: Any, saved: tuple[Any, ...]) -> list[bool]:
        """Follow a cotangent through a node; returns for each edge whether it gets any."""
        needed = self._needed
        wanted = [edge in needed for edge in node.edges]
        if self.follows is False:  # as most often
            return wanted
        pullback, known = node.pullback, self.known
        assert pullback is not None and pullback.live is not None
        if self.follows is None and pullback.overwrites:
            self.follows = self._must_follow(g)
        if not self.follows:
            return wanted
        mask = self._take(node) if node in known else None
        if node.extras is not None and _is_hooked(node):
            return wanted
        if mask is None:
            if not pullback.overwrites and (not known or self._is_read(node, saved)):
                return wanted
            if not _can_be_followed(g, node.shape):
                return wanted
            mask = np.ones(node.shape, np.bool_)
        for i, part in enumerate(pullback.live(mask, pullback, wanted, saved)):
            if part is None:
                continue
            edge = node.edges[i]
            if part.shape != edge.shape:
                part = _fitted(part, edge.shape)
            if part.any():
                self._note(edge, part)
            elif part.size:
                self._without[edge] = g
                self._drop(edge)
                wanted[i] = False
        return wanted

    def _must_follow(self, g: Any) -> bool:
        """Whether a sweep that does not follow what is live cannot be run again if need be."""
        if not isinstance(plain(g), (np.ndarray, np.generic)):
            return True
        return any(node.extras is not None or type(node) is not Node for node in self._order)

    def _drop(self, edge: Node) -> None:
        """Count one use less; without any, nodes pass nothing on themselves."""
        stack = [edge]
        while stack:
            node = stack.pop()
            self._uses[node] -= 1
            if not self._uses[node]:
                stack += [e for e in node.edges if e in self._needed]

    def _is_read(self, node: Node, saved: tuple[Any, ...]) -> bool:
        """For reading a part of an array: add that to what is known to be live, in place.

        So reading an array element by element costs no more than reading it at once.
        """
        assert node.pullback is not None
        if node.pullback.name != "getitem":
            return False
        indices, template, _ = saved
        if indices and any(type(i) is not np.ndarray or i.dtype.kind == "b" for i in indices):
            return False
        known = self.known.get(node.edges[0])
        if known is not None:
            known.mask[fill(template, indices)] = True
            known.uses += 1
        return True

    def narrow(self, node: Node) -> Any:
        """Follow a cotangent through a node that acts elementwise; returns what is live in it."""
        mask = self._take(node)
        if mask is None or _is_hooked(node):
            return None
        for edge in node.edges:
            if edge in self._needed:
                same = mask.shape == tuple(edge.shape)
                self._note(edge, np.array(mask) if same else _fitted(mask, edge.shape))
        return mask

    def unreached(self) -> dict[Node, Any]:
        """The nodes that overwritten values were computed from.

        Each with a cotangent that was not passed on.
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


# Of lazy arrays with more elements than this, nothing is followed: they need not fit in memory.
_MOST = 1 << 24


def _can_be_followed(g: Any, shape: tuple[int, ...]) -> bool:
    size = math.prod(shape)
    if size <= _MOST:
        return True
    return size == size and backend_of(g).has_values(plain(g))  # NaN is a length not yet known


def _is_hooked(node: Node) -> bool:
    """Whether there are hooks on a node, which may put anything into a cotangent."""
    extras = node.extras
    return extras is not None and bool(extras.hooks or extras.pre or extras.post)


def cleared(part: Any, mask: Any) -> Any:
    """A cotangent with zeros in the place of what is not live, where a mask says so."""
    if mask is None or tuple(part.shape) != mask.shape:
        return part
    return put(part, 0, region=Region(mask.shape, (), ((HOLE,), (~mask,))))


def moved(mask: Any, pullback: Any, wanted: list[bool], saved: tuple[Any, ...]) -> list[Any]:
    """What is live in the inputs of an op that moves elements, or adds them up: by its rules."""
    if any(hasattr(i, "dtype") and type(i) is not np.ndarray for s in saved for i in _items(s)):
        return [None] * len(wanted)
    ones = mask.astype(np.float64)
    parts = [
        (ones if rule is None else rule(ones, saved)) != 0 if w else None
        for rule, w in zip(pullback.rules, wanted, strict=True)
    ]
    return [None if part is None or part.all() else part for part in parts]


def _items(saved: Any) -> Any:
    return saved if isinstance(saved, tuple | list) else (saved,)


def _fitted(mask: Any, wanted: tuple[int, ...]) -> Any:
    """A mask for what was broadcast: live if any of its copies is."""
    extra = mask.ndim - len(wanted)
    axes = tuple(i for i in range(mask.ndim) if i < extra or wanted[i - extra] != mask.shape[i])
    return mask.any(axis=axes).reshape(wanted)


for _function in (
    choose,
    indexing._getitem,
    indexing._take,
    indexing._take_along_axis,
    reductions._sum,
    reductions._mean,
    rearranging._broadcast_to,
    rearranging._concat,
    rearranging._flip,
    rearranging._permute_dims,
    rearranging._reshape,
    rearranging._roll,
    rearranging._stack,
):
    _function.op.live = moved  # type: ignore[attr-defined]
