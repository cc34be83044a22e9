"""Implicit functions: the solution x of F(x, θ) = 0 as a function of θ, without its solver.

SciPy computes x. Its derivative follows from F alone, dx = −J⁻¹ F_θ dθ with J = ∂F/∂x. The rules
are made of ops, so every order follows, in both modes and on batches. `linear` solves the equations
with J.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ops
from ..core.array import AnyFunction
from ..func import jvp, vjp, vmap
from ..ops.define import Own
from ..ops.define.library import declare
from ..ops.padding import everywhere, size_of
from .formula import Formula, as_array, capture
from .linear import LARGE, Solver, by_products, of_places, places_of, solved


def implicit(
    residual: AnyFunction,
    x: Any,
    solver: Solver | None = None,
    check: bool = True,
    formula: Formula | None = None,
) -> Any:
    """A solution x of ``residual(x) = 0``, with derivatives by all arrays that `residual` uses.

    Parameters
    ----------
    residual : callable
        Returns as many numbers as `x` has.
    x : array
        The solution: a plain array, or a batch of them.
    solver : Solver, optional
        Solves linear equations with the Jacobian of `residual`.
    check : bool
        Whether differentiating raises an error if x is not a solution.
    formula : Formula, optional
        The residual, if it is known already.
    """

    def equations(x: Any) -> Any:
        value = as_array(residual(x))
        if value.size != x.size:
            raise ValueError(
                f"the equations are {value.size} for {x.size} unknowns: only as many equations as "
                "unknowns define a solution with derivatives. Use least_squares for more"
            )
        return ops.reshape(value, x.shape)

    formula = capture(equations, x) if formula is None else formula
    if not formula.outside:
        return x
    if solver is None and x.size > LARGE:
        solver = by_products
    return solve_implicit(x, formula.outside, formula, solver, check)


def solve_implicit(
    x: Any, outside: Sequence[Any], formula: AnyFunction, solver: Solver | None, check: bool
) -> Any:
    """A solution x of ``formula(x, *outside) = 0``; the formula depends on nothing else."""
    return _implicit(x, *outside, formula=formula, solver=solver, check=check, over=())


# --- the op: x is a constant input, and the result ------------------------------------------------


def _compute(
    xp: Any, x: Any, *theta: Any, formula: AnyFunction, solver: Any, check: bool, over: Any
) -> Any:
    return x


def _batch(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
    """One more axis in front; `over` says which arrays have it."""
    x = everywhere(arrays[0], flags[0], size_of(arrays, flags))
    over = (flags[1:], *params["over"])
    return op.function(x, *arrays[1:], **params | {"over": over})


def _reverse(
    g: Any,
    wanted: Sequence[bool],
    out: Any,
    theta: Sequence[Any],
    formula: AnyFunction,
    solver: Any,
    check: bool,
    over: Any,
) -> list[Any]:
    places = places_of(theta, wanted)
    if not over:
        found = _pulled(g, out, theta, places, formula, solver, check)
    else:
        axes = [0 if batched else None for batched in over[0]]

        def member(g: Any, out: Any, *theta: Any) -> Any:
            return tuple(
                _reverse(g, wanted, out, theta, formula, solver, check, over[1:])[i + 1]
                for i in places
            )

        found = vmap(member, in_axes=(0, 0, *axes))(g, out, *theta)
        found = [
            part if axes[i] == 0 else ops.sum(part, axis=0)
            for i, part in zip(places, found, strict=True)
        ]
    result: list[Any] = [None] * (len(theta) + 1)
    for i, part in zip(places, found, strict=True):
        result[i + 1] = part
    return result


def _pulled(
    g: Any, x: Any, theta: Any, places: list[int], formula: AnyFunction, solver: Any, check: bool
) -> Sequence[Any]:
    w = solved(formula, x, theta, -g, True, solver, check)
    of_moving = of_places(lambda *theta: formula(x, *theta), theta, places)
    value, pull = vjp(of_moving, *(theta[i] for i in places))
    return pull(ops.reshape(w, value.shape))


def _forward(
    t_theta: Any, out: Any, theta: Any, formula: AnyFunction, solver: Any, check: bool, over: Any
) -> Any:
    if over:
        axes = [0 if batched else None for batched in over[0]]

        def member(out: Any, theta: Any, t_theta: Any) -> Any:
            return _forward(t_theta, out, theta, formula, solver, check, over[1:])

        moving = [None if t is None else axis for t, axis in zip(t_theta, axes, strict=True)]
        return vmap(member, in_axes=(0, axes, moving))(out, list(theta), list(t_theta))
    places = [i for i, t in enumerate(t_theta) if t is not None]
    of_moving = of_places(lambda *theta: formula(out, *theta), theta, places)
    _, t = jvp(of_moving, tuple(theta[i] for i in places), tuple(t_theta[i] for i in places))
    return ops.reshape(solved(formula, out, theta, -t, False, solver, check), out.shape)


_implicit = declare(
    "implicit",
    "x",
    "*theta",
    compute=_compute,
    joint=_reverse,
    jvp=_forward,
    holomorphic=False,
    own=Own(batch=_batch),
)
