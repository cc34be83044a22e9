"""`autograd.misc.fixed_points`: solutions of ``x = f(a)(x)``, with derivatives by `a`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..derivatives import make_vjp
from ..primitives import primitive
from ..rules import defvjp
from ..spaces import vspace

__all__ = ["fixed_point"]

AnyFunction = Callable[..., Any]


@primitive
def fixed_point(f: AnyFunction, a: Any, x0: Any, distance: AnyFunction, tol: float) -> Any:
    """Apply ``f(a)`` to `x0` until `distance` between two steps is at most `tol`."""
    step = f(a)
    x, before = step(x0), x0
    while distance(x, before) > tol:
        x, before = step(x), x
    return x


def _by_parameters(
    ans: Any, f: AnyFunction, a: Any, x0: Any, distance: AnyFunction, tol: float
) -> AnyFunction:
    # The cotangent w of the solution solves w = g + w·∂f/∂x, which is a fixed point, too.
    def backward(parameters: Any) -> AnyFunction:
        a, x, g = parameters
        pull, _ = make_vjp(f(a), x)
        space = vspace(x)
        return lambda w: space.add(pull(w), g)

    pull, _ = make_vjp(lambda a: f(a)(ans), a)

    def vjp(g: Any) -> Any:
        start = vspace(x0).zeros()
        return pull(fixed_point(backward, (a, ans, g), start, distance, tol))

    return vjp


defvjp(fixed_point, None, _by_parameters, None)
