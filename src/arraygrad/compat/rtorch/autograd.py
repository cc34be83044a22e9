"""Differentiation: `autograd_grad`, `autograd_backward` and functions with a rule of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...arrays.tensor import Tensor
from ...autograd import Function, FunctionCtx
from ...autograd import backward as native_backward
from ...autograd import grad as native_grad
from ..arguments import several, stretched, tensors


def autograd_grad(
    outputs: Tensor | Iterable[Tensor],
    inputs: Tensor | Iterable[Tensor],
    grad_outputs: Tensor | Iterable[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> list[Tensor | None]:
    """Gradients of outputs with respect to inputs, summed over the outputs.

    Parameters
    ----------
    outputs, inputs : Tensor or iterable of Tensor
    grad_outputs : Tensor, or an iterable with a Tensor or None per output
        There may be more or fewer than outputs: more are ignored, missing ones are None. Shapes
        need not be those of the outputs: they are broadcast.
    retain_graph : bool, optional
        Keep the graph, to differentiate it again. Defaults to `create_graph`.
    create_graph : bool
        Record the differentiation too, so that the gradients can be differentiated.
    allow_unused : bool
        Give None for an input that no output depends on, instead of raising.

    Returns
    -------
    list of Tensor
        One gradient per input.
    """
    out, wanted = tensors(outputs, "outputs"), tensors(inputs, "inputs")
    seeds: list[Any] = []
    if grad_outputs is not None:
        single = isinstance(grad_outputs, Tensor)
        kinds = "a Tensor or an iterable of Tensors and None"
        seeds = several(grad_outputs, single, "grad_outputs", kinds)
    for i, seed in enumerate(seeds):
        if seed is not None and not isinstance(seed, Tensor):
            raise TypeError(
                f"grad_outputs[{i}] must be a Tensor or None, not {type(seed).__name__}"
            )
    seeds += [None] * (len(out) - len(seeds))
    pairs = [
        stretched(o, s) if o.requires_grad else (o, s) for o, s in zip(out, seeds, strict=False)
    ]
    gradients = native_grad(
        [o for o, _ in pairs],
        wanted,
        [s for _, s in pairs],
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=allow_unused,
    )
    return list(gradients)


def autograd_backward(
    tensors: Tensor | Iterable[Tensor],
    grad_tensors: Tensor | Iterable[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Add the gradients of tensors, summed over the tensors, to the `grad` of the leaves."""
    native_backward(tensors, grad_tensors, retain_graph=retain_graph, create_graph=create_graph)


class _Custom(Function):
    """A function whose forward and backward pass are functions of R."""

    @staticmethod
    def forward(ctx: FunctionCtx, forward: Any, backward: Any, *inputs: Any) -> Any:
        ctx.rule = backward
        result = forward(ctx, *inputs)
        return tuple(result) if isinstance(result, list) else result  # R has no tuples

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Any, **_: Any) -> Any:
        return (None, None, *ctx.rule(ctx, *grad_outputs))


def apply_function(
    forward: Callable[..., Any], backward: Callable[..., Any], *inputs: Tensor
) -> Any:
    """Compute `forward(ctx, *inputs)`; its gradients are `backward(ctx, *gradients)`."""
    return _Custom.apply(forward, backward, *inputs)
