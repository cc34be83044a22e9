"""`grad` and `backward`: checking what was asked for, running the sweep, handing out results."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any

from .. import ops
from ..arrays.batched import Batched, batched_type
from ..backends import backend_of
from ..engine import Sweep
from ..errors import MixedArraysError, NoGradientError, UnusedInputError
from ..graph import GradientEdge, Leaf, Node, output_node
from ..ops.op import Array, Op, Pullback
from ..structures import flatten, is_single
from ..tensor import Tensor
from .modes import current_modes

# The node of a gradient that came out constant, under create_graph: it requires gradients like
# any other result, and depends on nothing.
_CONSTANT = Pullback(Op("constant", ("x",)), ())

_accumulating = threading.Lock()


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

    Nothing is written: no `.grad`, on no tensor. The gradients are the caller's own: they share
    memory with nothing.

    Parameters
    ----------
    outputs : Tensor, GradientEdge, or sequence of them
        What to differentiate.
    inputs : Tensor, GradientEdge, or any structure of them
        What to differentiate with respect to: leaves or results of ops. One tensor gives one
        gradient; a sequence or iterator gives a tuple; a mapping or nested structure gives the
        same structure, with sequences as tuples.
    grad_outputs : Tensor, array, number, None, or a sequence with one of these per output
        The vector of the vector-Jacobian product. A number stands for a constant array. None
        stands for one, and is allowed for an output with a single real element.
    retain_graph : bool, optional
        Keep what the graph saved, to differentiate it again. Defaults to `create_graph`.
    create_graph : bool
        Record the differentiation too, so that the gradients can be differentiated.
    allow_unused : bool, optional
        Give None for an input that no output depends on, instead of raising. Defaults to
        `materialize_grads`.
    is_grads_batched : bool
        Take the first axis of each of `grad_outputs` as a batch of vectors, and compute all their
        products in one sweep. The gradients have the same first axis.
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
    if retain_graph is None:
        retain_graph = create_graph
    flat_outputs = _sequence(outputs, "outputs")
    flat_inputs, rebuild = flatten(inputs)
    if not flat_inputs:
        raise ValueError(
            "inputs is empty: name at least one tensor to differentiate with respect to"
        )
    starts = [_output_node(o, i) for i, o in enumerate(flat_outputs)]
    targets = [_input_node(x, i) for i, x in enumerate(flat_inputs)]
    seeds = _seeds(flat_outputs, starts, grad_outputs, create_graph, is_grads_batched)
    sweep = Sweep(
        starts,
        targets,
        _level(flat_outputs, flat_inputs),
        create_graph,
        current_modes().anomaly,
    )
    results = sweep.run(list(zip(starts, seeds, strict=True)))
    for i, target in enumerate(targets):
        if results[target] is None and not allow_unused:
            raise UnusedInputError(
                f"inputs[{i}] was not used to compute the outputs. Pass allow_unused=True to get "
                "None for it, or materialize_grads=True to get zeros"
            )
    gradients = _hand_out(sweep, flat_inputs, targets, seeds, is_grads_batched, materialize_grads)
    if not retain_graph:
        sweep.release()
    return rebuild(gradients)


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
        Where to accumulate, instead of in every leaf. These may be results of ops, too.

    Notes
    -----
    `.grad` is added to in place, or, under `create_graph`, replaced by the sum. It is written
    after the whole sweep has succeeded; if a rule or hook raises, every `.grad` is as it was.
    """
    if retain_graph is None:
        retain_graph = create_graph
    flat_outputs = _sequence(tensors, "tensors")
    starts = [_output_node(o, i, "tensors") for i, o in enumerate(flat_outputs)]
    flat_inputs: list[Any] | None = None
    if inputs is not None:
        flat_inputs, _ = flatten(inputs)
        if not flat_inputs:
            raise ValueError("inputs is empty: leave it out to accumulate in every leaf")
    if not flat_outputs:
        return
    targets = None
    if flat_inputs is not None:
        targets = [_input_node(x, i) for i, x in enumerate(flat_inputs)]
    seeds = _seeds(flat_outputs, starts, grad_tensors, create_graph, False, "grad_tensors")
    level = _level(flat_outputs, flat_inputs or [])
    sweep = Sweep(starts, targets, level, create_graph, current_modes().anomaly)
    results = sweep.run(list(zip(starts, seeds, strict=True)))
    if not retain_graph:
        sweep.release()
    tensor_of = dict(zip(targets or (), flat_inputs or (), strict=True))
    accumulated = []
    for node in list(results):
        tensor = tensor_of.get(node)
        if not isinstance(tensor, Tensor):
            tensor = _holder(node)
        gradient = results[node]
        if gradient is not None and isinstance(tensor, Tensor) and tensor._node is node:
            results[node] = None
            held = [gradient]
            del gradient
            _accumulate(tensor, held, create_graph)
            accumulated.append(node)
    for node in accumulated:
        if isinstance(node, Leaf):
            for hook in list(node.accumulated.values()):
                hook(node.variable)


def _holder(node: Node) -> Tensor | None:
    """The tensor whose `.grad` belongs to a node: a leaf, or one that retains its gradient."""
    if isinstance(node, Leaf):
        return node.variable
    retained = None if node.extras is None else node.extras.retained
    return None if retained is None else retained()


def _accumulate(tensor: Tensor, held: list[Any], create_graph: bool) -> None:
    """Add a gradient to `tensor.grad`: in place, unless graphs are involved."""
    if create_graph:
        (gradient,) = held
        with _accumulating:
            have = getattr(tensor, "_grad", None)
            tensor._grad = ops.copy(gradient) if have is None else have + gradient
        return
    gradient = backend_of(held[0]).own(held)
    with _accumulating:
        have = getattr(tensor, "_grad", None)
        if have is None:
            tensor._grad = (
                Tensor(gradient) if type(tensor).level == Tensor.level else type(tensor)(gradient)
            )
        elif have.requires_grad or not backend_of(gradient).add_into(have.array, gradient):
            tensor._grad = have.detach() + gradient


# --- checking the arguments ----------------------------------------------------------------------


def _sequence(value: Any, name: str) -> list[Any]:
    """One tensor, or several, as a list."""
    if is_single(value):
        return [value]
    if isinstance(value, Mapping) or not isinstance(value, Iterable) or hasattr(value, "dtype"):
        raise TypeError(
            f"{name} must be a Tensor, a GradientEdge or a sequence of them, not "
            f"{type(value).__name__}"
        )
    return list(value)


def _output_node(output: Any, index: int, name: str = "outputs") -> Node:
    if isinstance(output, GradientEdge):
        return output_node(output.node, output.output_nr)
    if not isinstance(output, Tensor):
        raise TypeError(
            f"{name}[{index}] must be a Tensor or a GradientEdge, not {type(output).__name__}"
        )
    if output._node is None:
        raise NoGradientError(
            f"{name}[{index}] does not require gradients: nothing it was computed from has "
            "requires_grad=True, or it was computed under no_grad() or detached"
        )
    return output._node


def _input_node(x: Any, index: int) -> Node:
    if isinstance(x, GradientEdge):
        return output_node(x.node, x.output_nr)
    if not isinstance(x, Tensor):
        raise TypeError(
            f"inputs[{index}] must be a Tensor or a GradientEdge, not {type(x).__name__}"
        )
    if x._node is None:
        raise NoGradientError(
            f"inputs[{index}] does not require gradients: make it with requires_grad=True, or "
            "call requires_grad_() on it before computing the outputs"
        )
    return x._node


def _level(*groups: list[Any]) -> float:
    levels = {t.level for group in groups for t in group if isinstance(t, Tensor)}
    if len(levels) > 1:
        raise ValueError("outputs and inputs belong to different transforms")
    return levels.pop() if levels else Tensor.level


def _seeds(
    outputs: list[Any],
    nodes: list[Node],
    given: Any,
    create_graph: bool,
    batched: bool,
    name: str = "grad_outputs",
) -> list[Any]:
    """The cotangents to start from, one per output."""
    if given is None or is_single(given) or isinstance(given, Number) or hasattr(given, "dtype"):
        values = [given] * len(outputs) if given is None else [given]
    else:
        values = list(given)
    if len(values) != len(outputs):
        raise ValueError(f"{name} has {len(values)} entries for {len(outputs)} outputs")
    made = [
        _seed(value, node, output, f"{name}[{i}]", i, create_graph, batched)
        for i, (value, node, output) in enumerate(zip(values, nodes, outputs, strict=True))
    ]
    if batched:
        sizes = {seed.shape[0] for seed in made}
        if len(sizes) > 1:
            raise ValueError(f"{name} has batches of different sizes: {sorted(sizes)}")
        level = max((o.level for o in outputs if isinstance(o, Tensor)), default=Tensor.level)
        made = [batched_type(level + 0.5)(seed) for seed in made]
    return made


def _seed(
    value: Any, node: Node, output: Any, name: str, i: int, create_graph: bool, batched: bool
) -> Any:
    shape = tuple(node.shape)
    like = output._array if isinstance(output, Tensor) else None
    backend = backend_of(like if like is not None else 0.0)
    is_complex = backend.kind(node.dtype) == "c"
    if batched and (value is None or isinstance(value, Number)):
        raise ValueError(
            f"{name} must be an array whose first axis is the batch when is_grads_batched=True, "
            f"got {value!r}"
        )
    if value is None:
        size = 1
        for n in shape:
            size *= n
        if size != 1:
            raise RuntimeError(
                f"outputs[{i}] has shape {shape}: only an output with one element can do without "
                f"{name}. Pass grad_outputs, or reduce the output to a number, for example by "
                "sum()"
            )
        if is_complex:
            raise RuntimeError(
                f"outputs[{i}] is complex: the gradient of a complex number depends on a "
                f"direction. Pass {name}, or differentiate its real part, imaginary part or abs()"
            )
        value = 1.0
    if isinstance(value, Number) and not hasattr(value, "dtype"):
        if isinstance(value, complex) and not is_complex:
            raise TypeError(f"{name} is complex, but outputs[{i}] is real")
        seed = backend.full(ops.plain(like), shape, value, node.dtype)
        return Tensor(seed) if create_graph else seed
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise TypeError(
            f"{name} must be a Tensor, an array, a number or None, not {type(value).__name__}"
        )
    found = tuple(value.shape)
    if batched:
        if not found:
            raise ValueError(f"{name} is 0-d: with is_grads_batched=True it needs a batch axis")
        found = found[1:]
    if found != shape:
        expected = f"(batch, {', '.join(map(str, shape))})" if batched else str(shape)
        raise ValueError(
            f"{name} has shape {tuple(value.shape)}, but outputs[{i}] has shape {shape}"
            + (f": with is_grads_batched=True, {expected} is expected" if batched else "")
        )
    given = backend_of(value)
    if like is not None and given is not backend:
        raise MixedArraysError(
            f"{name} is an array of {given.name}, but outputs[{i}] is one of {backend.name}: "
            "convert it first"
        )
    kind = given.kind(value.dtype)
    if (kind == "c") != is_complex:
        raise TypeError(
            f"{name} has dtype {value.dtype} and outputs[{i}] has {node.dtype}: both must be "
            "complex, or neither"
        )
    if isinstance(output, Tensor):
        ours = isinstance(value, Tensor) and value.level == output.level
    else:
        ours = isinstance(value, Tensor)
    if create_graph:
        seed = value if isinstance(value, Array) else Tensor(value)
    else:
        seed = value._array if ours else value
    return seed if seed.dtype == node.dtype else ops.astype(seed, node.dtype)


# --- handing out ---------------------------------------------------------------------------------


def _hand_out(
    sweep: Sweep,
    inputs: list[Any],
    targets: list[Node],
    seeds: list[Any],
    batched: bool,
    materialize: bool,
) -> list[Any]:
    """The gradients of the inputs as tensors that share memory with nothing."""
    size = seeds[0]._array.shape[0] if batched and seeds else None
    make, results = sweep.tensor_type, sweep.results
    gradients: list[Any] = []
    first: dict[Node, Any] = {}
    for x, target in zip(inputs, targets, strict=True):
        if target in first:  # the same input again: a gradient of its own
            again = first[target]
            gradients.append(None if again is None else ops.copy(again))
            continue
        held = [results[target]]
        results[target] = None
        if held[0] is None:
            gradient = _zeros(x, target, size, make) if materialize else None
        else:
            if size is not None:
                held = [_unbatched(held.pop(), size)]
            if sweep.create_graph:
                gradient = ops.copy(held.pop())
            else:
                gradient = make(_owned(held))
        if sweep.create_graph and gradient is not None and gradient._node is None:
            node = Node(_CONSTANT, (), (), gradient.shape, gradient.dtype)
            gradient = make(gradient._array, node)
        first[target] = gradient
        gradients.append(gradient)
    return gradients


def _owned(held: list[Any]) -> Any:
    if isinstance(held[0], Array):
        return ops.copy(held.pop())
    return backend_of(held[0]).own(held)


def _unbatched(gradient: Any, size: int) -> Any:
    """A batched gradient with its batch axis in front; repeated along it if it had none."""
    if isinstance(gradient, Batched):
        return gradient._array
    return ops.broadcast_to(gradient, (size, *gradient.shape))


def _zeros(x: Any, target: Node, size: int | None, make: type[Tensor]) -> Tensor:
    if isinstance(x, GradientEdge):
        raise RuntimeError(
            "materialize_grads=True needs tensors: an unused GradientEdge does not say which "
            "library its zeros should be of"
        )
    shape = tuple(target.shape) if size is None else (size, *target.shape)
    return make(backend_of(x).full(ops.plain(x), shape, 0, target.dtype))
