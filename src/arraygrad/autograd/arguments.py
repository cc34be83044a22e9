"""The arguments of `grad` and `backward`, checked: nodes to start from and to end at, and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from .. import ops
from ..arrays.batched import batched_type
from ..arrays.creation import operand
from ..arrays.tensor import Tensor, tensor_type_at, view_type_at
from ..backends import backend_of, default
from ..core.array import Array
from ..core.axes import same_shape
from ..core.levels import above
from ..core.nodes import GradientEdge, Leaf, Node, Output, output_node
from ..errors import MixedArraysError, NoGradientError
from ..ops.define.adoption import in_library_of, is_made
from .outward import is_inside, reaches
from .structures import Rebuild, flatten, is_single, place

_MAKE_TENSORS = (
    "compute with tensors from the start, as arraygrad.tensor(x, requires_grad=True) makes them"
)


def sequence(value: Any, name: str) -> list[Any]:
    """One tensor, or several, as a list."""
    if is_single(value) or is_inside(value):
        return [value]
    if type(value) is list and all(map(is_single, value)):
        return list(value)
    if isinstance(value, Array):
        raise TypeError(
            f"{name} is a {type(value).__name__} array, inside a transform, and was computed from "
            "no tensor that requires gradients: differentiate with respect to one made there, as "
            "x = arraygrad.tensor(x, requires_grad=True), or to one from outside"
        )
    parts = _parts(value)
    if parts[0] is not value:
        return parts
    if isinstance(value, Mapping) or not isinstance(value, Iterable) or hasattr(value, "dtype"):
        way = "func.grad() takes functions" if callable(value) else _MAKE_TENSORS
        raise TypeError(
            f"{name} must be a Tensor, a GradientEdge or a sequence of them, not "
            f"{type(value).__name__}: {way}"
        )
    return [part for item in value for part in _parts(item)]


def _parts(value: Any) -> list[Any]:
    """The tensors in a labelled array of xarray; of any other value, itself."""
    is_labelled = hasattr(value, "dtype") and not isinstance(value, Array)
    return flatten(value)[0] if is_labelled else [value]


def output_nodes(outputs: list[Any], name: str) -> list[Node]:
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


def input_nodes(inputs: list[Any], rebuild: Rebuild) -> list[Node]:
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
        elif hasattr(edge, "dtype"):
            what += f": {_MAKE_TENSORS}"
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


_OUTERMOST = frozenset((Tensor, view_type_at(Tensor.level)))
_NUMPY = (np.ndarray, np.generic)


def are_outermost(outputs: list[Any], inputs: list[Any]) -> bool:
    """Whether all outputs and inputs are tensors outside of all transforms."""
    return _OUTERMOST.issuperset(map(type, outputs + inputs))


def common_level(outputs: list[Any], inputs: list[Any]) -> float:
    """The level of the graph that leads from outputs to inputs.

    An input of another level must be unused; if the outputs depend on it, raise.
    """
    if are_outermost(outputs, inputs):
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


def seeds_of(
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
    values = given_values(given, len(outputs), name)
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
    if type(given) is list and len(given) == 1:
        (given,) = given
    if given is None:
        simple = not node.shape and node.dtype.kind == "f"
        return np.array(1, node.dtype) if simple else None
    array = given._array if type(given) is Tensor else given
    fits = type(array) is np.ndarray and array.shape == node.shape and array.dtype == node.dtype
    return array if fits else None


def given_values(given: Any, count: int, name: str) -> list[Any]:
    """The cotangents as the caller gave them, one for each output."""
    if given is None or is_single(given) or isinstance(given, Number) or hasattr(given, "dtype"):
        values = [given] * count if given is None else _parts(given)
    elif isinstance(given, Iterable) and not isinstance(given, Mapping):
        values = [part for item in given for part in _parts(item)]
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
        return make(seed) if create_graph else operand(seed, isinstance(like, Array))
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
        seed = operand(value._array if ours else value, isinstance(like, Array))
    return seed if seed.dtype == node.dtype else ops.astype(seed, node.dtype)
