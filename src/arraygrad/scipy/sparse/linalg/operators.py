"""Jacobians as linear operators of SciPy, which never form the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.array import AnyFunction
from ....func import linearize, vjp
from .matrices import SCIPY

__all__ = ["jacobian_operator"]


def jacobian_operator(function: AnyFunction, x: Any) -> Any:
    """The Jacobian of a function at `x`, as a `LinearOperator` for SciPy's solvers.

    Products with vectors are forward derivatives, products with the adjoint are reverse
    derivatives. Arrays of any shape count as vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from arraygrad.scipy.sparse.linalg import gmres, jacobian_operator
    >>> x = np.array([1.0, 2.0])
    >>> j = jacobian_operator(lambda x: x**3 + x.sum(), x)
    >>> step, info = gmres(j, np.array([1.0, 1.0]), rtol=1e-10)
    >>> np.allclose(j @ step, 1.0)
    True
    """
    x = np.asarray(x)
    out, push = linearize(function, x)
    out = np.asarray(out)
    _, pull = vjp(function, x)

    def forward(t: Any) -> Any:
        return np.asarray(push(np.asarray(t).reshape(x.shape))).reshape(-1)

    def back(g: Any) -> Any:
        found = pull(np.asarray(g).reshape(out.shape))
        return np.asarray(found[0] if isinstance(found, tuple) else found).reshape(-1)

    return SCIPY.LinearOperator(
        (out.size, x.size), matvec=forward, rmatvec=back, dtype=np.result_type(out, x)
    )
