"""Linear programs and assignments.

The solution of a linear program is a corner: the active constraints are equations for it. While the
same constraints stay active, it is a smooth function of the matrices and limits. The solution does
not change with the costs, until it jumps to another corner.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...core.array import Array
from ...errors import SingularError
from ..formula import as_array, const
from ..implicit import implicit
from ..names import scipy_module
from ..values import attach, on_values

_CLOSE = 1e-7


def linprog(
    c: Any,
    A_ub: Any = None,  # noqa: N803
    b_ub: Any = None,
    A_eq: Any = None,  # noqa: N803
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: str = "highs",
    callback: Any = None,
    options: Any = None,
    x0: Any = None,
    integrality: Any = None,
) -> Any:
    """`scipy.optimize.linprog`; `x` and `fun` have derivatives if the solution is one corner.

    An error says so if it is not: more constraints are active than there are unknowns, or fewer.
    Variables that must be integers are constants.
    """
    scipy = scipy_module("scipy.optimize")

    def run(*given: Any) -> Any:
        return scipy.linprog(
            *given,
            method=method,
            callback=callback,
            options=options,
            x0=x0,
            integrality=integrality,
        )

    runs = on_values(run, c, A_ub, b_ub, A_eq, b_eq, bounds)
    result = runs.join(runs.results)
    if not runs.has_derivatives:
        result.x = runs.as_given(result.x)
        return result
    if integrality is not None and np.any(integrality):
        raise ValueError(
            "linprog: with integrality, the solution jumps where it changes, and has no "
            "derivatives: detach() the arguments if the solution is meant as a constant"
        )
    if not runs.is_single:
        raise ValueError("linprog: the solution has no derivatives under vmap: use a loop")
    if not result.success:
        raise SingularError(f"linprog: there is no solution to differentiate: {result.message}")
    rows, right = _active(result.x, A_ub, b_ub, A_eq, b_eq, bounds)
    n = result.x.size
    if rows.shape[0] != n:
        raise SingularError(
            f"linprog: {rows.shape[0]} constraints are active at the solution, which has {n} "
            "unknowns, so the solution is not a smooth function of the arguments"
        )
    result.x = implicit(lambda x: ops.matmul(rows, x) - right, result.x)
    result.fun = attach(np.asarray(result.fun), ops.sum(as_array(c) * result.x))
    return result


def _active(x: Any, a_ub: Any, b_ub: Any, a_eq: Any, b_eq: Any, bounds: Any) -> tuple[Any, Any]:
    """The rows and right-hand sides of the constraints that hold with equality."""
    rows, right = [], []

    def add(matrix: Any, limits: Any, chosen: Any) -> None:
        places = np.nonzero(chosen)[0]
        rows.append(ops.take(matrix, places, axis=0))
        right.append(ops.take(limits, places, axis=0))

    if a_eq is not None:
        matrix, limits = _dense(a_eq), as_array(b_eq)
        add(matrix, limits, np.ones(limits.shape, bool))
    if a_ub is not None:
        matrix, limits = _dense(a_ub), as_array(b_ub)
        slack = np.asarray(const(limits)) - np.asarray(const(matrix)) @ x
        add(matrix, limits, slack <= _CLOSE * (1 + np.abs(np.asarray(const(limits)))))
    for limits, sign in zip(_limits(bounds, x.size), (1.0, -1.0), strict=True):
        values = np.asarray(const(limits), float)
        with np.errstate(invalid="ignore"):
            distance = sign * (x - values)
        chosen = distance <= _CLOSE * (1 + np.abs(values))
        add(np.eye(x.size), limits, chosen & np.isfinite(values))
    return ops.concat(rows), ops.concat(right)


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else as_array(matrix)


def _limits(bounds: Any, n: int) -> tuple[Any, Any]:
    """The lower and the upper bounds, from one pair for all unknowns or one pair for each."""
    if bounds is None:
        bounds = (0, None)
    first = bounds[0]
    if (isinstance(first, Array | np.ndarray) and first.ndim) or isinstance(first, tuple | list):
        pairs = [tuple(pair) for pair in bounds]
        pairs = pairs * n if len(pairs) == 1 else pairs
    else:
        pairs = [(bounds[0], bounds[1])] * n
    low = as_array([-np.inf if pair[0] is None else pair[0] for pair in pairs])
    high = as_array([np.inf if pair[1] is None else pair[1] for pair in pairs])
    return low, high


def milp(c: Any, **keywords: Any) -> Any:
    """`scipy.optimize.milp`; raises where derivatives are asked for.

    The solution of a program with integers jumps where it changes.
    """
    scipy = scipy_module("scipy.optimize")
    runs = on_values(lambda c, keywords: scipy.milp(c, **keywords), c, keywords)
    if runs.has_derivatives:
        raise ValueError(
            "milp: the solution jumps where it changes, and has no derivatives: detach() the "
            "arguments if the solution is meant as a constant"
        )
    return runs.join(runs.results)


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> Any:
    """`scipy.optimize.linear_sum_assignment`: indices, which are constants.

    The sum of the chosen costs, ``cost_matrix[rows, columns].sum()``, is differentiable.
    """
    scipy = scipy_module("scipy.optimize")
    runs = on_values(lambda costs: scipy.linear_sum_assignment(costs, maximize), cost_matrix)
    return runs.join(runs.results)
