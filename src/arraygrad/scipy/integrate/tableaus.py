"""Runge–Kutta methods: the coefficients of their stages, and of their interpolating polynomials.

Those of explicit methods are read from SciPy's solvers. The implicit method is Radau IIA of order
five, by which the derivatives of all of SciPy's implicit solvers are computed.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np


class Tableau(NamedTuple):
    """A Runge–Kutta method.

    Attributes
    ----------
    a, b, c : array
        The stages ``K_s = f(t + c_s h, y + h Σ a_sj K_j)``; the step ``y + h Σ b_s K_s``.
    more_a, more_c : array
        Stages that only the interpolation needs. They also depend on each other.
    p : array
        The interpolation: ``y + h Σ_s K_s Σ_m p_sm x^(m+1)``, with x from 0 to 1 over the step.
    is_explicit : bool
    """

    a: Any
    b: Any
    c: Any
    more_a: Any
    more_c: Any
    p: Any
    is_explicit: bool


def explicit(solver: Any) -> Tableau:
    """The tableau of one of SciPy's explicit solvers, a class."""
    s = solver.n_stages
    a = np.zeros((s, s))
    a[: solver.A.shape[0], : solver.A.shape[1]] = solver.A[:s, :s]
    last = np.append(solver.B, 0.0)[None, :]  # the slope at the end of the step
    if not hasattr(solver, "A_EXTRA"):
        return Tableau(a, solver.B, solver.C, last, np.ones(1), solver.P, True)
    count = s + 1 + solver.A_EXTRA.shape[0]
    more = np.zeros((count - s, count))
    more[0, : s + 1] = last
    more[1:, : solver.A_EXTRA.shape[1]] = solver.A_EXTRA
    p = _dop853(solver.B, solver.D, count)
    return Tableau(a, solver.B, solver.C, more, np.append(1.0, solver.C_EXTRA), p, True)


def _dop853(b: Any, d: Any, count: int) -> Any:
    """The interpolation of DOP853 in powers of x. Its own basis is x, x(1-x), and so on."""
    s = len(b)
    first, end, mean = np.zeros((3, count))
    first[0], end[s], mean[:s] = 1.0, 1.0, b
    weights = [mean, first - mean, 2 * mean - first - end, *d]
    power = len(weights)
    p = np.zeros((count, power))
    basis = np.array([1.0])
    for i, row in enumerate(weights):
        basis = np.convolve(basis, [0.0, 1.0] if i % 2 == 0 else [1.0, -1.0])  # by x or 1 - x
        p[:, : len(basis) - 1] += np.outer(row, basis[1:])
    return p


def moved(y: Any, h: Any, weights: Any, stages: list[Any]) -> Any:
    """A state plus a weighted sum of stages, of which there may be fewer than weights."""
    for weight, stage in zip(weights, stages, strict=False):
        if weight:
            y = y + (h * weight) * stage
    return y


@functools.cache
def radau() -> Tableau:
    """Radau IIA with three stages: collocation at the nodes c."""
    c = np.array([(4 - 6**0.5) / 10, (4 + 6**0.5) / 10, 1.0])
    powers = np.arange(1, 4)
    lagrange = np.linalg.inv(c[:, None] ** (powers - 1))  # coefficients of x^m for each node
    a = (c[:, None] ** powers / powers) @ lagrange
    p = (lagrange / powers[:, None]).T
    return Tableau(a, a[-1], c, np.zeros((0, 3)), np.zeros(0), p, False)
