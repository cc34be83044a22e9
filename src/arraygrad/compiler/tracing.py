"""Tracing a function: from its arguments to a program, and the form of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import numpy as np

from ..arrays.tensor import Tensor
from ..core.array import Array
from ..core.modes import ModeContext
from ..core.nodes import Leaf
from ..errors import DataDependentError, LazyError
from ..func.trees import unwrapped
from .program import Node
from .traced import Trace, Traced

WRITES_OUTSIDE = (
    "the compiled function writes to a tensor from outside, which would happen only once, "
    "when it is traced: return the new values, and write them outside"
)


class NotTraceable(Exception):
    """A result belongs to a transform outside of the compiled function."""


class Outcome:
    """What a traced function returned.

    Attributes
    ----------
    trace : Trace
    inputs : list of Input
        The nodes of the arguments.
    outputs : list of Node
        The results that depend on the arguments.
    tensors : list of Tensor or None
        For each of these, the tensor that the function returned, if it is one.
    places : list of int
        For each of these, its place among all results.
    captured : list of Leaf
        The leaves from outside that require gradients, and on which a result depends.
    smooth : list of int
        The outputs that depend on these, or on tensors among the arguments that require gradients.
    """

    def __init__(self, trace: Trace, result: Any, own: Sequence[Tensor]) -> None:
        import optree

        leaves, self._spec = optree.tree_flatten(result)
        self.trace = trace
        self.inputs = [x.node for x in trace.inputs]
        self.outputs: list[Node] = []
        self.tensors: list[Tensor | None] = []
        self.places: list[int] = []
        self._leaves: list[tuple[bool, Any]] = []  # for each result: its output, or its value
        for i, leaf in enumerate(leaves):
            inner = leaf.array if isinstance(leaf, Tensor) else leaf
            if isinstance(inner, Traced):
                self._leaves.append((True, len(self.outputs)))
                self.places.append(i)
                self.outputs.append(trace.node(inner))
                self.tensors.append(leaf if isinstance(leaf, Tensor) else None)
            elif isinstance(inner, Array):
                raise NotTraceable
            elif hasattr(leaf, "dtype") or isinstance(leaf, Number):
                self._leaves.append((False, leaf))
            else:
                raise TypeError(
                    "a compiled function must return arrays and numbers, but result "
                    f"{i} is of type {type(leaf).__name__}"
                )
        mine = {t._node for t in own}
        self.smooth: list[int] = []
        captured: dict[Leaf, None] = {}
        for k, tensor in enumerate(self.tensors):
            found = [] if tensor is None else _leaves(tensor)
            # A leaf over a traced array was made by the function itself.
            outside = [n for n in found if n not in mine and isinstance(n.array, np.ndarray)]
            captured.update(dict.fromkeys(outside))
            if outside or any(n in mine for n in found):
                self.smooth.append(k)
        self.captured = sorted(captured, key=lambda leaf: leaf.number)

    def structure(self) -> Any:
        """The results as the number of an output, or tuples of such; None if they are others."""
        import optree

        if not all(is_output for is_output, _ in self._leaves):
            return None
        if any(t is not None for t in self.tensors):
            return None
        built: Any = optree.tree_unflatten(self._spec, [what for _, what in self._leaves])
        return built if _is_tuples(built) else None

    def form(self) -> Callable[[Sequence[Any]], Any]:
        """A function that builds the results from the values of the outputs.

        It does not refer to the trace.
        """
        import optree

        spec, results = self._spec, self._leaves
        is_tensor = [t is not None for t in self.tensors]

        def build(values: Sequence[Any]) -> Any:
            leaves = []
            for is_output, what in results:
                if not is_output:
                    leaves.append(_copy(what))
                    continue
                value = values[what]
                if not is_tensor[what]:
                    value = unwrapped(value)
                elif not isinstance(value, Array):
                    value = Tensor._bare(value)
                leaves.append(value)
            return optree.tree_unflatten(spec, leaves)

        return build


def _is_tuples(tree: Any) -> bool:
    return type(tree) is int or (type(tree) is tuple and all(map(_is_tuples, tree)))


def _copy(constant: Any) -> Any:
    """A result that does not depend on the arguments, for a caller that may write to it."""
    if isinstance(constant, Tensor):
        return constant if constant.requires_grad else constant.clone()
    return np.array(constant) if isinstance(constant, np.ndarray) else constant


def _leaves(tensor: Tensor) -> list[Leaf]:
    """The leaves of the graph that a tensor depends on."""
    rest = [] if tensor._node is None else [tensor._node]
    seen = set(rest)
    found = []
    while rest:
        node = rest.pop()
        if isinstance(node, Leaf):
            found.append(node)
        for edge in node.edges:
            if edge not in seen:
                seen.add(edge)
                rest.append(edge)
    return found


def run_traced(
    function: Callable[[list[Any]], Any],
    leaves: Sequence[Any],
    positions: Sequence[int],
    finish: Callable[[Outcome, list[Tensor]], Any],
    specialize: bool = False,
) -> Any:
    """Trace a function, and return what `finish` makes of the outcome while the trace is open.

    Parameters
    ----------
    function : callable
        Takes a list of leaves.
    leaves : sequence of arrays and numbers
        The leaves of the arguments. Those that are tensors are tensors in the trace, too.
    positions : sequence of int
        The leaves that are arrays, whose values become inputs of the program.
    finish : callable
        ``finish(outcome, tensors)``; `tensors` are those among the arguments.
    specialize : bool
        Whether the function may decide by the values of the arguments.
    """
    trace = Trace([values_like(leaves[i]) for i in positions])
    trace.specializes = specialize and all(has_values(leaves[i]) for i in positions)
    try:
        done = _run(trace, function, leaves, positions, finish)
    except BaseException:
        trace.close()
        raise
    if trace.close():
        raise TypeError(WRITES_OUTSIDE)
    return done


def _run(trace: Trace, function: Any, leaves: Any, positions: Any, finish: Any) -> Any:
    given = list(leaves)
    tensors: list[tuple[int, Tensor, Traced]] = []
    for i, x in zip(positions, trace.inputs, strict=True):
        given[i] = x
        if isinstance(leaves[i], Tensor):
            tensor = given[i] = Tensor(x)
            tensor.requires_grad_(leaves[i].requires_grad)
            tensors.append((i, tensor, x))
    with ModeContext(anomaly=None):
        try:
            result = function(given)
        except LazyError as error:
            raise DataDependentError(
                f"{error} In a compiled function, no values are known: compute this part outside "
                "of it"
            ) from error
        except ValueError as error:
            if isinstance(error.__cause__, DataDependentError):  # NumPy says less
                raise error.__cause__ from None
            raise
        for i, tensor, x in tensors:
            if tensor.array is not x:
                raise TypeError(
                    f"the compiled function writes to its argument (leaf {i} of all arguments): "
                    "write to a copy, x = x.clone(), and return it"
                )
        own = [tensor for _, tensor, _ in tensors]
        return finish(Outcome(trace, result, own), own)


def has_values(leaf: Any) -> bool:
    """Whether an argument has values of its own, one for each element; in a batch it has not."""
    while isinstance(leaf, Array):
        if leaf.ndim != leaf._array.ndim:
            return False
        leaf = leaf._array
    return True


def values_like(leaf: Any) -> Any:
    """An argument as a NumPy array; inside a transform, its values do not matter."""
    inner = leaf
    while isinstance(inner, Array):
        inner = inner._array
    if isinstance(inner, np.ndarray) and inner.shape == tuple(leaf.shape):
        return inner
    return np.broadcast_to(np.ones((), leaf.dtype), leaf.shape)
