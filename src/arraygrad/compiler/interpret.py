"""Running a program by NumPy, op by op.

This defines what a program means. Native code is compared with it, and replaces it where it exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .program import Call, Constant, Full, Input, Node, Result, needed


class Interpreter:
    """A program, ready to run.

    Parameters
    ----------
    inputs : sequence of Node
        The nodes that are given in a call; the rest of the program computes on them.
    outputs : sequence of Node
        What the program returns. These arrays share no memory with each other, or with the inputs.
    kept : sequence of Node
        What it returns after these, as it was computed: it may share memory with anything.
    """

    def __init__(
        self, inputs: Sequence[Node], outputs: Sequence[Node], kept: Sequence[Node] = ()
    ) -> None:
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.kept = list(kept)
        given = set(self.inputs)
        wanted = [*outputs, *kept]
        self.steps = [node for node in needed(wanted, inputs) if node not in given]
        last = {a: i for i, step in enumerate(self.steps) for a in step.nodes}
        for node in wanted:
            last.pop(node, None)
        # For each step, the nodes that no later step reads.
        self._done: list[list[Node]] = [[] for _ in self.steps]
        for node, i in last.items():
            self._done[i].append(node)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for some inputs."""
        values: dict[Node, Any] = dict(zip(self.inputs, arrays, strict=True))
        for step, done in zip(self.steps, self._done, strict=True):
            values[step] = compute(step, values)
            for node in done:
                del values[node]
        seen = {id(a) for a in arrays} | {id(n.array) for n in self.steps if type(n) is Constant}
        results = []
        for output in self.outputs:
            array = np.asarray(values[output])
            if array.base is not None or id(array) in seen or not array.flags.carray:
                array = np.array(array, order="C")
            seen.add(id(array))
            results.append(array)
        return results + [values[node] for node in self.kept]


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
