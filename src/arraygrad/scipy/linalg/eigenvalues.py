"""Eigenvalues of general matrices, also of generalised problems, and vectors on both sides.

The order of the values, and the signs or phases of the vectors, are those of SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg as ours
from ...core.kinds import Matrices, Opaque
from ...ops import expand_dims, matmul, real, sqrt, sum, take_along_axis
from ...ops.define.library import constant
from ..names import scipy_module
from ..twins import by_scipy, twin
from .decompositions import phase
from .stacked import SCIPY, adjoint, matrix, stacked

__all__ = ["eig", "eigvals"]


def _part(which: int) -> Any:
    """One of SciPy's results, as a constant: values, left vectors, right vectors."""
    return constant(
        f"scipy.linalg.eig_{which}",
        "a",
        "b",
        compute=stacked(
            lambda a, b, *, alone: SCIPY.eig(
                a, None if alone else b, left=True, right=True, check_finite=False
            )[which]
        ),
        kind=Matrices(shapes=lambda a, b, alone: (a[:1],) if which == 0 else (a,)),
    )


_values, _left, _right = map(_part, range(3))


def _order_of(found: Any, own: Any) -> Any:
    """For each of SciPy's values, the place of the one found that is the same."""
    assign = scipy_module("scipy.optimize").linear_sum_assignment
    out = np.empty(own.shape, np.int64)
    for index in np.ndindex(*own.shape[:-1]):
        distances = np.abs(own[index][:, None] - found[index])
        out[index] = assign(np.where(np.isfinite(distances), distances, 1e300))[1]
    return out


_order = constant(
    "scipy.linalg.eig_order",
    "found",
    "own",
    compute=by_scipy(_order_of),
    kind=Opaque(leading=True),
)


def _columns_like(vectors: Any, own: Any) -> Any:
    """Columns of length one, with SciPy's phases."""
    size = sqrt(sum(real(vectors * vectors.conj()), axis=-2, keepdims=True))
    vectors = vectors / size
    return vectors * phase(vectors, own)


@twin(SCIPY.eig)
def eig(a: Any, b: Any, left: bool, right: bool) -> Any:
    """Eigenvalues, and eigenvectors on the left and on the right. `b` must have an inverse."""
    a = matrix(a, "eig")
    if b is None and not left:
        return tuple(ours.eig(a)) if right else ours.eigvals(a)
    if b is not None and left and not right:
        raise NotImplementedError(
            "eig of a generalised problem gives left vectors alone another length: pass right=True"
        )
    alone = b is None  # SciPy's vectors have other phases than with a unit matrix
    b = np.eye(a.shape[-1]) if alone else matrix(b, "eig")
    values, vectors = ours.eig(a if alone else ours.solve(b, a))
    order = _order(values, _values(a, b, alone=alone))
    values = take_along_axis(values, order, axis=-1)
    if not (left or right):
        return values
    index = expand_dims(order, axis=-2) + np.zeros((a.shape[-1], 1), np.int64)
    vectors = take_along_axis(vectors, index, axis=-1)
    found = [values]
    if left:
        rows = ours.inv(vectors if alone else matmul(b + 0j, vectors))
        found.append(_columns_like(adjoint(rows), _left(a, b, alone=alone)))
    if right:
        found.append(_columns_like(vectors, _right(a, b, alone=alone)))
    return tuple(found)


@twin(SCIPY.eigvals)
def eigvals(**options: Any) -> Any:
    """Eigenvalues, also of generalised problems."""
    return eig(left=False, right=False, **options)
