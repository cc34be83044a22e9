"""`autograd.misc.optimizers`: gradient descent on structures of arrays.

`grad` is called as ``grad(x, i)`` with the number of the step, `callback` as ``callback(x, i, g)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..wrap_util import wraps
from .flatten import flatten

__all__ = ["adam", "rmsprop", "sgd", "unflatten_optimizer"]

AnyFunction = Callable[..., Any]


def unflatten_optimizer(optimize: AnyFunction) -> AnyFunction:
    """Let an optimiser of vectors take structures of arrays."""

    @wraps(optimize)
    def of_structures(
        grad: AnyFunction, x0: Any, callback: AnyFunction | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        start, unflatten = flatten(x0)

        def of_vector(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def report(x: Any, i: int, g: Any) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        found = optimize(of_vector, start, report if callback else None, *args, **kwargs)
        return unflatten(found)

    return of_structures


@unflatten_optimizer
def sgd(
    grad: AnyFunction,
    x: Any,
    callback: AnyFunction | None = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Gradient descent with momentum."""
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(
    grad: AnyFunction,
    x: Any,
    callback: AnyFunction | None = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    """Steps divided by a running mean of the gradient's size."""
    mean_square = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean_square = mean_square * gamma + g**2 * (1 - gamma)
        x = x - step_size * g / (np.sqrt(mean_square) + eps)
    return x


@unflatten_optimizer
def adam(
    grad: AnyFunction,
    x: Any,
    callback: AnyFunction | None = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Adam: momentum, divided by a running mean of the gradient's size."""
    mean, mean_square = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean = (1 - b1) * g + b1 * mean
        mean_square = (1 - b2) * g**2 + b2 * mean_square
        direction = mean / (1 - b1 ** (i + 1))
        size = np.sqrt(mean_square / (1 - b2 ** (i + 1)))
        x = x - step_size * direction / (size + eps)
    return x
