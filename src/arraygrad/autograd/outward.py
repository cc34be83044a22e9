"""`grad` inside `vmap` and `jvp`, with respect to tensors from outside the transform.

There, an output is an array of the transform, and contains tensors with nodes. These tensors are
differentiated, and the result becomes an array of the transform again. In a batch, each member has
its own gradient: so there is one cotangent for each member, which is zero for all other members.
The gradient of a dual array is a dual array, as derivatives in different variables commute. Any
other call of `grad` is in `autograd.differentiate`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Number
from typing import Any, NamedTuple

from .. import ops
from ..arrays.batched import Batched
from ..arrays.dual import Dual
from ..arrays.tensor import Tensor
from ..backends import backend_of
from ..core.array import Array
from ..core.nodes import Node

_TRANSFORMED = (Batched, Dual)


class Call(NamedTuple):
    """A call of `grad`.

    Attributes
    ----------
    grad : callable
        `grad` itself, to be called on the tensors inside.
    outputs, inputs, cotangents : list
    options : dict
        The keywords of `grad`.
    """

    grad: Callable[..., tuple[Any, ...]]
    outputs: list[Any]
    inputs: list[Any]
    cotangents: list[Any]
    options: dict[str, Any]


def is_inside(output: Any) -> bool:
    """Whether an output is an array of a transform, and contains a tensor with a node."""
    return isinstance(output, _TRANSFORMED) and _is_recorded(output)


def _is_recorded(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value._node is not None
    if isinstance(value, Dual):
        return _is_recorded(value.primal) or _is_recorded(value.tangent)
    return isinstance(value, Array) and _is_recorded(value._array)


def reaches(outputs: list[Any], tensor: Tensor) -> bool:
    """Whether outputs depend on a tensor of a lower level."""
    stack = [node for output in outputs for node in _nodes_at(tensor.level, output)]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node is tensor._node:
            return True
        for edge in node.edges:
            if edge not in seen:
                seen.add(edge)
                stack.append(edge)
    return False


def _nodes_at(level: float, value: Any) -> list[Node]:
    """The nodes of the tensors of a level inside a value."""
    if isinstance(value, Dual):
        return _nodes_at(level, value.primal) + _nodes_at(level, value.tangent)
    if isinstance(value, Tensor) and value.level == level:
        return [] if value._node is None else [value._node]
    return _nodes_at(level, value._array) if isinstance(value, Array) else []


def is_below(outputs: list[Any], inputs: list[Any]) -> bool:
    """Whether outputs are tensors that the user made inside a transform, and inputs are outside.

    For the user, these tensors are in one graph. Without `create_graph`, the gradients need no
    connection to the tensors inside, so they can be computed from the arrays in these tensors.
    """
    level = getattr(outputs[0], "level", 0) if outputs else 0
    if level % 1 != 0.5 or level <= Tensor.level:
        return False
    same = all(isinstance(o, Tensor) and o.level == level for o in outputs)
    return same and any(_is_below(outputs, x) for x in inputs)


def _is_below(outputs: list[Any], x: Any) -> bool:
    return isinstance(x, Tensor) and x.level < outputs[0].level and reaches(outputs, x)


def grad_below(call: Call) -> tuple[Any, ...]:
    """The gradients if `is_below`: for inputs from outside, differentiate the outputs' arrays."""
    grad, outputs, inputs, cotangents, options = call
    level = outputs[0].level
    below = [_is_below(outputs, x) for x in inputs]
    kept = options | {"retain_graph": options["retain_graph"] or not all(below)}
    lower = grad(
        [output._array for output in outputs],
        [x for x, b in zip(inputs, below, strict=True) if b],
        [c._array if isinstance(c, Tensor) and c.level == level else c for c in cotangents],
        **kept,
    )
    own = [x for x, b in zip(inputs, below, strict=True) if not b]
    rest = iter(grad(outputs, own, cotangents, **options) if own else ())
    first = iter(lower)
    return tuple(next(first) if b else next(rest) for b in below)


def grad_from_inside(call: Call) -> tuple[Any, ...]:
    """The gradients of outputs, some of which are arrays of a transform."""
    tops = [type(o) for o in call.outputs if isinstance(o, _TRANSFORMED)]
    top = max(tops, key=lambda kind: kind.level)
    return _of_members(call, top) if issubclass(top, Batched) else _of_duals(call, top)


def _of_members(call: Call, top: type[Batched]) -> tuple[Any, ...]:
    grad, outputs, inputs, cotangents, options = call
    size = next(o._array.shape[0] for o in outputs if type(o) is top)
    many = options["is_grads_batched"]

    def everywhere(value: Any) -> Any:
        if type(value) is top:
            return value._array
        return ops.broadcast_to(value, (size, *value.shape))

    seeds = []
    for i, (output, given) in enumerate(zip(outputs, cotangents, strict=True)):
        seed = everywhere(_cotangent(given, output, i, many))
        lead = seed.shape[: 1 + many]
        first = backend_of(output).integers(ops.plain(output), list(range(size)))
        same = ops.equal(first, ops.expand_dims(first, axis=1))
        same = ops.reshape(same, (size, *(1,) * many, size, *(1,) * output.ndim))
        own = ops.where(same, ops.expand_dims(seed, axis=len(lead)), 0)
        seeds.append(ops.reshape(own, (math.prod(lead), size, *output.shape)))
    found = grad(
        [everywhere(output) for output in outputs],
        inputs,
        seeds,
        **options | {"is_grads_batched": True},
    )
    return tuple(
        None if g is None else top(ops.reshape(g, (*lead, *g.shape[1:])) if many else g)
        for g in found
    )


def _cotangent(given: Any, output: Any, position: int, many: bool) -> Any:
    """The cotangent of an output, for each member of the batch, as an array."""
    name = f"grad_outputs[{position}]"
    if given is None and not many:
        if output.size != 1:
            raise RuntimeError(
                f"outputs[{position}] has shape {output.shape}: only one with a single element can "
                f"do without {name}. Pass that, or reduce to a number first, for example by sum()"
            )
        if backend_of(output).kind(output.dtype) == "c":
            raise RuntimeError(
                f"outputs[{position}] is complex: the gradient of a complex number depends on a "
                f"direction. Pass {name}, or differentiate its real part, imaginary part or abs()"
            )
        given = 1.0
    if isinstance(given, Number) and not hasattr(given, "dtype") and not many:
        return backend_of(output).full(ops.plain(output), output.shape, given, output.dtype)
    if not hasattr(given, "dtype"):
        what = "an array whose first axis is the batch" if many else "an array or a number"
        raise TypeError(f"{name} must be {what}, not {type(given).__name__}")
    if given.shape[many:] != output.shape or given.ndim - many != output.ndim:
        raise ValueError(
            f"{name} has shape {given.shape}, but outputs[{position}] has shape {output.shape}"
            + (": with is_grads_batched=True, one more axis is expected" if many else "")
        )
    return given


def _of_duals(call: Call, top: type[Dual]) -> tuple[Any, ...]:
    grad, outputs, inputs, cotangents, options = call

    def primal(value: Any) -> Any:
        return value.primal if type(value) is top else value

    # The gradient for a dual number is dual: of its primal, where that is in the graph.
    inputs = [primal(x) if isinstance(primal(x), Tensor) else x for x in inputs]
    # The product rule, for cotangents times outputs: the tangent of one factor at a time.
    moved = [
        pair
        for output, given in zip(outputs, cotangents, strict=True)
        for pair in (
            (output.tangent, primal(given)) if type(output) is top else None,
            (primal(output), given.tangent) if type(given) is top else None,
        )
        if pair is not None and _is_recorded(pair[0])
    ]
    values = grad(
        list(map(primal, outputs)),
        inputs,
        list(map(primal, cotangents)),
        **options | ({"retain_graph": True} if moved else {}),
    )
    if not moved:
        return values
    lenient = {"allow_unused": True, "materialize_grads": False}
    tangents = grad([o for o, _ in moved], inputs, [c for _, c in moved], **options | lenient)
    return tuple(
        value if tangent is None else top(_or_zeros(value, tangent), tangent)
        for value, tangent in zip(values, tangents, strict=True)
    )


def _or_zeros(value: Any, like: Any) -> Any:
    return ops.zeros_like(like) if value is None else value
