"""What the solvers return, for type checkers: SciPy itself has no types."""

from __future__ import annotations

from typing import Any, Protocol


class Found(Protocol):
    """A `scipy.optimize.OptimizeResult`; the method decides which entries after `nfev` it has."""

    x: Any
    fun: Any
    success: bool
    status: int
    message: str
    nfev: int
    nit: int
    njev: int
    nhev: int
    jac: Any
    hess: Any
    hess_inv: Any
    grad: Any
    cost: Any
    optimality: float
    active_mask: Any
    covariance: Any
    standard_errors: Any

    def __getitem__(self, name: str, /) -> Any: ...
    def get(self, name: str, default: Any = None, /) -> Any: ...
