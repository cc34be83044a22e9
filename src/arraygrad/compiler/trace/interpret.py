"""Running a program by NumPy, op by op.

This defines what a program means. Native code is compared with it, and replaces it where it exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .program import Call, Constant, Full, Input, Node, Result, needed


def compute(node: Node, values: dict[Node, Any]) -> Any:
    """The value of a node, from those of its arguments."""
    if isinstance(node, Call):
        args = [values[a] if isinstance(a, Node) else a for a in node.args]
        split = len(args) - len(node.names)
        keywords = dict(zip(node.names, args[split:], strict=True))
        return node.op.function(*args[:split], **node.params, **keywords)
    if isinstance(node, Result):
        return values[node.args[0]][node.index]
    if isinstance(node, Full):
        return np.broadcast_to(node.value, node.shape)
    assert isinstance(node, Constant), node
    return node.array


def values_of(args: Sequence[Any], values: dict[Node, Any]) -> list[Any]:
    """Arguments in a program as arrays, given the values of some nodes; keeps what it computes."""
    for node in needed([a for a in args if isinstance(a, Node)], list(values)):
        if node not in values:
            assert not isinstance(node, Input)
            with np.errstate(all="ignore"):
                values[node] = compute(node, values)
    return [values[a] if isinstance(a, Node) else a for a in args]
