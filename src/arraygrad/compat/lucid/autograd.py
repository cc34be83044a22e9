"""`lucid.autograd`: `grad`, which returns plain arrays; cotangents of outputs default to ones."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

from ...arrays.tensor import Tensor
from ...autograd import grad as native_grad
from ...errors import NoGradientError, UnusedInputError
from ..arguments import several, tensors

__all__ = ["grad"]


def __dir__() -> list[str]:
    return __all__


def grad(
    outputs: Tensor | Iterable[Tensor],
    inputs: Tensor | Iterable[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool = False,
    allow_unused: bool = False,
) -> Any:
    """Gradients of outputs with respect to inputs, as arrays of the inputs' library.

    Parameters
    ----------
    outputs, inputs : Tensor or iterable of Tensor
    grad_outputs : Tensor, array, number, or an iterable with one of these per output
        By default, ones.
    retain_graph : bool
        Keep the graph, to differentiate it again.
    allow_unused : bool
        Do not raise for an input that no output depends on, or that requires no gradients: give
        None for it. Do not raise for outputs that require no gradients: leave them out.

    Returns
    -------
    array or tuple of array
        A single array for a single input, also for a sequence with one input.
    """
    out, wanted = tensors(outputs, "outputs"), tensors(inputs, "inputs")
    seeds = _seeds(grad_outputs, len(out))
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
                    f"inputs[{i}] does not require gradients, so the outputs do not depend on it: "
                    "make it with requires_grad=True, or pass allow_unused=True to get None for it"
                )
    live = [(o, s) for o, s in zip(out, seeds, strict=True) if o.requires_grad]
    differentiable = [x for x in wanted if x.requires_grad]
    found: Any = iter(())
    if differentiable or not wanted:  # the engine raises if there are no inputs
        found = iter(
            native_grad(
                [o for o, _ in live],
                differentiable,
                [s for _, s in live],
                retain_graph=retain_graph,
                allow_unused=allow_unused,
            )
        )
    gradients = tuple(_array(next(found)) if x.requires_grad else None for x in wanted)
    return gradients[0] if len(gradients) == 1 else gradients


def _seeds(given: Any, count: int) -> list[Any]:
    """One cotangent per output. The default is 1, which stands for an array of ones."""
    if given is None:
        return [1.0] * count
    single = isinstance(given, Number) or hasattr(given, "dtype")
    kinds = "a Tensor, an array, a number or an iterable of them"
    values = several(given, single, "grad_outputs", kinds)
    seeds = [1.0 if s is None else s for s in values]
    if len(seeds) != count:
        raise ValueError(f"grad_outputs has {len(seeds)} entries for {count} outputs")
    return seeds


def _array(gradient: Tensor | None) -> Any:
    return None if gradient is None else gradient.array
