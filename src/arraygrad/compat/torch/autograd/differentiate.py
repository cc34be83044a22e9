"""`torch.autograd`: `grad` and `backward`, with all of PyTorch's parameters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, overload

from .... import autograd as native
from ....arrays.tensor import Tensor
from ....autograd.structures import is_single
from ....backends import backend_of
from ....core.nodes import GradientEdge, output_node
from ....errors import NoGradientError
from ...arguments import several
from . import graph

__all__ = ["backward", "grad", "graph"]


def __dir__() -> list[str]:
    return __all__


One = Tensor | GradientEdge
K = TypeVar("K")


@overload
def grad(  # type: ignore[overload-overlap]
    outputs: One | Iterable[One],
    inputs: Mapping[K, One],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> dict[K, Tensor]: ...
@overload
def grad(
    outputs: One | Iterable[One],
    inputs: One | Iterable[One],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]: ...
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Gradients of outputs with respect to inputs, summed over the outputs.

    Parameters
    ----------
    outputs : Tensor, GradientEdge, or sequence of them
    inputs : Tensor, GradientEdge, sequence of them, or dict of them
    grad_outputs : Tensor or sequence of Tensor or None
        More entries than outputs are ignored.
    retain_graph, create_graph, allow_unused, is_grads_batched, materialize_grads
        As in `arraygrad.grad`.
    only_inputs : bool
        Deprecated, and ignored with a FutureWarning.

    Returns
    -------
    tuple of Tensor, or dict of Tensor
        A dict for a dict of inputs; otherwise a tuple, also for a single input.
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs is deprecated and ignored: use torch.autograd.backward to accumulate "
            "gradients in other leaves",
            FutureWarning,
            stacklevel=2,
        )
    keys, wanted = _inputs(inputs)
    out = _outputs(outputs, "outputs")
    seeds = _seeds(out, grad_outputs, is_grads_batched, "grad_outputs")
    gradients = native.grad(
        out,
        wanted,
        seeds,
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=allow_unused,
        is_grads_batched=is_grads_batched,
        materialize_grads=materialize_grads,
    )
    return gradients if keys is None else dict(zip(keys, gradients, strict=True))


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves, or of `inputs`."""
    out = _outputs(tensors, "tensors")
    wanted = None if inputs is None else _inputs(inputs, "backward")[1]
    seeds = _seeds(out, grad_tensors, False, "grad_tensors")
    native.backward(out, seeds, retain_graph, create_graph, inputs=wanted)


def _inputs(inputs: Any, function: str = "grad") -> tuple[list[Any] | None, list[Any]]:
    """The keys of the inputs, or None if they are not a dict; and the inputs as a list."""
    keys = None
    if is_single(inputs):
        wanted = [inputs]
    elif type(inputs) is dict and function == "grad":
        keys, wanted = list(inputs), list(inputs.values())
    elif isinstance(inputs, Mapping) or not isinstance(inputs, Iterable):
        raise TypeError(
            f"inputs of {function}() must be a Tensor, a GradientEdge, or a sequence"
            f"{' or plain dict' if function == 'grad' else ''} of them, not "
            f"{type(inputs).__name__}"
        )
    else:
        wanted = list(inputs)
    if not wanted:
        raise RuntimeError(f"inputs of {function}() is empty: name at least one tensor")
    for i, x in enumerate(wanted):
        if not is_single(x):
            raise RuntimeError(
                f"inputs[{i}] must be a Tensor or a GradientEdge, not {type(x).__name__}"
            )
        if isinstance(x, Tensor) and not x.requires_grad:
            raise NoGradientError(
                f"inputs[{i}] does not require gradients: make it with requires_grad=True"
            )
    return keys, wanted


def _outputs(outputs: Any, name: str) -> list[Any]:
    kinds = "a Tensor, a GradientEdge or a sequence of them"
    found = several(outputs, is_single(outputs), name, kinds)
    for i, output in enumerate(found):
        if not is_single(output):
            # PyTorch raises AssertionError here, which its users may catch.
            raise AssertionError(
                f"{name}[{i}] must be a Tensor or a GradientEdge, not {type(output).__name__}"
            )
    return found


def _seeds(outputs: list[Any], given: Any, batched: bool, name: str) -> list[Any]:
    """One cotangent per output, with PyTorch's checks."""
    values: list[Any] = [None] * len(outputs)
    if given is not None:
        kinds = "a Tensor or a sequence of Tensors and None"
        values = several(given, isinstance(given, Tensor), name, kinds)
    for i, (output, value) in enumerate(zip(outputs, values, strict=False)):
        _check_seed(output, value, batched, f"{name}[{i}]")
    if len(values) < len(outputs):
        raise RuntimeError(f"{name} has {len(values)} entries for {len(outputs)} outputs")
    return values[: len(outputs)]


def _check_seed(output: Any, value: Any, batched: bool, name: str) -> None:
    place = output_node(*output) if isinstance(output, GradientEdge) else output
    if value is None:
        # In other cases, the engine raises if something is wrong.
        if batched and math.prod(place.shape) != 1:
            raise RuntimeError(
                f"{name} is missing for an output of shape {tuple(place.shape)}: with "
                "is_grads_batched=True, pass cotangents with a batch axis in front"
            )
        return
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a Tensor or None, not {type(value).__name__}")
    found, wanted = value.shape, tuple(place.shape)
    if batched:
        if not found:
            raise IndexError(f"{name} is 0-d: with is_grads_batched=True it needs a batch axis")
        found = found[1:]
    if found != wanted:
        raise RuntimeError(
            f"{name} has shape {value.shape}, but its output has shape {wanted}"
            + (": with is_grads_batched=True a batch axis comes first" if batched else "")
        )
    backend = backend_of(value)
    if (backend.kind(value.dtype) == "c") != (backend.kind(place.dtype) == "c"):
        raise RuntimeError(
            f"{name} has dtype {value.dtype} and its output has {place.dtype}: both must be "
            "complex, or neither"
        )
