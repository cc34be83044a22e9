"""Equations for a matrix: Sylvester's, Lyapunov's and Riccati's. Linear systems are in `systems`.

The derivatives follow from the equation that a derivative of the solution satisfies, which is one
of Sylvester or Lyapunov again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import backend_of
from ...core.array import plain
from ...errors import SingularError
from ...linalg import solve
from ...ops import matmul, matrix_transpose
from ..twins import has_values, twin
from .stacked import SCIPY, adjoint, matrix, matrix_op

__all__ = [
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_sylvester",
]

# --- linear equations ----------------------------------------------------------------------------


def _along(a: Any, b: Any, q: Any) -> Any:
    """The solution for a derivative; raises if it leaves much of the right-hand side."""
    x = sylvester(a, b, q)
    values = plain(matmul(a, x) + matmul(x, b) - q), plain(q)
    if all(map(has_values, values)):
        left, size = (np.max(np.abs(backend_of(v).to_numpy(v)), initial=0.0) for v in values)
        if np.isfinite(size) and not left <= 0.1 * size:
            raise SingularError(
                "solve_sylvester: the equation is singular, or nearly so, and its solution has no "
                f"derivative: {left:.1e} is left of a right-hand side of {size:.1e}"
            )
    return x


def _sylvester_rule(g: Any, wanted: Any, a: Any, b: Any, out: Any) -> Any:
    w = _along(matrix_transpose(a), matrix_transpose(b), g)
    turned = matrix_transpose(out)
    return (
        -matmul(w, turned) if wanted[0] else None,
        -matmul(turned, w) if wanted[1] else None,
        w if wanted[2] else None,
    )


sylvester = matrix_op(
    "solve_sylvester",
    "a",
    "b",
    "q",
    compute=lambda a, b, q: SCIPY.solve_sylvester(a, b, q),
    shapes=lambda a, b, q: (q,),
    joint=_sylvester_rule,
    jvp=lambda t_a, t_b, t_q, a, b, out: _along(a, b, t_q - matmul(t_a, out) - matmul(out, t_b)),
)


@twin(SCIPY.solve_sylvester)
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """The solution X of ``A X + X B = Q``."""
    a, b = matrix(a, "solve_sylvester"), matrix(b, "solve_sylvester")
    return sylvester(a, b, matrix(q, "solve_sylvester", square=False))


@twin(SCIPY.solve_continuous_lyapunov)
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """The solution X of ``A X + X Aᴴ = Q``."""
    a = matrix(a, "solve_continuous_lyapunov")
    return sylvester(a, adjoint(a), matrix(q, "solve_continuous_lyapunov"))


def _stein_rule(g: Any, wanted: Any, a: Any, out: Any, method: Any) -> Any:
    w = _stein(adjoint(a), g, method=method)
    if not wanted[0]:
        return None, w
    return matmul(w, matmul(a, adjoint(out))) + matmul(adjoint(w), matmul(a, out)), w


_stein = matrix_op(
    "solve_discrete_lyapunov",
    "a",
    "q",
    compute=lambda a, q, *, method: SCIPY.solve_discrete_lyapunov(a, q, method),
    shapes=lambda a, q, method: (q,),
    joint=_stein_rule,
    jvp=lambda t_a, t_q, a, out, method: _stein(
        a,
        t_q + matmul(matmul(t_a, out), adjoint(a)) + matmul(matmul(a, out), adjoint(t_a)),
        method=method,
    ),
    holomorphic=False,
)


@twin(SCIPY.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a: Any, q: Any, method: str | None) -> Any:
    """The solution X of ``A X Aᴴ - X + Q = 0``."""
    name = "solve_discrete_lyapunov"
    return _stein(matrix(a, name), matrix(q, name), method=method)


# --- Riccati -------------------------------------------------------------------------------------


def _gain(b: Any, r: Any, x: Any) -> Any:
    return solve(r, matmul(adjoint(b), x))


def _care_rule(g: Any, wanted: Any, a: Any, b: Any, r: Any, out: Any) -> Any:
    gain = _gain(b, r, out)
    closed = a - matmul(b, gain)
    w = _along(closed, adjoint(closed), g)
    both = matmul(out, w + adjoint(w))
    return (
        -both if wanted[0] else None,
        matmul(both, adjoint(gain)) if wanted[1] else None,
        -w if wanted[2] else None,
        -matmul(matmul(gain, w), adjoint(gain)) if wanted[3] else None,
    )


_care = matrix_op(
    "solve_continuous_are",
    "a",
    "b",
    "q",
    "r",
    compute=lambda a, b, q, r, *, balanced: SCIPY.solve_continuous_are(
        a, b, q, r, balanced=balanced
    ),
    shapes=lambda a, b, q, r, balanced: (a,),
    joint=_care_rule,
    holomorphic=False,
)


def _dare_rule(g: Any, wanted: Any, a: Any, b: Any, r: Any, out: Any) -> Any:
    product = matmul(adjoint(b), out)
    gain = solve(r + matmul(product, b), matmul(product, a))
    closed = a - matmul(b, gain)
    w = _stein(closed, g, method=None)
    both = matmul(matmul(out, closed), w + adjoint(w))
    return (
        both if wanted[0] else None,
        -matmul(both, adjoint(gain)) if wanted[1] else None,
        w if wanted[2] else None,
        matmul(matmul(gain, w), adjoint(gain)) if wanted[3] else None,
    )


_dare = matrix_op(
    "solve_discrete_are",
    "a",
    "b",
    "q",
    "r",
    compute=lambda a, b, q, r, *, balanced: SCIPY.solve_discrete_are(a, b, q, r, balanced=balanced),
    shapes=lambda a, b, q, r, balanced: (a,),
    joint=_dare_rule,
    holomorphic=False,
)


@twin(SCIPY.solve_continuous_are)
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, balanced: bool) -> Any:
    """The solution X of the continuous algebraic equation of Riccati."""
    name = "solve_continuous_are"
    b = matrix(b, name, square=False)
    return _care(matrix(a, name), b, matrix(q, name), matrix(r, name), balanced=balanced)


@twin(SCIPY.solve_discrete_are)
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, balanced: bool) -> Any:
    """The solution X of the discrete algebraic equation of Riccati."""
    name = "solve_discrete_are"
    b = matrix(b, name, square=False)
    return _dare(matrix(a, name), b, matrix(q, name), matrix(r, name), balanced=balanced)
