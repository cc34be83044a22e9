"""`grad` and `backward`: run the sweep, return or accumulate the gradients.

The arguments are checked in `arguments`. The sweep itself is in `sweep`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

from .. import ops
from ..arrays.batched import Batched
from ..arrays.tensor import Tensor, tensor_type_at
from ..backends import backend_of
from ..core.levels import in_flight
from ..core.modes import ModeContext, current_modes, enable_grad
from ..core.nodes import GradientEdge, Leaf, Node, recorder
from ..errors import UnusedInputError
from ..ops.define.library import declare
from ..ops.define.rules import Pullback
from ..sweep.engine import Sweep
from ..sweep.hooks import wrapped
from .accumulation import accumulate_all, owned
from .arguments import (
    are_outermost,
    common_level,
    given_values,
    input_nodes,
    output_nodes,
    seeds_of,
    sequence,
)
from .outward import Call, grad_below, grad_from_inside, is_below, is_inside
from .structures import Rebuild, flatten, place

One = Tensor | GradientEdge
K = TypeVar("K")

# The rules of a constant gradient's node, under create_graph: the gradient requires gradients like
# any other result, but depends on no input.
_CONSTANT = Pullback(declare("constant", "x", compute=lambda xp, x: x).op, ())  # type: ignore[attr-defined]


class Options(TypedDict, total=False):
    """The keywords of `grad` that do not change the type of its result."""

    retain_graph: bool | None
    create_graph: bool
    is_grads_batched: bool
    materialize_grads: bool


# A tensor is also an iterable of tensors, and so is a mapping with tensors as keys. Therefore the
# overloads for tensors and mappings come before those for iterables.
@overload
def grad(  # type: ignore[overload-overlap]
    outputs: One | Iterable[One],
    inputs: One,
    grad_outputs: Any = None,
    *,
    allow_unused: Literal[False] | None = None,
    **options: Unpack[Options],
) -> Tensor: ...
@overload
def grad(  # type: ignore[overload-overlap]
    outputs: One | Iterable[One],
    inputs: One,
    grad_outputs: Any = None,
    *,
    allow_unused: bool,
    **options: Unpack[Options],
) -> Tensor | None: ...
@overload
def grad(  # type: ignore[overload-overlap]
    outputs: One | Iterable[One],
    inputs: Mapping[K, One],
    grad_outputs: Any = None,
    *,
    allow_unused: Literal[False] | None = None,
    **options: Unpack[Options],
) -> dict[K, Tensor]: ...
@overload
def grad(  # type: ignore[overload-overlap]
    outputs: One | Iterable[One],
    inputs: Mapping[K, One],
    grad_outputs: Any = None,
    *,
    allow_unused: bool,
    **options: Unpack[Options],
) -> dict[K, Tensor | None]: ...
@overload
def grad(
    outputs: One | Iterable[One],
    inputs: Iterable[One],
    grad_outputs: Any = None,
    *,
    allow_unused: Literal[False] | None = None,
    **options: Unpack[Options],
) -> tuple[Tensor, ...]: ...
@overload
def grad(
    outputs: One | Iterable[One],
    inputs: Iterable[One],
    grad_outputs: Any = None,
    *,
    allow_unused: bool,
    **options: Unpack[Options],
) -> tuple[Tensor | None, ...]: ...
@overload
def grad(
    outputs: One | Iterable[One],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    allow_unused: bool | None = None,
    **options: Unpack[Options],
) -> Any: ...
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Gradients of outputs with respect to inputs, summed over the outputs.

    `grad` writes nothing, not even the `.grad` of a tensor. The gradients share no memory with
    other arrays.

    Parameters
    ----------
    outputs : Tensor, GradientEdge, or sequence of them
        What to differentiate.
    inputs : Tensor, GradientEdge, or any structure of them
        What to differentiate with respect to: leaves or results of ops. One tensor gives one
        gradient. A sequence or iterator gives a tuple. A mapping or nested structure gives the same
        structure, with tuples for sequences.
    grad_outputs : Tensor, array, number, None, or a sequence with one of these per output
        The vector of the vector-Jacobian product. A number stands for a constant array. None
        stands for 1, and is allowed for an output with a single real element.
    retain_graph : bool, optional
        Keep the values that the graph saved, to differentiate it again. Defaults to
        `create_graph`.
    create_graph : bool
        Record the differentiation too, so that the gradients can be differentiated.
    allow_unused : bool, optional
        Give None for an input that no output depends on, instead of raising. Defaults to
        `materialize_grads`.
    is_grads_batched : bool
        Take the first axis of each array in `grad_outputs` as a batch of vectors, and compute all
        their products in one sweep. The gradients have the same first axis.
    materialize_grads : bool
        Give zeros, not None, for an input that no output depends on.

    Returns
    -------
    Tensor, or structure of Tensor
        In the form of `inputs`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ag.grad((x**2).sum(), x)
    tensor([2., 4., 6.])

    A Hessian-vector product:

    >>> g = ag.grad((x**3).sum(), x, create_graph=True)
    >>> ag.grad(g, x, grad_outputs=ag.tensor([1.0, 0.0, 0.0]))
    tensor([6., 0., 0.])

    Any structure of inputs:

    >>> w = {"a": x, "b": ag.tensor(2.0, requires_grad=True)}
    >>> ag.grad((w["a"] * w["b"]).sum(), w)
    {'a': tensor([2., 2., 2.]), 'b': tensor(6.)}
    """
    if allow_unused is None:
        allow_unused = materialize_grads
    elif materialize_grads and not allow_unused:
        raise ValueError(
            "materialize_grads=True turns unused inputs into zeros, so allow_unused=False cannot "
            "be asked for as well: leave it out"
        )
    flat_outputs = sequence(outputs, "outputs")
    flat_inputs, rebuild = flatten(inputs)
    if not flat_inputs:
        raise ValueError(
            "inputs is empty: name at least one tensor to differentiate with respect to"
        )
    found = gradients(
        flat_outputs,
        flat_inputs,
        grad_outputs,
        retain_graph,
        create_graph,
        allow_unused,
        is_grads_batched,
        materialize_grads,
        rebuild,
        current_modes().keeps_written is not False,
    )
    return rebuild(found)


def gradients(
    outputs: list[Any],
    inputs: list[Any],
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool,
    is_grads_batched: bool,
    materialize_grads: bool,
    rebuild: Rebuild,
    restores: bool,
) -> list[Any]:
    """`grad` of lists. `rebuild` says where inputs were, for errors; `Sweep` says `restores`."""
    if retain_graph is None:
        retain_graph = create_graph
    if create_graph and recorder() is None:
        others = allow_unused, is_grads_batched, materialize_grads, rebuild, restores
        with _recording():
            return gradients(outputs, inputs, grad_outputs, retain_graph, True, *others)
    modes = current_modes()
    if modes.closing is not None and modes.closing.traces:
        inputs = modes.closing.targets(inputs)
    level = Tensor.level
    if not are_outermost(outputs, inputs):
        inside = any(map(is_inside, outputs))
        if inside or (not create_graph and is_below(outputs, inputs)):
            options = {
                "retain_graph": retain_graph,
                "create_graph": create_graph,
                "allow_unused": allow_unused,
                "is_grads_batched": is_grads_batched,
                "materialize_grads": materialize_grads,
            }
            given = given_values(grad_outputs, len(outputs), "grad_outputs")
            call = Call(grad, outputs, inputs, given, options)
            return list((grad_from_inside if inside else grad_below)(call))
        level = common_level(outputs, inputs)
    starts = output_nodes(outputs, "outputs[{}]")
    targets = input_nodes(inputs, rebuild)
    seeds = seeds_of(outputs, starts, grad_outputs, create_graph, is_grads_batched)
    sweep = Sweep(starts, targets, level, create_graph, modes.anomaly, restores)
    results = sweep.run(list(zip(starts, seeds, strict=True)))
    if not allow_unused:
        for i, target in enumerate(targets):
            if results[target] is None:
                raise UnusedInputError(
                    f"inputs{place(rebuild, len(targets), i)} was not used to compute the outputs. "
                    "Pass allow_unused=True to get None for it, or materialize_grads=True to get "
                    "zeros"
                )
    found = _hand_out(sweep, inputs, targets, seeds, is_grads_batched, materialize_grads)
    if not retain_graph:
        sweep.release()
    return found


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves they depend on.

    Parameters
    ----------
    tensors, grad_tensors, retain_graph, create_graph
        As in `grad`.
    inputs : Tensor, GradientEdge or structure of them, optional
        The tensors whose `.grad` to change, instead of every leaf. They may be results of ops, too.

    Notes
    -----
    `backward` adds to `.grad` in place, or, under `create_graph`, replaces it by the sum. This
    happens after the whole sweep has succeeded: if a rule or hook raises, no `.grad` has changed.
    (Hooks that run after the accumulation cannot undo it.)

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> ag.autograd.backward((x**2).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    backward_from(tensors, grad_tensors, retain_graph, create_graph, inputs)


def backward_from(
    tensors: Any,
    grad_tensors: Any,
    retain_graph: bool | None,
    create_graph: bool,
    inputs: Any,
    names: tuple[str, str] = ("tensors[{}]", "grad_tensors[{}]"),
    restores: bool | None = None,
) -> None:
    """`backward`, with the names of the tensors and their gradients in errors.

    `restores` is the sweep's; by default, it is what the modes say.
    """
    modes = current_modes()
    if restores is None:
        restores = modes.keeps_written is not False
    if retain_graph is None:
        retain_graph = create_graph
    if create_graph and recorder() is None:
        with _recording():
            return backward_from(tensors, grad_tensors, retain_graph, True, inputs, names, restores)
    flat_outputs = sequence(tensors, "tensors")
    starts = output_nodes(flat_outputs, names[0])
    flat_inputs: list[Any] = []
    targets = None
    if inputs is not None:
        flat_inputs, rebuild = flatten(inputs)
        if not flat_inputs:
            raise ValueError("inputs is empty: leave it out to accumulate in every leaf")
        targets = input_nodes(flat_inputs, rebuild)
    seeds = seeds_of(flat_outputs, starts, grad_tensors, create_graph, False, names)
    level = common_level(flat_outputs, flat_inputs)
    sweep = Sweep(starts, targets, level, create_graph, modes.anomaly, restores)
    results = sweep.run(list(zip(starts, seeds, strict=True)))
    ran = set(sweep.order) if targets else sweep.needed
    for node in results:
        if results[node] is None:
            continue
        if isinstance(node, Leaf):
            results[node] = sweep.call_prehooks(node, results[node])
        elif node not in ran:  # the sweep ends here, and what they return goes nowhere
            sweep.call_prehooks(node, results[node])
    if not retain_graph:
        sweep.release()
    accumulate_all(sweep, dict(zip(targets or (), flat_inputs, strict=True)))
    return None


def _recording() -> ModeContext:
    """The mode in which to run create_graph=True where nothing is recorded."""
    if current_modes().inference:
        raise RuntimeError(
            "create_graph=True records the differentiation, but nothing is recorded in "
            "inference_mode(): leave it first, or use no_grad() in its place"
        )
    return enable_grad()


# --- returning the gradients ---------------------------------------------------------------------


def _hand_out(
    sweep: Sweep,
    inputs: list[Any],
    targets: list[Node],
    seeds: list[Any],
    batched: bool,
    materialize: bool,
) -> list[Any]:
    """The gradients of the inputs, as tensors that share no memory with other arrays."""
    size = seeds[0]._array.shape[0] if batched and seeds else None
    make, results = sweep.tensor_type, sweep.results
    gradients: list[Any] = []
    first: dict[Node, Any] = {}
    for x, target in zip(inputs, targets, strict=True):
        if target in first:  # the same input again gets its own copy
            again = first[target]
            if again is not None:
                again = ops.copy(again) if sweep.create_graph else again.over(_copied)
            gradients.append(again)
            continue
        held = [results[target]]
        results[target] = None
        if held[0] is None:
            gradient = _zeros(x, target, size) if materialize else None
        else:
            if size is not None:
                held = [_unbatched(held.pop(), size, type(seeds[0]))]
            if sweep.create_graph:
                gradient = ops.copy(held.pop())
            else:
                gradient = wrapped(make, owned(held), in_flight())
        if sweep.create_graph and isinstance(gradient, make) and gradient._node is None:
            node = Node(_CONSTANT, (), (), gradient.shape, gradient.dtype)
            gradient = make(gradient._array, node)
        first[target] = gradient
        gradients.append(gradient)
    return gradients


def _copied(array: Any) -> Any:
    return owned([array])


def _unbatched(gradient: Any, size: int, batched: type[Batched]) -> Any:
    """A batched gradient with its batch axis in front; any other gradient, repeated along it."""
    if isinstance(gradient, batched):
        return gradient._array
    return ops.broadcast_to(gradient, (size, *gradient.shape))


def _zeros(x: Any, target: Node, size: int | None) -> Tensor:
    if isinstance(x, GradientEdge):
        raise RuntimeError(
            "materialize_grads=True needs tensors: an unused GradientEdge does not say which "
            "library its zeros should be of"
        )
    shape = tuple(target.shape) if size is None else (size, *target.shape)
    return tensor_type_at(x.level)(backend_of(x).full(ops.plain(x), shape, 0, target.dtype))
