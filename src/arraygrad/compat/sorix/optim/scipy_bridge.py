"""Tensors as the variables of SciPy's optimisers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ....autograd import grad
from ....autograd.graph import increment_version
from ..tensor import Tensor


class ScipyBridge:
    """The values of tensors as one vector, and a loss with its gradient as a function of it.

    >>> from scipy.optimize import minimize
    >>> from arraygrad.compat.sorix import tensor
    >>> from arraygrad.compat.sorix.optim import ScipyBridge
    >>> x = tensor([0.0, 0.0], requires_grad=True)
    >>> bridge = ScipyBridge(x, lambda: (x[0] - 2.0) ** 2 + (x[1] - 3.0) ** 2)
    >>> found = minimize(bridge.objective, bridge.get_x(), jac=True)
    >>> found.x.round(4).tolist()
    [2.0, 3.0]
    """

    def __init__(self, parameters: Tensor | Iterable[Tensor], loss_fn: Callable[[], Any]) -> None:
        self.params = [parameters] if isinstance(parameters, Tensor) else list(parameters)
        self.loss_fn = loss_fn
        for i, p in enumerate(self.params):
            if p.data.dtype.kind != "f":
                raise TypeError(
                    f"parameter {i} has dtype {p.dtype}, which would round the values that an "
                    "optimiser tries: make it of real numbers"
                )
            p.requires_grad = True
        self.shapes = [p.shape for p in self.params]
        self.sizes = [p.numel for p in self.params]
        self.total_size = sum(self.sizes)

    def get_x(self) -> Any:
        """The values of all parameters in one vector."""
        return np.concatenate([p.data.ravel() for p in self.params]).astype(np.float64)

    def set_x(self, x_np: Any) -> None:
        """Write the values of a vector to the parameters, in place."""
        at = 0
        for p, size, shape in zip(self.params, self.sizes, self.shapes, strict=True):
            p.data[...] = np.asarray(x_np)[at : at + size].reshape(shape)
            at += size
        increment_version([p._inner for p in self.params])

    def objective(self, x_np: Any) -> tuple[float, Any]:
        """The loss and its gradient at a vector, for `scipy.optimize.minimize(..., jac=True)`.

        Parameters that the loss does not depend on have zero gradients.
        """
        self.set_x(x_np)
        loss = self.loss_fn()
        leaves = [p._inner for p in self.params]
        gradients = grad(loss._inner, leaves, materialize_grads=True)
        for p, g in zip(self.params, gradients, strict=True):
            p.grad = Tensor._of(g)
        flat = np.concatenate([np.ravel(g.numpy()) for g in gradients])
        return float(loss.item()), flat.astype(np.float64)
