"""`grad` and `backward`: check the arguments, run the sweep, return or accumulate the gradients.

The sweep itself is in `sweep`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any, Literal, TypedDict, TypeVar, Unpack, overload

import numpy as np

from .. import ops
from ..arrays.batched import Batched, batched_type
from ..arrays.tensor import Tensor, tensor_type_at
from ..backends import backend_of, default
from ..core.array import Array
from ..core.axes import same_shape
from ..core.levels import above, in_flight
from ..core.modes import ModeContext, current_modes, enable_grad
from ..core.nodes import GradientEdge, Leaf, Node, Output, output_node, recorder
from ..errors import MixedArraysError, NoGradientError, UnusedInputError
from ..ops.define.adoption import in_library_of, is_made
from ..ops.define.library import declare
from ..ops.define.rules import Pullback
from ..sweep.engine import Sweep
from ..sweep.hooks import wrapped
from .accumulation import accumulate_all, owned
from .outward import Call, grad_below, grad_from_inside, is_below, is_inside, reaches
from .structures import Rebuild, flatten, is_single, place

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
    if retain_graph is None:
        retain_graph = create_graph
    if create_graph and recorder() is None:
        with _recording():
            return grad(
                outputs,
                inputs,
                grad_outputs,
                retain_graph=retain_graph,
                create_graph=True,
                allow_unused=allow_unused,
                is_grads_batched=is_grads_batched,
                materialize_grads=materialize_grads,
            )
    flat_outputs = _sequence(outputs, "outputs")
    flat_inputs, rebuild = flatten(inputs)
    if not flat_inputs:
        raise ValueError(
            "inputs is empty: name at least one tensor to differentiate with respect to"
        )
    inside = any(map(is_inside, flat_outputs))
    if inside or (not create_graph and is_below(flat_outputs, flat_inputs)):
        options = {
            "retain_graph": retain_graph,
            "create_graph": create_graph,
            "allow_unused": allow_unused,
            "is_grads_batched": is_grads_batched,
            "materialize_grads": materialize_grads,
        }
        given = _values(grad_outputs, len(flat_outputs), "grad_outputs")
        call = Call(grad, flat_outputs, flat_inputs, given, options)
        return rebuild(list((grad_from_inside if inside else grad_below)(call)))
    starts = _output_nodes(flat_outputs, "outputs[{}]")
    targets = _input_nodes(flat_inputs, rebuild)
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
                f"inputs{place(rebuild, len(targets), i)} was not used to compute the outputs. "
                "Pass allow_unused=True to get None for it, or materialize_grads=True to get zeros"
            )
    gradients = _hand_out(sweep, flat_inputs, targets, seeds, is_grads_batched, materialize_grads)
    result = rebuild(gradients)
    if not retain_graph:
        sweep.release()
    return result


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
    """
    backward_from(tensors, grad_tensors, retain_graph, create_graph, inputs)


def backward_from(
    tensors: Any,
    grad_tensors: Any,
    retain_graph: bool | None,
    create_graph: bool,
    inputs: Any,
    names: tuple[str, str] = ("tensors[{}]", "grad_tensors[{}]"),
) -> None:
    """`backward`, with the names of the tensors and their gradients in errors."""
    if retain_graph is None:
        retain_graph = create_graph
    if create_graph and recorder() is None:
        with _recording():
            return backward_from(tensors, grad_tensors, retain_graph, True, inputs, names)
    flat_outputs = _sequence(tensors, "tensors")
    starts = _output_nodes(flat_outputs, names[0])
    flat_inputs: list[Any] = []
    targets = None
    if inputs is not None:
        flat_inputs, rebuild = flatten(inputs)
        if not flat_inputs:
            raise ValueError("inputs is empty: leave it out to accumulate in every leaf")
        targets = _input_nodes(flat_inputs, rebuild)
    seeds = _seeds(flat_outputs, starts, grad_tensors, create_graph, False, names)
    level = _level(flat_outputs, flat_inputs)
    sweep = Sweep(starts, targets, level, create_graph, current_modes().anomaly)
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


# --- checking the arguments ----------------------------------------------------------------------


def _sequence(value: Any, name: str) -> list[Any]:
    """One tensor, or several, as a list."""
    if is_single(value) or is_inside(value):
        return [value]
    if isinstance(value, Array):
        raise TypeError(
            f"{name} is a {type(value).__name__} array, inside a transform, and was computed from "
            "no tensor that requires gradients: differentiate with respect to one made there, as "
            "x = arraygrad.tensor(x, requires_grad=True), or to one from outside"
        )
    if isinstance(value, Mapping) or not isinstance(value, Iterable) or hasattr(value, "dtype"):
        raise TypeError(
            f"{name} must be a Tensor, a GradientEdge or a sequence of them, not "
            f"{type(value).__name__}"
        )
    return list(value)


def _output_nodes(outputs: list[Any], name: str) -> list[Node]:
    """The nodes of the outputs. `name` is a template for the name of each in errors."""
    nodes = []
    for i, output in enumerate(outputs):
        node = output._node if isinstance(output, Tensor) else _edge_node(output, name.format(i))
        if node is None:
            raise NoGradientError(
                f"{name.format(i)} does not require gradients: nothing it was computed from has "
                "requires_grad=True, or it was computed under no_grad() or detached"
            )
        nodes.append(node)
    return nodes


def _input_nodes(inputs: list[Any], rebuild: Rebuild) -> list[Node]:
    """The nodes of the inputs. `rebuild` gives their places in the structure, for errors."""
    nodes = []
    for i, x in enumerate(inputs):
        if isinstance(x, Tensor) and x._node is not None:
            nodes.append(x._node)
            continue
        name = f"inputs{place(rebuild, len(inputs), i)}"
        if isinstance(x, Tensor):
            raise NoGradientError(
                f"{name} does not require gradients: make it with requires_grad=True, or call "
                "requires_grad_() on it before computing the outputs"
            )
        nodes.append(_edge_node(x, name))
    return nodes


def _edge_node(edge: Any, name: str) -> Node:
    """The node of a GradientEdge."""
    if not isinstance(edge, GradientEdge):
        what = f"{name} must be a Tensor or a GradientEdge, not {type(edge).__name__}"
        if isinstance(edge, Array):
            what += ": inside a transform, make one by arraygrad.tensor(x, requires_grad=True)"
        raise TypeError(what)
    node, number = edge
    if not isinstance(node, Node):
        raise TypeError(f"{name} is a GradientEdge whose node is {node!r}, which is no Node")
    count = len(node.shape) if node.pullback is not None and node.pullback.multiple else 1
    if isinstance(node, Output) or not 0 <= number < count:
        raise ValueError(
            f"{name} is a GradientEdge with output_nr={number}, but {node.name()} has {count} "
            "output(s): use get_gradient_edge() to make one"
        )
    return output_node(node, number)


_OUTERMOST = {Tensor}
_NUMPY = (np.ndarray, np.generic)


def _level(outputs: list[Any], inputs: list[Any]) -> float:
    """The level of the graph that leads from outputs to inputs.

    An input of another level must be unused; if the outputs depend on it, raise.
    """
    if set(map(type, outputs + inputs)) == _OUTERMOST:
        return Tensor.level
    levels = {t.level for t in outputs if isinstance(t, Tensor)}
    others = [t for t in inputs if isinstance(t, Tensor)]
    if len(levels) > 1 or (
        levels and any(t.level < max(levels) and reaches(outputs, t) for t in others)
    ):
        raise ValueError(
            "outputs and inputs belong to different transforms: a result of recording inside one "
            "(func.grad, vjp, ...) can be differentiated there with respect to what the function "
            "was given or has made, and with respect to tensors from outside after the transform "
            "has returned it"
        )
    return (levels or {t.level for t in others} or {Tensor.level}).pop()


def _seeds(
    outputs: list[Any],
    nodes: list[Node],
    given: Any,
    create_graph: bool,
    batched: bool,
    names: tuple[str, str] = ("outputs[{}]", "grad_outputs[{}]"),
) -> list[Any]:
    """The cotangents of the outputs, where the sweep starts."""
    if len(outputs) == 1 and not create_graph and not batched:
        seed = _plain_seed(outputs[0], nodes[0], given)
        if seed is not None:
            return [seed]
    name = names[1].removesuffix("[{}]")
    values = _values(given, len(outputs), name)
    made = [
        _seed(value, node, output, [n.format(i) for n in names], create_graph, batched)
        for i, (value, node, output) in enumerate(zip(values, nodes, outputs, strict=True))
    ]
    if batched:
        sizes = {seed.shape[0] for seed in made}
        if len(sizes) > 1:
            raise ValueError(f"{name} has batches of different sizes: {sorted(sizes)}")
        level = max((o.level for o in outputs if isinstance(o, Tensor)), default=Tensor.level)
        made = [batched_type(above(level))(seed) for seed in made]
    return made


def _plain_seed(output: Any, node: Node, given: Any) -> Any:
    """The cotangent of a NumPy array in the common cases that need few checks, else None."""
    if type(output) is not Tensor or not isinstance(output._array, _NUMPY):
        return None
    if given is None:
        simple = not node.shape and node.dtype.kind == "f"
        return np.ones((), node.dtype) if simple else None
    array = given._array if type(given) is Tensor else given
    fits = type(array) is np.ndarray and array.shape == node.shape and array.dtype == node.dtype
    return array if fits else None


def _values(given: Any, count: int, name: str) -> list[Any]:
    """The cotangents as the caller gave them, one for each output."""
    if given is None or is_single(given) or isinstance(given, Number) or hasattr(given, "dtype"):
        values = [given] * count if given is None else [given]
    elif isinstance(given, Iterable) and not isinstance(given, Mapping):
        values = list(given)
    else:
        raise TypeError(
            f"{name} must be a Tensor, an array, a number, None, or a sequence with one of these "
            f"per output, not {type(given).__name__}"
        )
    if len(values) != count:
        entries = "1 entry" if len(values) == 1 else f"{len(values)} entries"
        raise ValueError(f"{name} has {entries} for {count} outputs: give one for each")
    return values


def _array_behind(node: Node) -> Any:
    """An array of the same library as a node's values: that of a leaf that it depends on."""
    while not isinstance(node, Leaf):
        if not node.edges:
            return 0.0
        node = node.edges[0]
    return node.array


def _seed(
    value: Any, node: Node, output: Any, names: list[str], create_graph: bool, batched: bool
) -> Any:
    output_name, name = names
    shape = tuple(node.shape)
    like = output._array if isinstance(output, Tensor) else _array_behind(node)
    backend = backend_of(like)
    make = tensor_type_at(output.level if isinstance(output, Tensor) else Tensor.level)
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
                f"{output_name} has shape {shape}: only one with a single element can do without "
                f"{name}. Pass that, or reduce to a number first, for example by sum()"
            )
        if is_complex:
            raise RuntimeError(
                f"{output_name} is complex: the gradient of a complex number depends on a "
                f"direction. Pass {name}, or differentiate its real part, imaginary part or abs()"
            )
        value = 1.0
    if isinstance(value, np.generic):  # NumPy scalars are treated as numbers
        value = value.item()
    if isinstance(value, Number) and not hasattr(value, "dtype"):
        if isinstance(value, complex) and not is_complex:
            raise TypeError(f"{name} is complex, but {output_name} is real: pass a real number")
        seed = backend.full(ops.plain(like), shape, value, node.dtype)
        return make(seed) if create_graph else seed
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise TypeError(
            f"{name} must be a Tensor, an array, a number or None, not {type(value).__name__}"
        )
    if is_made(value) and backend is not default:
        value = in_library_of(ops.plain(like), value)
    found = tuple(value.shape)
    if batched:
        if not found:
            raise ValueError(f"{name} is 0-d: with is_grads_batched=True it needs a batch axis")
        found = found[1:]
    if not same_shape(found, shape):
        expected = f"(batch, {', '.join(map(str, shape))})" if batched else str(shape)
        raise ValueError(
            f"{name} has shape {tuple(value.shape)}, but {output_name} has shape {shape}"
            + (f": with is_grads_batched=True, {expected} is expected" if batched else "")
        )
    given = backend_of(value)
    if given is not backend:
        raise MixedArraysError(
            f"{name} is an array of {given.name}, but {output_name} is one of {backend.name}: "
            "convert it first"
        )
    kind = given.kind(value.dtype)
    if (kind == "c") != is_complex:
        raise TypeError(
            f"{name} has dtype {value.dtype} and {output_name} has {node.dtype}: both must be "
            "complex, or neither"
        )
    ours = isinstance(value, Tensor) and value.level == make.level
    if create_graph:
        outer = isinstance(value, Array) and value.level > make.level
        seed = value if ours or outer else make(value)
    else:
        seed = value._array if ours else value
    return seed if seed.dtype == node.dtype else ops.astype(seed, node.dtype)


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
