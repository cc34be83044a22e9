"""Linear equations between the stages of Runge–Kutta steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

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


class Slopes(Protocol):
    """The Jacobians of f at all stages, in a form in which many equations can be solved."""

    @property
    def is_narrow(self) -> bool:
        """Whether `at_once` takes less time than an iteration."""

    def at(self, i: int) -> Any:
        """The Jacobians at the stages of step i: an array whose first axis is the stages."""

    def product(self, slopes: Any, x: Any, adjoint: bool) -> Any:
        """The Jacobian of each stage, or its transpose, times the vector of the stage."""

    def factors(self, slope: Any, scale: complex, adjoint: bool) -> Callable[[Any], Any]:
        """What solves equations with ``1 - scale * slope``, or its transpose."""

    def at_once(self, slopes: Any, a: Any, right: Any, adjoint: bool) -> Any:
        """The solution of the equations of a step, as one system; `a` is h times the tableau's."""


class OneStep:
    """The same equations for one step after the other, of an implicit method with long states.

    If the Jacobian were the same at all stages of a step, the eigenvectors of the tableau would
    take the stages apart: two systems of n equations are left, a real one and a complex one. So the
    factors of these, for the mean of the Jacobians, almost solve the equations, and an iteration
    does the rest. The factors are kept from step to step, until the iteration becomes slow.
    """

    def __init__(self, tableau: Tableau, slopes: Slopes, adjoint: bool) -> None:
        self._tableau, self._a = tableau, tableau.a.T if adjoint else tableau.a
        self._slopes, self._adjoint = slopes, adjoint
        values, vectors = np.linalg.eig(self._a)
        inverse = np.linalg.inv(vectors)
        # Of a pair of conjugate eigenvalues, one stands for both.
        self._parts = [
            (v.real, vectors[:, i].real, inverse[i].real)
            if abs(v.imag) < 1e-9
            else (v, 2 * vectors[:, i], inverse[i])
            for i, v in enumerate(values)
            if v.imag >= -1e-9
        ]
        self._factors: list[Any] = []

    def __call__(self, i: int, h: float, b: Any, total: Any) -> tuple[Any, Any]:
        """March through step i: its stages, and the state after it, or the cotangent before it."""
        slopes = self._slopes.at(i)
        if self._adjoint:
            w = self._solve(slopes, h, b + h * self._tableau.b[:, None] * total)
            return w, total + self._product(slopes, w).sum(0)
        states = np.broadcast_to(total, b.shape)
        w = self._solve(slopes, h, b + self._product(slopes, states))
        return w, total + h * (self._tableau.b @ w)

    def _product(self, slopes: Any, x: Any) -> Any:
        return self._slopes.product(slopes, x, self._adjoint)

    def _solve(self, slopes: Any, h: float, right: Any) -> Any:
        """The stages, of the shape (stages, n)."""
        found = self._iterated(slopes, h, right, _FEW) if self._factors else None
        if found is None and not self._slopes.is_narrow:
            mean = slopes.mean(0)
            self._factors = [
                (self._slopes.factors(mean, h * value, self._adjoint), vector, row)
                for value, vector, row in self._parts
            ]
            found = self._iterated(slopes, h, right, _MANY)
        if found is None:
            found = self._slopes.at_once(slopes, h * self._tableau.a, right, self._adjoint)
        return found

    def _iterated(self, slopes: Any, h: float, right: Any, most: int) -> Any:
        """The solution by iteration; None if this takes too long."""
        enough = _CLOSE * np.abs(right).max(initial=0.0)
        a, x, rest = h * self._a, 0.0, right
        for _ in range(most):
            for solve, vector, row in self._factors:
                x = x + np.multiply.outer(vector, solve(row @ rest)).real
            change = a @ self._product(slopes, x) if self._adjoint else self._product(slopes, a @ x)
            rest = right - x + change
            if np.abs(rest).max(initial=0.0) <= enough:
                return x
        return None
