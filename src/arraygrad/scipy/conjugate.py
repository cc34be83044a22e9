"""Linear equations with a symmetric Jacobian: that of a gradient, at a minimum.

There it is positive definite, and the method of conjugate gradients needs few products with it and
no matrix. Where the method does not work, because the point found is a saddle or the Jacobian is
badly conditioned, the equations are solved as all others are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.array import AnyFunction
from ..func import jacfwd, linearize
from .linear import LARGE, by_products, remembered
from .names import scipy_module
from .solutions import check_condition

SEVERAL = 200  # the number of unknowns from which on this is faster than forming the matrix
_ACCURATE, _ROUGH = 1e-10, 1e-3  # how small what is left of the equations must be, relative to b
_MOST = 1000  # iterations
_FLAT = 1e-12  # curvatures below this part of the largest one are rounding errors


def by_conjugate_gradients(
    formula: AnyFunction, x: Any, theta: Sequence[Any], b: Any, adjoint: bool
) -> Any:
    """Solve J w = b with a symmetric real J, as a `Solver`."""

    def make() -> AnyFunction:
        _, push = linearize(lambda x: formula(x, *theta), x)

        def product(w: Any) -> Any:
            return np.ravel(np.asarray(push(np.reshape(w, x.shape))))

        # A random vector has a part along each eigenvector: along those without curvature, too.
        probe = np.random.default_rng(7919).standard_normal(x.size)
        if _solved(product, probe, _ROUGH) is not None:
            return lambda b: _solved(product, b, _ACCURATE)
        return _by_matrix(formula, x, theta) if x.size <= LARGE else lambda b: None

    solve = remembered(formula, (x, *theta), make)
    found = solve(np.ravel(b))
    if found is None:
        return by_products(formula, x, theta, b, adjoint)
    return found.reshape(b.shape)


def _by_matrix(formula: AnyFunction, x: Any, theta: Sequence[Any]) -> AnyFunction:
    matrix: Any = jacfwd(lambda x: formula(x, *theta))(x)
    matrix = np.reshape(np.asarray(matrix), (x.size, x.size))
    check_condition(matrix)
    linalg = scipy_module("scipy.linalg")
    factors = linalg.lu_factor(matrix)
    return lambda b: linalg.lu_solve(factors, b)


def _solved(product: AnyFunction, b: Any, tolerance: float) -> Any:
    """The solution, or None if it is not found."""
    x, rest, direction = np.zeros_like(b), b.copy(), b.copy()
    size = start = float(rest @ rest)
    largest = 0.0
    for _ in range(_MOST):
        if size <= tolerance**2 * start:
            return x
        along = product(direction)
        bent = float(direction @ along)
        curvature = bent / float(direction @ direction)
        largest = max(largest, curvature)
        if not curvature > _FLAT * largest:  # nor if it is NaN
            return None
        x += size / bent * direction
        rest -= size / bent * along
        before, size = size, float(rest @ rest)
        direction = rest + size / before * direction
    return None
