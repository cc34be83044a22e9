"""`autograd.misc.optimizers`: gradient descent on structures of arrays.

`grad` is called as ``grad(x, i)`` with the number of the step, `callback` as ``callback(x, i, g)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import optim
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


def _run(
    rule: optim.Transform, state: Any, grad: AnyFunction, x: Any, callback: Any, num_iters: int
) -> Any:
    """The vector after a number of steps by a rule of `ag.optim`."""
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        change, state = rule.update(g, state, x)
        x = x + change
    return x


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
    rule = optim.chain(optim.scale(1.0 - mass), optim.sgd(step_size, mass))
    return _run(rule, rule.init(x), grad, x, callback, num_iters)


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
    """Steps divided by a running mean of the gradient's size, which starts from one."""
    rule = optim.rmsprop(step_size, gamma, eps)
    start = {**rule.init(x), "square_avg": np.ones(len(x))}
    return _run(rule, start, grad, x, callback, num_iters)


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
    rule = optim.adam(step_size, (b1, b2), eps)
    return _run(rule, rule.init(x), grad, x, callback, num_iters)
