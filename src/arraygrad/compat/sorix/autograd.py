"""sorix's `grad`: returns a tuple, and keeps the graph by default.

One difference is intended: a graph that was freed by `retain_graph=False` cannot be differentiated
again. Here that is an error; sorix gives wrong numbers.

>>> from arraygrad.compat.sorix import grad, tensor
>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> grad((x**3).sum(), x)
(tensor([ 3., 12.]),)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...arrays.creation import ones_like
from ...arrays.creation import tensor as native_tensor
from ...arrays.tensor import Tensor as Native
from ...autograd import grad as native_grad
from ...errors import NoGradientError
from ..arguments import several, stretched, tensors
from ..facade import Facade, unwrapped
from .tensor import Tensor

__all__ = ["grad"]


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool = True,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """Gradients of outputs with respect to inputs, summed over the outputs.

    Parameters
    ----------
    outputs, inputs : Tensor or iterable of Tensor
        An output that requires no gradients is left out: it depends on no input.
    grad_outputs : Tensor, array, or an iterable with one of these or None per output
        The shape need not be that of the output: both are broadcast, as in NumPy.
    retain_graph : bool
        Keep the graph, to differentiate it again.
    create_graph : bool
        Record the differentiation too, so that the gradients can be differentiated.
    allow_unused : bool
        Give None for an input that no output depends on, instead of raising.

    Returns
    -------
    tuple of Tensor
        One gradient per input.
    """
    single = isinstance(inputs, Facade | Native)
    asked = [inputs] if single or not isinstance(inputs, Iterable) else list(inputs)
    out, wanted = tensors(unwrapped(outputs), "outputs"), tensors(unwrapped(asked), "inputs")
    for i, x in enumerate(wanted):
        if not x.requires_grad:
            raise NoGradientError(
                f"inputs[{i}] does not require gradients: make it with requires_grad=True"
            )
    seeds = _seeds(unwrapped(grad_outputs), out)
    live = [stretched(o, s) for o, s in zip(out, seeds, strict=True) if o.requires_grad]
    gradients = native_grad(
        [o for o, _ in live],
        wanted,
        [s for _, s in live],
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=allow_unused,
    )
    return tuple(
        Tensor._wrapped(g) if isinstance(x, Facade) else g
        for x, g in zip(asked, gradients, strict=True)
    )


def _seeds(given: Any, outputs: list[Native]) -> list[Native]:
    """One cotangent per output: the one given, or 1 for an output with one element."""
    values: list[Any] = [None] * len(outputs)
    if given is not None:
        kinds = "a Tensor, an array or an iterable of them"
        values = several(given, hasattr(given, "dtype"), "grad_outputs", kinds)
    if len(values) != len(outputs):
        raise ValueError(f"grad_outputs has {len(values)} entries for {len(outputs)} outputs")
    return [_seed(i, o, v) for i, (o, v) in enumerate(zip(outputs, values, strict=True))]


def _seed(i: int, output: Native, value: Any) -> Native:
    if value is None:
        if output.size != 1:
            raise RuntimeError(
                f"outputs[{i}] has shape {output.shape}: only an output with one element can do "
                "without grad_outputs. Pass them, or reduce the output, for example by sum()"
            )
        return ones_like(output)
    return value if isinstance(value, Native) else native_tensor(value)
