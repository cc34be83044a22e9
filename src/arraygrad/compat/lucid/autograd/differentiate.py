"""`grad` and `backward`. Cotangents of outputs default to ones, as Lucid documents `grad`."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

from ....arrays.tensor import Tensor as Native
from ....autograd import backward as native_backward
from ....autograd import grad as native_grad
from ....errors import NoGradientError, UnusedInputError
from ...arguments import several, tensors
from ...facade import Facade, unwrapped
from .._C.engine import in_lucids_words
from ..tensors import Tensor, accumulated_into, fitting_seed


class SeedCountError(ValueError, RuntimeError):
    """Too many or too few cotangents: a ValueError in Lucid 2, a RuntimeError in Lucid 3."""


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = False,
    allow_unused: bool = False,
    *,
    create_graph: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Gradients of outputs with respect to inputs, summed over the outputs.

    Parameters
    ----------
    outputs, inputs : Tensor or iterable of Tensor
    grad_outputs : Tensor, array, number, or an iterable with one of these or None per output
        By default, ones.
    retain_graph : bool
        Keep the graph, to differentiate it again; with `create_graph`, it is kept anyway.
    allow_unused : bool
        Do not raise for an input that no output depends on, or that requires no gradients: give
        None for it. Do not raise for outputs that require no gradients: leave them out.
    create_graph : bool
        Record the differentiation too, and return a tuple of tensors, as Lucid 3 does.
    materialize_grads : bool
        Give zeros for an input that no output depends on.

    Returns
    -------
    array, or tuple of array or Tensor
        A single array for a single input, also for a sequence with one input.
    """
    asked = [inputs] if isinstance(inputs, Facade | Native) else inputs
    asked = list(asked) if isinstance(asked, Iterable) and not isinstance(asked, dict) else asked
    out, wanted = tensors(_plain(outputs), "outputs"), tensors(unwrapped(asked), "inputs")
    seeds = _fitting(out, _seeds(unwrapped(grad_outputs), len(out)), "grad_outputs")
    if not allow_unused:
        for i, output in enumerate(out):
            if not output.requires_grad:
                raise NoGradientError(
                    f"outputs[{i}] does not require gradients: compute it from a tensor that has "
                    "requires_grad=True, or pass allow_unused=True to pass over it"
                )
        for i, x in enumerate(wanted):
            if not x.requires_grad:
                raise UnusedInputError(
                    f"inputs[{i}] does not require gradients, so it is not reachable: "
                    "make it with requires_grad=True, or pass allow_unused=True to get None for it"
                )
    live = [(o, s) for o, s in zip(out, seeds, strict=True) if o.requires_grad]
    differentiable = [x for x in wanted if x.requires_grad]
    found: Any = iter(())
    if differentiable or not wanted:  # the engine raises if there are no inputs
        try:
            with in_lucids_words():
                results = native_grad(
                    [o for o, _ in live],
                    differentiable,
                    [s for _, s in live],
                    retain_graph=bool(retain_graph) or create_graph,
                    create_graph=create_graph,
                    allow_unused=allow_unused or materialize_grads,
                    materialize_grads=materialize_grads,
                )
        except UnusedInputError as error:
            raise UnusedInputError(f"{error} (not reachable from the outputs)") from None
        found = iter(results)
    gradients = tuple(next(found) if x.requires_grad else None for x in wanted)
    if create_graph:
        return Tensor._wrapped(gradients)
    arrays = tuple(None if g is None else g.array for g in gradients)
    return arrays[0] if len(arrays) == 1 else arrays


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of tensors, summed over the tensors, to the `.grad` of the leaves."""
    single = isinstance(tensors, Tensor | Native)
    roots = [tensors] if single else list(tensors)
    seeds = [grad_tensors] if single or grad_tensors is None else list(grad_tensors)
    if grad_tensors is None:
        seeds = [None] * len(roots)
    if len(seeds) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(seeds)} gradients")
    for i, (root, seed) in enumerate(zip(roots, seeds, strict=True)):
        if not root.requires_grad:
            raise NoGradientError(
                f"element {i} of tensors does not require grad: compute it from a tensor that has "
                "requires_grad=True, outside of no_grad()"
            )
        if seed is None and isinstance(root, Tensor):
            root._check_scalar()
        elif seed is not None and not isinstance(seed, Tensor | Native):
            raise TypeError(
                f"grad_tensors[{i}] must be a Tensor or None, not {type(seed).__name__}"
            )
    fitting = _fitting(unwrapped(roots), unwrapped(seeds), "grad_tensors")
    with in_lucids_words():
        native_backward(
            unwrapped(roots),
            fitting,
            retain_graph=retain_graph,
            create_graph=create_graph,
            inputs=accumulated_into(inputs),
        )


def _plain(value: Any) -> Any:
    """The tensors of arraygrad in a tensor, a sequence or an iterator."""
    if isinstance(value, Tensor | Native | list | tuple | dict) or not hasattr(value, "__iter__"):
        return unwrapped(value)
    return [unwrapped(item) for item in value]


def _fitting(outputs: list[Native], seeds: list[Any], name: str) -> list[Any]:
    """Cotangents in the dtypes of their outputs."""
    pairs = enumerate(zip(outputs, seeds, strict=True))
    return [fitting_seed(output, seed, f"{name}[{i}]") for i, (output, seed) in pairs]


def _seeds(given: Any, count: int) -> list[Any]:
    """One cotangent per output. The default is 1, which stands for an array of ones."""
    if given is None:
        return [1.0] * count
    single = isinstance(given, Number) or hasattr(given, "dtype")
    kinds = "a Tensor, an array, a number or an iterable of them"
    values = several(given, single, "grad_outputs", kinds)
    seeds = [1.0 if s is None else s for s in values]
    if len(seeds) != count:
        raise SeedCountError(
            f"grad_outputs has {len(seeds)} entries for {count} outputs: got {count} tensors and "
            f"{len(seeds)} gradients"
        )
    for i, seed in enumerate(seeds):
        if isinstance(seed, list | tuple):
            raise TypeError(
                f"grad_outputs[{i}] must be a Tensor or None, or an array or a number, not "
                f"{type(seed).__name__}"
            )
    return seeds
