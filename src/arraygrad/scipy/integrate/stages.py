"""Linear equations between the stages of Runge–Kutta steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..names import scipy_module
from .tableaus import Tableau

_CLOSE = 1e-13  # what may be left of the equations of a step, relative to their right-hand side
_FEW, _MANY = 6, 40  # iterations with old factors, and with those of the step itself


class Stages:
    """The equations between the stages of each step: ``X_s − h J_s Σ a_sj X_j = R_s``."""

    def __init__(self, tableau: Tableau, slopes: Any, h: Any, adjoint: bool) -> None:
        self.tableau, self.adjoint = tableau, adjoint
        self.slopes = slopes
        self.h = h[:, None, None]
        if not tableau.is_explicit:
            steps, s, n, _ = slopes.shape
            product = self.h[..., None, None] * np.einsum("sj,isab->isajb", tableau.a, slopes)
            matrix = np.eye(s * n) - product.reshape(steps, s * n, s * n)
            self.matrix = np.swapaxes(matrix, -1, -2) if adjoint else matrix

    def solve(self, right: Any) -> Any:
        """The solution for right-hand sides of the shape (steps, stages, n, columns)."""
        shape, a = right.shape, self.tableau.a
        if not self.tableau.is_explicit:
            flat = right.reshape(shape[0], shape[1] * shape[2], shape[3])
            return np.linalg.solve(self.matrix, flat).reshape(shape)
        found = np.array(right)
        stages = range(shape[1])
        for s in reversed(stages) if self.adjoint else stages:
            others = a[:, s] if self.adjoint else a[s]
            used = [j for j in stages if others[j]]
            if not used:
                continue
            if self.adjoint:  # the slope is that of the later stage
                turned = self.slopes.mT
                parts = [others[j] * (turned[:, j] @ found[:, j]) for j in used]
                found[:, s] += self.h * sum(parts)
            else:
                mixed = sum(others[j] * found[:, j] for j in used)
                found[:, s] += self.h * (self.slopes[:, s] @ mixed)
        return found


class OneStep:
    """The same equations for one step after the other, of an implicit method with long states.

    If the Jacobian were the same at all stages of a step, the eigenvectors of the tableau would
    take the stages apart: two systems of n equations are left, a real one and a complex one. So the
    factors of these, for the mean of the Jacobians, almost solve the equations, and an iteration
    does the rest. The factors are kept from step to step, until the iteration becomes slow.
    """

    def __init__(self, tableau: Tableau, adjoint: bool) -> None:
        self._a, self.weights = tableau.a.T if adjoint else tableau.a, tableau.b
        self.adjoint = adjoint
        values, vectors = np.linalg.eig(self._a)
        inverse = np.linalg.inv(vectors)
        # Of a pair of conjugate eigenvalues, one stands for both.
        parts = [(values[i], i) for i in range(len(values)) if values[i].imag >= -1e-9]
        self._parts = [
            (v.real, vectors[:, i].real, inverse[i].real)
            if abs(v.imag) < 1e-9
            else (v, 2 * vectors[:, i], inverse[i])
            for v, i in parts
        ]
        self._factors: list[Any] = []

    def solve(self, slopes: Any, h: float, right: Any) -> Any:
        """The stages, of the shape (stages, n), of a step with the Jacobians `slopes`."""
        found, done = self._iterated(slopes, h, right, _FEW) if self._factors else (None, False)
        if not done:
            self._factorise(slopes.mean(0), h)
            found, done = self._iterated(slopes, h, right, _MANY)
        return found if done else self._at_once(slopes, h, right)

    def product(self, slopes: Any, x: Any) -> Any:
        """The Jacobian of each stage, or its transpose, times a vector."""
        if self.adjoint:
            return np.matmul(x[:, None, :], slopes)[:, 0]
        return np.matmul(slopes, x[..., None])[..., 0]

    def _rest(self, slopes: Any, h: float, right: Any, x: Any) -> Any:
        if self.adjoint:
            return right - x + h * (self._a @ self.product(slopes, x))
        return right - x + h * self.product(slopes, self._a @ x)

    def _iterated(self, slopes: Any, h: float, right: Any, most: int) -> tuple[Any, bool]:
        enough = _CLOSE * np.max(np.abs(right), initial=0.0)
        x, rest = np.zeros_like(right), right
        for _ in range(most):
            x = x + self._almost(rest)
            rest = self._rest(slopes, h, right, x)
            if np.max(np.abs(rest), initial=0.0) <= enough:
                return x, True
        return x, False

    def _factorise(self, slope: Any, h: float) -> None:
        lapack = scipy_module("scipy.linalg.lapack")
        turned = slope.T if self.adjoint else slope
        self._factors = []
        for value, vector, row in self._parts:
            matrix = np.eye(len(slope)) - h * value * turned
            factor, solve = (
                (lapack.zgetrf, lapack.zgetrs)
                if np.iscomplexobj(matrix)
                else (lapack.dgetrf, lapack.dgetrs)
            )
            lu, pivots, _ = factor(matrix)
            self._factors.append((solve, lu, pivots, vector, row))

    def _almost(self, right: Any) -> Any:
        """The solution of the equations for which there are factors."""
        x = np.zeros_like(right)
        for solve, lu, pivots, vector, row in self._factors:
            x += np.outer(vector, solve(lu, pivots, row @ right)[0]).real
        return x

    def _at_once(self, slopes: Any, h: float, right: Any) -> Any:
        """All equations as one system."""
        count, n = right.shape
        if self.adjoint:
            blocks = np.einsum("sj,jba->sajb", self._a, slopes)
        else:
            blocks = np.einsum("sj,sab->sajb", self._a, slopes)
        matrix = np.eye(count * n) - h * blocks.reshape(count * n, count * n)
        return np.linalg.solve(matrix, right.ravel()).reshape(count, n)
