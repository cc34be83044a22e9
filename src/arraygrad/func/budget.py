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
from ..core.nodes import Node


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
    arrays = [plain(x) for x in leaves if hasattr(x, "dtype")]
    return sum(_bytes(x.shape, x.dtype) for x in arrays)


def _bytes(shape: tuple[int, ...], dtype: Any) -> int:
    return math.prod(shape) * int(getattr(dtype, "itemsize", 8))


class Recorded:
    """The nodes that the steps of a loop have recorded.

    Estimate: an op that saves values saves about as many bytes as its result has. The saved values
    are not looked at: a checkpoint around the loop saves nothing in its first run.
    """

    def __init__(self) -> None:
        self._nodes: set[Node] = set()

    def add(self, results: Iterable[Any]) -> int:
        """The bytes that were recorded for some results, and were not counted before."""
        rest = [node for result in results for node in _recorded(result)]
        total = 0
        while rest:
            node = rest.pop()
            if node in self._nodes:
                continue
            self._nodes.add(node)
            rest += node.edges
            if node.pullback is not None and node.pullback.keeps_arrays:
                total += _of_results(node)
        return total


def _of_results(node: Node) -> int:
    if isinstance(node.shape, list):  # of an op with several results
        return sum(map(_bytes, node.shape, node.dtype))
    return _bytes(node.shape, node.dtype)


def _recorded(value: Any) -> list[Node]:
    """The nodes of the tensors in a value."""
    found = []
    while isinstance(value, Array) and not value.is_plain:
        if isinstance(value, Tensor) and value._node is not None:
            found.append(value._node)
        value = value._array
    return found
