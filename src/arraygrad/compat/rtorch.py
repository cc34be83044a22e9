"""`autograd_grad` of torch for R, and the functions that its documented example calls.

R has no scalars: `torch_tensor(0.5)` has one axis, of length one. A gradient that is undefined in
R is None here.

>>> from arraygrad.compat.rtorch import autograd_grad, torch_tensor
>>> w = torch_tensor(0.5, requires_grad=True)
>>> autograd_grad(w**2, [w])
[tensor([1.], dtype=float32)]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays.tensor import Tensor
from ..autograd import grad as native_grad
from ..ops import expand_dims
from .arguments import several, single_precision_tensor, stretched, tensors

__all__ = ["autograd_grad", "runif", "torch_is_installed", "torch_tensor"]


def __dir__() -> list[str]:
    return __all__


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


def torch_tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A new leaf tensor. Numbers get an axis of length one, floats get single precision.

    >>> from arraygrad.compat.rtorch import torch_tensor
    >>> torch_tensor(0.5)
    tensor([0.5], dtype=float32)
    """
    if hasattr(data, "shape"):
        data = data if data.shape else expand_dims(data)
    elif not isinstance(data, Iterable):
        data = [data]
    return single_precision_tensor(data, dtype, device, requires_grad)


def torch_is_installed() -> bool:
    """True: arraygrad replaces torch here, so it is always there."""
    return True


def runif(n: int, min: float = 0.0, max: float = 1.0) -> list[float]:
    """Draw `n` numbers from the uniform distribution, like R's `runif`."""
    drawn: list[float] = np.random.default_rng().uniform(min, max, n).tolist()
    return drawn
