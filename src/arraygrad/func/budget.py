"""How the reverse pass of a loop keeps within a memory budget.

The steps are cut into segments. Only the state at the start of each segment is kept; the steps of a
segment are computed again when the reverse pass comes to it. If a segment is too large for the
budget, it is cut in turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..arrays.tensor import Tensor
from ..core.array import Array, plain
from ..core.nodes import Leaf, Node


def segment(steps: int, state: int, step: int, memory: int) -> int:
    """How many steps make a segment; `steps` if all can be kept.

    Parameters
    ----------
    steps : int
        How many steps the loop has.
    state, step : int
        The bytes of the state, and of what a step keeps for its derivative.
    memory : int
        The bytes that may be kept.
    """
    if steps < 2 or steps * step <= memory:
        return steps
    even = max(1, min(steps - 1, round(math.sqrt(steps * state / max(step, 1)))))
    if even * step + math.ceil(steps / even) * state <= memory:
        return even
    # Half of the budget for the states between segments, the rest for the segments themselves.
    count = max(2, min(steps, memory // (2 * max(state, 1))))
    return math.ceil(steps / count)


def left_over(steps: int, length: int, state: int, memory: int) -> int:
    """The bytes that are left for a segment of `length` steps."""
    return max(0, memory - math.ceil(steps / length) * state)


def size(leaves: Iterable[Any]) -> int:
    """The bytes of some arrays, with those of all members of a batch."""
    return sum(_bytes(plain(x)) for x in leaves if hasattr(x, "dtype"))


def _bytes(array: Any) -> int:
    count: int = math.prod(array.shape)
    return count * int(getattr(array.dtype, "itemsize", 8))


class Kept:
    """What the steps of a loop keep for their derivatives, found in the recorded graph."""

    def __init__(self) -> None:
        self._arrays: dict[int, Any] = {}
        self._nodes: set[Node] = set()

    def add(self, results: Iterable[Any]) -> int:
        """The bytes of all arrays that results keep, and that were not counted before."""
        rest = [node for result in results for node in _recorded(result)]
        total = 0
        while rest:
            node = rest.pop()
            if node in self._nodes:
                continue
            self._nodes.add(node)
            rest += node.edges
            if not isinstance(node, Leaf) and isinstance(node.saved, tuple):
                total += sum(map(self._new, node.saved))
        return total

    def _new(self, value: Any) -> int:
        if isinstance(value, tuple | list):
            return sum(map(self._new, value))
        if not hasattr(value, "dtype") or id(plain(value)) in self._arrays:
            return 0
        array = plain(value)
        self._arrays[id(array)] = array
        return _bytes(array)


def _recorded(value: Any) -> list[Node]:
    """The nodes of the tensors in a value."""
    found = []
    while isinstance(value, Array) and not value.is_plain:
        if isinstance(value, Tensor) and value._node is not None:
            found.append(value._node)
        value = value._array
    return found
