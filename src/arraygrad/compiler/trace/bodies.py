"""Bodies: programs as functions of arrays, for loops and choices inside a program.

A body can be run on arrays of any type: so its derivatives and batches are the usual ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arrays.batched import batched_type
from ...arrays.tensor import Tensor
from ...autograd import grad
from ...backends import backend_of
from ...core.array import Array, plain
from ...core.levels import new_level
from ...core.modes import ModeContext
from ...func import jvp
from ...func.shapes import ShapeDtype
from ...func.trees import unwrapped
from ...ops import broadcast_to, copy
from ...ops.define.op import Own, declare
from .inference import Type
from .interpret import compute
from .program import Call, Full, Node, needed
from .traced import Trace, Traced

Flags = tuple[bool, ...]


class Loop:
    """What a loop or a choice in a program is: the keyword `loop` of its op.

    Attributes
    ----------
    op : callable
    step : type
        What computes the results, as a step of an executable program.
    """

    op: Callable[..., Any]
    step: type[Any]

    def types(self) -> list[Type]:
        """The shapes and dtypes of the results."""
        raise NotImplementedError

    def compute(self, arrays: Sequence[Any]) -> list[Any]:
        """The results for NumPy arrays, op by op."""
        raise NotImplementedError

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The results for arrays of any type."""
        if not any(isinstance(a, Array) for a in arrays):
            return self.compute(arrays)
        return settled(self.op(*operands(arrays), loop=self))

    def again(self, arrays: Sequence[Any]) -> list[Any]:
        """All results, on arrays of any type."""
        return self.run(arrays)


def loop_op(name: str) -> Any:
    """An op whose keyword `loop` says what it computes, with its derivatives and batches."""
    function = declare(
        name,
        "*arrays",
        compute=lambda xp, *arrays, loop: tuple(loop.compute(arrays)),
        joint=lambda gs, wanted, out, arrays, loop: loop.pull(gs, wanted, out, arrays),
        jvp=lambda arrays, t_arrays, loop: tuple(loop.push(arrays, t_arrays)[1]),
        holomorphic=False,
        multiple=True,
        own=Own(
            batch=lambda op, arrays, flags, params: tuple(params["loop"].batch(arrays, flags)),
            push=lambda arrays, tangents, params: params["loop"].push(arrays, tangents),
            types=lambda inputs, params: params["loop"].types(),
        ),
    )
    return staticmethod(function)


def loop_of(node: Node) -> Loop | None:
    """The loop or choice that a node stands for."""
    loop = node.params.get("loop") if isinstance(node, Call) else None
    return loop if isinstance(loop, Loop) else None


class Body:
    """A program with inputs and outputs. It uses nothing from outside but constants."""

    def __init__(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for some inputs, of any type of array."""
        values: dict[Node, Any] = dict(zip(self.inputs, arrays, strict=True))
        for node in needed(self.outputs, self.inputs):
            if node not in values:
                values[node] = _computed(node, values, arrays)
        return [values[node] for node in self.outputs]

    def moves(self, flags: Sequence[bool]) -> list[bool]:
        """Which outputs may depend smoothly on the inputs with a flag."""
        moving = {node for node, flag in zip(self.inputs, flags, strict=True) if flag}
        for node in needed(self.outputs, self.inputs):
            if node not in self.inputs and not moving.isdisjoint(node.nodes) and is_smooth(node):
                moving.add(node)
        return [node in moving for node in self.outputs]


def _computed(node: Node, values: dict[Node, Any], arrays: Sequence[Any]) -> Any:
    if isinstance(node, Full) and arrays:
        like = arrays[0]
        return backend_of(like).full(plain(like), node.shape, node.value, node.dtype)
    loop = loop_of(node)
    if loop is not None:  # it may record what its pullback needs
        return loop.again([values[a] if isinstance(a, Node) else np.asarray(a) for a in node.args])
    return compute(node, values)


def is_smooth(node: Any) -> bool:
    """Whether a value can have a derivative; a tuple of values may."""
    return node.dtype is None or node.dtype.kind in "fc"


def operands(values: Sequence[Any]) -> list[Any]:
    """Values as arrays: a program has no other arguments for loops."""
    return [x if isinstance(x, Array) else np.asarray(x) for x in values]


def settled(results: Sequence[Any]) -> list[Any]:
    """The results of an op, without derivatives for those that can have none."""
    return [x.detach() if isinstance(x, Array) and not is_smooth(x) else x for x in results]


def traced_body(function: Callable[[list[Any]], Sequence[Any]], like: Sequence[Any]) -> Body:
    """A function of arrays, which uses nothing from outside, as a body."""
    trace = Trace()
    inputs = [trace.input_like(x) for x in like]
    with steady():
        outputs = [node_of(trace, out) for out in function(list(inputs))]
    return Body([x.node for x in inputs], outputs)


def node_of(trace: Trace, value: Any) -> Node:
    """A result in a trace as a node."""
    while isinstance(value, Tensor):
        value = value.array
    return trace.node(value if isinstance(value, Traced) else np.asarray(value))  # type: ignore[no-any-return]


def steady() -> ModeContext:
    """Modes in which a body is traced, whatever those around are."""
    return ModeContext(grad=True, inference=False, saved_hooks=None, anomaly=None)


def pushed(body: Body, moving: Sequence[int], wanted: Sequence[int]) -> Body:
    """The forward derivative: after the inputs it takes tangents for those in `moving`.

    After the outputs, it returns the tangents of those in `wanted`.
    """
    count = len(body.inputs)

    def function(given: list[Any]) -> list[Any]:
        def of_moving(*values: Any) -> Any:
            full = given[:count]
            for i, value in zip(moving, values, strict=True):
                full[i] = value
            return body(full)

        primals = tuple(given[i] for i in moving)
        out, tangents = jvp(of_moving, primals, tuple(given[count:]))
        return [*map(unwrapped, out), *(tangents[k] for k in wanted)]

    return traced_body(function, [*body.inputs, *(body.inputs[i] for i in moving)])


def in_batch(body: Body, flags: Sequence[bool], size: int) -> tuple[Body, Flags]:
    """The body for a batch: some inputs have a first axis of its size. Which outputs do, too."""
    found: list[bool] = []

    def function(given: list[Any]) -> list[Any]:
        with new_level() as level:
            make = batched_type(level)
            out = body([make(x) if flag else x for x, flag in zip(given, flags, strict=True)])
        found[:] = [type(x) is make for x in out]
        return [x._array if flag else x for x, flag in zip(out, found, strict=True)]

    like = [
        ShapeDtype((size, *x.shape), x.dtype) if flag else x
        for x, flag in zip(body.inputs, flags, strict=True)
    ]
    return traced_body(function, like), tuple(found)


def spread(body: Body, is_there: Sequence[bool], wanted: Sequence[bool], size: int) -> Body:
    """A body in which more outputs have the batch axis: those that are the same for all members."""
    if list(is_there) == list(wanted):
        return body

    def function(given: list[Any]) -> list[Any]:
        return [
            broadcast_to(x, (size, *x.shape)) if w and not t else x
            for x, t, w in zip(body(given), is_there, wanted, strict=True)
        ]

    return traced_body(function, body.inputs)


class Pulled:
    """A body and its pullback in one trace.

    Parameters
    ----------
    body : Body
    moving : sequence of int
        The inputs that have cotangents.

    Attributes
    ----------
    trace : Trace
    inputs, outputs : list of Node
        Those of the body, in this trace.
    seeds : dict of int to Node
        For each output that depends on the moving inputs: its cotangent, a further input.
    """

    def __init__(self, body: Body, moving: Sequence[int]) -> None:
        self.trace = Trace()
        given: list[Any] = [self.trace.input_like(x) for x in body.inputs]
        self.inputs = [x.node for x in given]
        with steady():
            self._leaves = {i: Tensor(given[i]).requires_grad_() for i in moving}
            self._results = body([self._leaves.get(i, x) for i, x in enumerate(given)])
        self.outputs = [node_of(self.trace, x) for x in self._results]
        self.seeds = {
            k: self.trace.input_like(x).node
            for k, x in enumerate(self._results)
            if isinstance(x, Tensor) and x.requires_grad
        }

    def gradients(self, outputs: Sequence[int], targets: Sequence[int]) -> list[Node | None]:
        """The cotangents of some inputs, from those of some outputs; None for those without."""
        chosen = [k for k in outputs if k in self.seeds]
        if not chosen or not targets:
            return [None] * len(targets)
        with steady():
            found: Any = grad(
                [self._results[k] for k in chosen],
                [self._leaves[i] for i in targets],
                [Traced(self.seeds[k], self.trace) for k in chosen],
                allow_unused=True,
                retain_graph=True,
            )
        return [None if g is None else _uncopied(node_of(self.trace, g)) for g in found]

    def is_moving(self, position: int) -> bool:
        """Whether an input has a cotangent."""
        return position in self._leaves

    def zeros(self, like: Any) -> Node:
        """Zeros of the shape and dtype of a node."""
        return self.trace.program.full(0, like.shape, like.dtype)

    def sum_of(self, x: Node, y: Node) -> Node:
        """The sum of two nodes."""
        total = Traced(x, self.trace) + Traced(y, self.trace)
        return self.trace.node(total)  # type: ignore[no-any-return]


def _uncopied(node: Node) -> Node:
    """A value that a sweep has copied, as its gradients must share no memory."""
    while isinstance(node, Call) and node.op is copy.op:  # type: ignore[attr-defined]
        (node,) = node.args
    return node


def is_recorded(array: Any) -> bool:
    """Whether an array, or one inside it, is a tensor that requires gradients."""
    while isinstance(array, Array):
        if isinstance(array, Tensor) and array.requires_grad:
            return True
        array = array._array
    return False
