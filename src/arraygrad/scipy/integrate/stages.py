"""Linear equations between the stages of Runge–Kutta steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from .tableaus import Tableau


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
