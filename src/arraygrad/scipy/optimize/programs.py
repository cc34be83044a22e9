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
from ..formula import as_array
from ..implicit import implicit
from ..solving import solver
from ..values import attach, on_values, refusing
from .exact import SCIPY

__all__ = ["linear_sum_assignment", "linprog", "milp"]

_CLOSE = 1e-7


@solver(SCIPY.linprog)
def linprog(
    runs: Any,
    result: Any,
    c: Any,
    A_ub: Any,
    b_ub: Any,
    A_eq: Any,
    b_eq: Any,
    bounds: Any,
    integrality: Any,
) -> Any:
    """`scipy.optimize.linprog`; `x` and `fun` have derivatives if the solution is one corner.

    An error says so if it is not: more constraints are active than there are unknowns, or fewer.
    Variables that must be integers are constants.
    """
    if integrality is not None and np.any(integrality):
        raise ValueError(
            "linprog: with integrality, the solution jumps where it changes, and has no "
            "derivatives: detach() the arguments if the solution is meant as a constant"
        )
    for found in runs.results:
        if not found.success:
            raise SingularError(f"linprog: there is no solution to differentiate: {found.message}")
    n = runs.results[0].x.size
    given = A_ub, b_ub, A_eq, b_eq, _limits(bounds, n)
    plain = on_values(lambda *given: given, *given).results
    members = plain if len(plain) == len(runs.results) else plain * len(runs.results)
    places = [_active(f.x, *values) for f, values in zip(runs.results, members, strict=True)]
    active = runs.join(places)
    rows, right = (ops.take(part, active, axis=0) for part in _constraints(*given, n))
    result.x = implicit(lambda x: ops.matmul(rows, x) - right, result.x)
    value = result.fun if isinstance(result.fun, Array) else np.asarray(result.fun)
    result.fun = attach(value, ops.sum(as_array(c) * result.x))
    known = ["x", "fun"]
    for key, matrix, values in (("slack", A_ub, b_ub), ("con", A_eq, b_eq)):
        if matrix is not None:
            left = as_array(values) - ops.matmul(_dense(matrix), result.x)
            result[key], known = attach(result[key], left), [*known, key]
    refusing(result, result.fun, "linprog()", known)  # it depends on all arguments
    return result


def _constraints(
    a_ub: Any, b_ub: Any, a_eq: Any, b_eq: Any, limits: Any, n: int
) -> tuple[Any, Any]:
    """The rows and right-hand sides of all constraints: equations, inequalities, bounds."""
    rows: list[Any] = []
    right: list[Any] = []
    for matrix, values in ((a_eq, b_eq), (a_ub, b_ub)):
        if matrix is not None:
            rows.append(_dense(matrix))
            right.append(as_array(values))
    for ends in limits:
        rows.append(np.eye(n))
        right.append(ops.where(ops.isfinite(ends), ends, 0.0))
    return ops.concat(rows), ops.concat(right)


def _active(x: Any, a_ub: Any, b_ub: Any, a_eq: Any, b_eq: Any, limits: Any) -> Any:
    """The places of the constraints that hold with equality; all arrays are plain."""
    chosen = []
    if a_eq is not None:
        chosen.append(np.ones(np.shape(b_eq), bool))
    if a_ub is not None:
        values = np.asarray(b_ub)
        chosen.append(values - np.asarray(_dense(a_ub)) @ x <= _CLOSE * (1 + np.abs(values)))
    for ends, sign in zip(limits, (1.0, -1.0), strict=True):
        finite = np.isfinite(ends)
        values = np.where(finite, ends, 0.0)
        chosen.append(finite & (sign * (x - values) <= _CLOSE * (1 + np.abs(values))))
    places = np.nonzero(np.concatenate(chosen))[0]
    if len(places) != x.size:
        raise SingularError(
            f"linprog: {len(places)} constraints are active at the solution, which has {x.size} "
            "unknowns, so the solution is not a smooth function of the arguments"
        )
    return places


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


@solver(SCIPY.milp)
def milp(runs: Any, result: Any) -> Any:
    """`scipy.optimize.milp`; raises where derivatives are asked for.

    The solution of a program with integers jumps where it changes.
    """
    raise ValueError(
        "milp: the solution jumps where it changes, and has no derivatives: detach() the "
        "arguments if the solution is meant as a constant"
    )


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> Any:
    """`scipy.optimize.linear_sum_assignment`: indices, which are constants.

    The sum of the chosen costs, ``cost_matrix[rows, columns].sum()``, is differentiable.
    """
    runs = on_values(lambda costs: SCIPY.linear_sum_assignment(costs, maximize), cost_matrix)
    return runs.join(runs.results)
