"""The Schur decomposition ``A = Z T Zᴴ`` with a triangular T, where all eigenvalues differ.

With ``dZ = Z X`` and ``M = Zᴴ dA Z``, the change of T is ``M - X T + T X``. It has no elements
below the diagonal: this determines those of X, column by column, by triangular systems.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.filled import zeros_like
from ...ops import concat, conj, diagonal, expand_dims, imag, is_complex, matmul, tril, triu
from ...ops.spectra import _coincide, _unless, _unless_close
from ..twins import twin
from .stacked import SCIPY, adjoint, matrix, matrix_op
from .systems import solve_triangular

__all__ = ["schur"]


def _unless_coincide(values: Any, x: Any) -> Any:
    """`x`; raises if eigenvalues coincide."""
    close = _coincide(values)
    return _unless_close(close, 1.0 * close, x, [0 * values], values, "schur")


def _columns(t: Any, m: Any, transposed: bool) -> Any:
    """The X below the diagonal for which ``X T - T X`` equals `m` there; or the adjoint of this."""
    n = t.shape[-1]
    values = diagonal(t, axis1=-2, axis2=-1)
    m = _unless_coincide(values, m)
    found: dict[int, Any] = {}
    for j in range(n - 2, -1, -1) if transposed else range(n - 1):
        rest = m[..., j + 1 :, j]
        for k, column in found.items():
            if transposed:  # column k has only the last rows
                part = conj(t[..., j, k]) if is_complex(t) else t[..., j, k]
                pad = zeros_like(rest, (*rest.shape[:-1], k - j))
                rest = rest - concat((pad, column), axis=-1) * expand_dims(part, axis=-1)
            else:
                part = t[..., k, j]
                rest = rest - column[..., j - k :] * expand_dims(part, axis=-1)
        system = expand_dims(t[..., j, j], axis=(-2, -1)) * np.eye(n - 1 - j)
        system = system - t[..., j + 1 :, j + 1 :]
        kind = "C" if transposed else "N"
        solved = solve_triangular(
            system, expand_dims(rest, axis=-1), trans=kind, check_finite=False
        )
        found[j] = solved[..., 0]
    columns = [
        concat((zeros_like(m, (*m.shape[:-2], j + 1)), found[j]), axis=-1) for j in range(n - 1)
    ]
    columns.append(zeros_like(m, (*m.shape[:-2], n)))
    return concat([expand_dims(c, axis=-1) for c in columns], axis=-1)


def _vjp(gs: Any, out: Any) -> Any:
    t, z = out
    g = triu(gs[0]) if gs[0] is not None else zeros_like(t)
    turn = matmul(adjoint(t), g) - matmul(g, adjoint(t))
    if gs[1] is not None:
        turn = turn + matmul(adjoint(z), gs[1])
    if is_complex(turn):
        turn = _unless(
            imag(diagonal(turn, axis1=-2, axis2=-1)),
            turn,
            "the loss depends on the phase of the vectors of schur, which is arbitrary, so it has "
            "no gradient: use only what stays the same when each vector is multiplied by a number "
            "of modulus one",
        )
    inner = g + _columns(t, tril(turn - adjoint(turn), k=-1), True)
    return matmul(matmul(z, inner), adjoint(z))


def _jvp(t: Any, out: Any) -> Any:
    form, z = out
    inner = matmul(adjoint(z), matmul(t + zeros_like(z), z))
    lower = _columns(form, tril(inner, k=-1), False)
    turn = lower - adjoint(lower)
    return triu(inner - matmul(turn, form) + matmul(form, turn)), matmul(z, turn)


def _compute(a: Any, *, output: str) -> Any:
    t, z = SCIPY.schur(a, output=output, check_finite=False)
    if np.count_nonzero(np.tril(t, -1)):
        # Rounding makes a complex pair of two real values that coincide.
        _unless_coincide(np.linalg.eigvals(t), None)
        raise NotImplementedError(
            "schur of a real matrix with complex eigenvalues has a derivative here only with "
            "output='complex'"
        )
    return t, z


_schur = matrix_op(
    "schur",
    "a",
    compute=_compute,
    shapes=lambda a, output: (a, a),
    multiple=True,
    vjp=_vjp,
    jvp=_jvp,
    holomorphic=False,
)


@twin(SCIPY.schur)
def schur(a: Any, output: str) -> Any:
    """The Schur decomposition, with a triangular form. The vectors' signs or phases are SciPy's."""
    a = matrix(a, "schur")
    if output not in ("real", "complex", "r", "c"):
        raise ValueError("argument must be 'real', or 'complex'")
    return _schur(a, output=output)
