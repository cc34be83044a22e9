"""Adding the gradients of a sweep to the `.grad` of tensors, as `backward()` does."""

from __future__ import annotations

import threading
from typing import Any

from numpy import ndarray

from .. import ops
from ..arrays.tensor import Tensor
from ..arrays.writes.tensors import keeps_replaced
from ..backends import backend_of
from ..core.array import Array, plain
from ..core.cpython import ALONE, getrefcount
from ..core.locks import held
from ..core.nodes import Leaf, Node
from ..core.versions import about_to_write, mark_written, writes_to
from ..sweep.engine import Sweep

_accumulating = threading.RLock()  # reentrant: `+` may run user code that accumulates


def accumulate_all(sweep: Sweep, tensor_of: dict[Node, Any]) -> None:
    """Add the results of a sweep to the `.grad` of their tensors."""
    _check_levels(sweep)
    reached = held(_accumulating, _add_results, sweep, tensor_of)
    for leaf, tensor, gradient in reached:
        for hook in list(leaf.accumulated.values()):
            sweep.call(hook, tensor)
        if gradient is not None:
            sweep.call_leaf_posthooks(leaf, gradient)


def _add_results(sweep: Sweep, tensor_of: dict[Node, Any]) -> list[tuple[Leaf, Tensor, Any]]:
    """Add the results. Returns the leaves among them, with the gradients that hooks wait for."""
    results = sweep.results
    reached: list[tuple[Leaf, Tensor, Any]] = []
    for node in results:
        tensor = tensor_of.get(node)
        if not isinstance(tensor, Tensor):
            tensor = _holder(node)
        if results[node] is None or tensor is None or tensor._node is not node:
            continue
        gradient = [results[node]]
        results[node] = None
        if isinstance(node, Leaf):
            reached.append((node, tensor, gradient[0] if node.has_posthooks else None))
        _accumulate(tensor, gradient, sweep.create_graph)
    return reached


def _check_levels(sweep: Sweep) -> None:
    """Raise if a tensor from outside a transform would keep a gradient of the transform."""
    for node, gradient in sweep.results.items():
        if isinstance(gradient, Array) and gradient.level > sweep.tensor_type.level:
            raise RuntimeError(
                f"backward() was given a {type(gradient).__name__} array of a transform in flight, "
                f"but {node.name()} belongs to a tensor from outside it, whose .grad would outlive "
                "the transform: use grad(), which returns the gradient"
            )
        inner = plain(gradient)
        if isinstance(inner, Array) and inner.is_outlived_by(node):
            raise RuntimeError(
                "backward() in a compiled function would write the .grad of a tensor from outside, "
                "which would happen only once, when it is traced: use grad(), and return the "
                "gradient"
            )


def _holder(node: Node) -> Tensor | None:
    """The tensor whose `.grad` belongs to a node: a leaf, or a tensor that retains its gradient."""
    if isinstance(node, Leaf):
        return node.variable
    retained = None if node.extras is None else node.extras.retained
    return None if retained is None else retained()


def _accumulate(tensor: Tensor, held: list[Any], create_graph: bool) -> None:
    """Add a gradient to `tensor.grad`: in place, unless one of them is in a graph."""
    have = getattr(tensor, "_grad", None)
    if create_graph:
        (gradient,) = held
        tensor._grad = ops.copy(gradient) if have is None else have + gradient
        return
    gradient = owned(held)
    if have is None:
        tensor._grad = tensor.like(gradient)
    elif have.requires_grad or isinstance(gradient, Array) or not _added(have, gradient):
        # Without its node, but still inside its transforms.
        tensor._grad = have.like(have.array) + gradient


def _added(have: Tensor, gradient: Any) -> bool:
    """Add to a gradient in place. False if its array cannot be written."""
    keeps = keeps_replaced(have)
    array = have.array
    if isinstance(array, Array):
        return False
    about_to_write(array)
    if isinstance(array, ndarray):
        writes = writes_to(array)
        replaced = array.copy() if keeps else None
        done = backend_of(gradient).add_into(array, gradient)
        if done:
            writes.mark(array, "backward()", replaced=replaced)
        return done
    if have._view is not None:
        return False
    # Where a node may have saved the array, or it cannot be written, another one takes its place.
    if getrefcount(array) > ALONE + 1 or not backend_of(gradient).add_into(array, gradient):
        have._array = ops.add(array, gradient)
    mark_written(have, "backward()")
    return True


def owned(held: list[Any]) -> Any:
    """The only item of a list, which is emptied, as an array that nobody else refers to."""
    if isinstance(held[0], Array):
        return ops.copy(held.pop())
    return backend_of(held[0]).own(held)
