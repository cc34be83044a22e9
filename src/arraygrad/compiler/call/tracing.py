"""Tracing a function: from its arguments to a program, and the form of its results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from typing import Any

import numpy as np

from ...arrays.tensor import Tensor
from ...core import nodes
from ...core.array import Array, plain
from ...core.closing import Closing
from ...core.modes import ModeContext
from ...core.structures import taken_apart
from ...errors import DataDependentError, LazyError
from ...func.trees import unwrapped
from ..trace.program import Node
from ..trace.traced import Trace, Traced

WRITES_OUTSIDE = (
    "the compiled function writes to a tensor from outside, which would happen only once, "
    "when it is traced: return the new values, and write them outside"
)


class NotTraceable(Exception):
    """A function cannot become a program: something in it is another in each call.

    A value may belong to a transform outside of the function. If it is the function's own doing,
    the message says what the function does.
    """


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
    own : list of Tensor
        What stands for the tensors among the arguments.
    captured : list of Tensor
        The tensors from outside that the function has met.
    stand_ins : list of Tensor
        What stands for each of them in the trace.
    reads : list of pairs
        Functions that read what the function has read of tensors from outside, with what it was.
    asked : list of int
        The arguments by which the function has computed gradients.
    results, spec : list and optree's description
        All results: whether each is an output, and its number or value; and their structure.
    smooth : list of int
        The outputs that depend on tensors that require gradients: captured, or among the arguments.
    """

    def __init__(self, trace: Trace, result: Any, own: Sequence[Tensor], closing: _Tracing) -> None:
        leaves, self.spec = taken_apart(result)
        self.trace, self.own = trace, own
        self.inputs = [x.node for x in trace.inputs]
        self.outputs: list[Node] = []
        self.tensors: list[Tensor | None] = []
        self.places: list[int] = []
        self.results: list[tuple[bool, Any]] = []  # for each result: its output, or its value
        for i, given in enumerate(leaves):
            is_smooth = isinstance(given, Tensor) and given.requires_grad
            leaf = closing.inside(given) if is_smooth else given
            inner = leaf.array if isinstance(leaf, Tensor) else leaf
            if isinstance(inner, Traced):
                self.results.append((True, len(self.outputs)))
                self.places.append(i)
                self.outputs.append(trace.node(inner))
                self.tensors.append(leaf if isinstance(leaf, Tensor) else None)
            elif isinstance(inner, Array):
                raise NotTraceable
            elif hasattr(leaf, "dtype") or isinstance(leaf, Number):
                self.results.append((False, leaf))
            else:
                raise TypeError(
                    "a compiled function must return arrays and numbers, but result "
                    f"{i} is of type {type(leaf).__name__}"
                )
        self.captured, self.stand_ins = closing.captured, closing.stand_ins
        self.asked = closing.asked
        self.reads = [(read, v) for x, read, v in closing.reads if not isinstance(plain(x), Traced)]
        sources = {t._node for t in (*own, *self.stand_ins) if t.requires_grad}
        self.smooth = [
            k
            for k, tensor in enumerate(self.tensors)
            if tensor is not None and not sources.isdisjoint(_graph(tensor))
        ]

    def structure(self) -> Any:
        """The results as the number of an output, or tuples of such; None if they are others."""
        import optree

        if not all(is_output for is_output, _ in self.results):
            return None
        if any(t is not None for t in self.tensors):
            return None
        built: Any = optree.tree_unflatten(self.spec, [what for _, what in self.results])
        return built if _is_tuples(built) else None

    def form(self) -> Callable[[Sequence[Any]], Any]:
        """A function that builds the results from the values of the outputs.

        It does not refer to the trace.
        """
        import optree

        spec, results = self.spec, self.results
        is_tensor = [t is not None for t in self.tensors]

        def single(values: Sequence[Any]) -> Any:
            (value,) = values
            return value if isinstance(value, Array) else Tensor._bare(value)

        if spec.is_leaf() and is_tensor == [True]:  # most often: it need not be put together
            return single

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


def _graph(tensor: Any) -> set[nodes.Node]:
    """The nodes of the graph that a tensor depends on."""
    node = getattr(tensor, "_node", None)
    rest = [] if node is None else [node]
    found = set(rest)
    while rest:
        for edge in rest.pop().edges:
            if edge not in found:
                found.add(edge)
                rest.append(edge)
    return found


def run_traced(
    function: Callable[[list[Any]], Any],
    leaves: Sequence[Any],
    positions: Sequence[int],
    finish: Callable[[Outcome], Any],
    specialize: bool = False,
    arguments: Sequence[Any] = (),
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
        Takes the outcome.
    specialize : bool
        Whether the function may decide by the values of the arguments.
    arguments : sequence, optional
        The arguments themselves, if `leaves` only stand for them.
    """
    trace = Trace([values_like(leaves[i]) for i in positions])
    trace.specializes = specialize and all(has_values(leaves[i]) for i in positions)
    try:
        done = _run(trace, function, leaves, positions, finish, arguments or leaves)
    except BaseException:
        trace.close()
        raise
    if trace.close():
        raise TypeError(WRITES_OUTSIDE)
    return done


def _run(
    trace: Trace, function: Any, leaves: Any, positions: Any, finish: Any, arguments: Any
) -> Any:
    given = list(leaves)
    tensors: list[tuple[int, Tensor, Traced]] = []
    for i, x in zip(positions, trace.inputs, strict=True):
        given[i] = x
        if isinstance(leaves[i], Tensor):
            tensor = given[i] = Tensor(x)
            tensor.requires_grad_(leaves[i].requires_grad)
            tensors.append((i, tensor, x))
    closing = _Tracing(trace, {id(tensor): (i, arguments[i]) for i, tensor, _ in tensors})
    # The hooks of the caller are for what the op of the whole program saves.
    with ModeContext(anomaly=None, saved_hooks=None, closing=closing):
        try:
            result = function(given)
        except LazyError as error:
            raise DataDependentError(
                f"{error} In a compiled function, no values are known: compute this part outside "
                "of it"
            ) from error
        for i, tensor, x in tensors:
            if tensor.array is not x:
                raise TypeError(
                    f"the compiled function writes to its argument (leaf {i} of all arguments): "
                    "write to a copy, x = x.clone(), and return it"
                )
        if any(s.array is not x for s, x in zip(closing.stand_ins, trace.given, strict=True)):
            raise TypeError(WRITES_OUTSIDE)
        closing.own = {}  # the gradients to come are those of the function itself
        own = [tensor for _, tensor, _ in tensors]
        return finish(Outcome(trace, result, own, closing))


class _Tracing(Closing):
    """The mode in which a function is traced.

    Attributes
    ----------
    own : dict
        By the identity of what stands for a tensor among the arguments: its place, and the tensor.
    asked : list of int
        The places of arguments by which the function computes gradients.
    """

    def __init__(self, trace: Trace, own: dict[int, tuple[int, Any]]) -> None:
        super().__init__(functools.partial(_stand_in, trace))
        self.own = own
        self.asked: list[int] = []

    def targets(self, inputs: list[Any]) -> list[Any]:
        """What takes the place of tensors by which the function computes a gradient."""
        found = super().targets(inputs)
        given = [x for _, x in self.own.values()]
        for x, inside in zip(inputs, found, strict=True):
            place, target = self.own.get(id(x), (None, x))
            check_target(target, [*self.captured, *given])
            if place is not None:
                self.asked.append(place)
            elif inside is not x:
                self.reads.append((x, functools.partial(check_target, x), None))
        return found


def check_target(x: Any, others: Iterable[Any] = ()) -> None:
    """Raise if the gradient by a tensor from outside depends on more than the function.

    Its hooks are not traced, and neither are the ops by which it has become another tensor.
    """
    node = x._node if isinstance(x, Tensor) else getattr(x, "node", None)  # of an edge
    if isinstance(x, Tensor) and node is not None and node.is_hooked:
        raise NotTraceable("computes the gradient of a tensor from outside that has hooks")
    if any(node in _graph(other) for other in others if other is not x):
        raise NotTraceable("computes a gradient in a graph from outside")


def _stand_in(trace: Trace, x: Any) -> Any:
    """What the function computes with in the place of a tensor: the tensor itself, if it made it.

    A tensor that it made without requiring gradients is a constant, as if it were from outside.
    """
    if isinstance(plain(x), Traced) or (x._node is not None and x._node.number > trace.start):
        return x
    if not isinstance(plain(x), np.ndarray | np.generic):
        raise NotTraceable  # of another library
    if x.level != Tensor.level or isinstance(x._array, Array):
        raise NotTraceable
    made = Tensor(trace.captured(x.array))
    if x.requires_grad:
        made.requires_grad_()
        made._node.number = trace.start - 1  # type: ignore[union-attr]  # as old as the tensor
    return made


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
