"""Cases of `scipy.sparse` and `scipy.sparse.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from crossing import IS_RECENT, Case

import arraygrad.scipy.sparse  # noqa: F401  (it teaches SciPy's matrices to multiply tensors)

_rng = np.random.default_rng(7)
_constant = scipy.sparse.csr_array(
    np.where(_rng.random((4, 5)) < 0.5, _rng.uniform(0.0, 1.0, (4, 5)), 0.0)
)
_rows = np.array([0, 0, 1, 2, 2, 3, 3, 1, 0])
_columns = np.array([0, 2, 1, 2, 0, 3, 1, 3, 0])  # the first place twice
_free = np.array([0, 1, 3])
_csr = _rng.normal(size=6), np.array([1, 0, 2, 1, 0, 3]), np.array([0, 2, 3, 6])


def _any(*shape: int) -> Any:
    return _rng.normal(size=shape)


def _square(sp: Any, data: Any) -> Any:
    """A sparse matrix with a large diagonal, and elements at some places."""
    elements = sp.sparse.coo_array((data, (_rows, _columns)), shape=(4, 4))
    return (elements + 5 * scipy.sparse.eye_array(4)).tocsc()


def _symmetric(sp: Any, data: Any) -> Any:
    elements = sp.sparse.coo_array((data, (_rows, _columns)), shape=(4, 4))
    return (elements + elements.T + scipy.sparse.diags_array(np.arange(4.0) * 3 + 5)).tocsr()


def _triangle(sp: Any, data: Any, lower: bool) -> Any:
    """A triangular sparse matrix with elements at some places below or above the diagonal."""
    low, high = np.minimum(_rows, _columns), np.maximum(_rows, _columns)
    places = (high, low) if lower else (low, high)
    elements = sp.sparse.coo_array((data, places), shape=(4, 4))
    return (elements + 5 * scipy.sparse.eye_array(4)).tocsr()


def _solution(name: str, **options: Any) -> Case:
    symmetric = name in ("cg", "minres")
    matrix = _symmetric if symmetric else _square

    def call(sp: Any, data: Any, b: Any) -> Any:
        return getattr(sp.sparse.linalg, name)(matrix(sp, data), b, **options)[0]

    return Case(f"sparse.linalg.{name}", call, (_any(9), _any(4)), rtol=1e-9)


CASES = [
    Case("sparse A @ x", lambda sp, x: _constant @ x, (_any(5),)),
    Case("sparse A @ columns", lambda sp, x: _constant @ x, (_any(5, 2),)),
    Case("sparse x @ A", lambda sp, x: x @ _constant, (_any(4),)),
    Case("sparse rows @ A", lambda sp, x: x @ _constant, (_any(2, 4),)),
    Case(
        "sparse.csr_array @ x",
        lambda sp, data, x: sp.sparse.csr_array((data, _csr[1], _csr[2]), shape=(3, 4)) @ x,
        (_csr[0], _any(4)),
    ),
    Case(
        "sparse.csc_array, x @ A",
        lambda sp, data, x: x @ sp.sparse.csc_array((data, _csr[1], _csr[2]), shape=(4, 3)),
        (_csr[0], _any(4)),
    ),
    Case(
        "sparse.coo_array, toarray",
        lambda sp, data: sp.sparse.coo_array((data, (_rows, _columns))).toarray(),
        (_any(9),),
    ),
    Case(
        "sparse.csr_array of a dense matrix",
        lambda sp, a: sp.sparse.csr_array(a).T @ np.arange(3.0),
        (_any(3, 2),),
    ),
    Case("sparse sum", lambda sp, data: _square(sp, data).sum(axis=1), (_any(9),)),
    Case("sparse diagonal", lambda sp, data: _square(sp, data).diagonal(), (_any(9),)),
    Case(
        "sparse sums and multiples",
        lambda sp, data: (2 * _square(sp, data) - _square(sp, data).T / 3).toarray(),
        (_any(9),),
    ),
    Case(
        "sparse product of two",
        lambda sp, a, b: (_square(sp, a) @ _square(sp, b)).toarray(),
        (_any(9), _any(9)),
    ),
    Case(
        "sparse product with a constant",
        lambda sp, a: (_square(sp, a) @ _constant).toarray(),
        (_any(9),),
    ),
    Case(
        "sparse constant times tensors",
        lambda sp, a: (_constant.T @ _square(sp, a)).toarray(),
        (_any(9),),
    ),
    Case(
        "sparse multiply",
        lambda sp, a, b: _square(sp, a).multiply(b).toarray(),
        (_any(9), _any(4, 4)),
    ),
    Case(
        "sparse multiply by rows and sparse matrices",
        lambda sp, a, b: [
            product.toarray()
            for kind in (sp.sparse.csr_array, sp.sparse.csr_matrix)
            for other in (b, _constant[:, :4], _square(sp, a))
            for product in [kind(_square(sp, a)).multiply(other).tocsr()]
        ],
        (_any(9), _any(4, 1)),
    ),
    Case(
        "sparse.diags_array",
        lambda sp, a, b: sp.sparse.diags_array([a, b], offsets=[0, -1]).toarray(),
        (_any(4), _any(3)),
    ),
    Case("sparse.diags", lambda sp, a: sp.sparse.diags(a, 1).toarray(), (_any(3),)),
    Case(
        "sparse.kron",
        lambda sp, a: sp.sparse.kron(_square(sp, a), _constant).toarray(),
        (_any(9),),
    ),
    Case(
        "sparse.block_array",
        lambda sp, a: sp.sparse.block_array(
            [[_square(sp, a), _constant], [None, _constant]]
        ).toarray(),
        (_any(9),),
    ),
    Case(
        "sparse.vstack",
        lambda sp, a: sp.sparse.vstack([_square(sp, a), _square(sp, 2 * a)]).toarray(),
        (_any(9),),
    ),
    Case(
        "sparse.linalg.spsolve",
        lambda sp, data, b: sp.sparse.linalg.spsolve(_square(sp, data), b),
        (_any(9), _any(4)),
    ),
    Case(
        "sparse.linalg.spsolve, constant matrix, columns",
        lambda sp, b: sp.sparse.linalg.spsolve(_square(scipy, np.arange(9.0)), b),
        (_any(4, 2),),
    ),
    Case(
        "sparse.linalg.splu of a constant",
        lambda sp, b: sp.sparse.linalg.splu(_square(scipy, np.arange(9.0))).solve(b, "T"),
        (_any(4),),
    ),
    Case(
        "sparse.linalg.splu",
        lambda sp, data, b: sp.sparse.linalg.splu(_square(sp, data)).solve(b),
        (_any(9), _any(4)),
        batch=False,
    ),
    _solution("cg", rtol=1e-13),
    _solution("minres", rtol=1e-14),
    _solution("gmres", rtol=1e-13),
    *[
        _solution(name, rtol=1e-13)
        for name in ("bicg", "bicgstab", "cgs", "gcrotmk", "lgmres", "qmr", "tfqmr")
    ],
    Case(
        "sparse.linalg.lsqr",
        lambda sp, data, b: sp.sparse.linalg.lsqr(
            sp.sparse.vstack([_square(sp, data), _constant[:, :4]]), b, atol=1e-14, btol=1e-14
        )[0],
        (_any(9), _any(8)),
        rtol=1e-8,
    ),
    Case(
        "sparse.linalg.lsqr, damp",
        lambda sp, data, b: sp.sparse.linalg.lsqr(
            _square(sp, data), b, 0.5, atol=1e-14, btol=1e-14
        )[0],
        (_any(9), _any(4)),
        rtol=1e-8,
    ),
    Case(
        "sparse.linalg.eigsh",
        lambda sp, data: (lambda w, v: (w, v * v[0]))(
            *sp.sparse.linalg.eigsh(_symmetric(sp, data), k=2, v0=np.ones(4))
        ),
        (_any(9),),
        rtol=1e-9,
    ),
    Case(
        "sparse.linalg.svds",
        lambda sp, data: (lambda u, s, v: (u * u[0], s, v * v[:, :1]))(
            *sp.sparse.linalg.svds(_square(sp, data), k=2, v0=np.ones(4))
        ),
        (_any(9),),
        rtol=1e-9,
    ),
    Case(
        "sparse.linalg.svds, smallest values",
        lambda sp, data: sp.sparse.linalg.svds(
            _square(sp, data), k=2, which="SM", v0=np.ones(4), return_singular_vectors=False
        ),
        (_any(9),),
        rtol=1e-9,
    ),
    Case(
        "sparse.linalg.expm_multiply",
        lambda sp, data, b: sp.sparse.linalg.expm_multiply(
            sp.sparse.coo_array((data, (_rows[:4], _columns[:4])), shape=(3, 3)), b
        ),
        (0.5 * _any(4), _any(3)),
    ),
    Case(
        "sparse.linalg.lsqr, complex",
        lambda sp, data, b: sp.sparse.linalg.lsqr(
            sp.sparse.coo_array((data, (_rows[:9], _columns[:9])), shape=(6, 4)),
            b,
            damp=0.5,
            atol=1e-14,
            btol=1e-14,
        )[0],
        (_any(9) + 1j * _any(9), _any(6) + 1j * _any(6)),
        rtol=1e-8,
        tolerance=1e-5,
    ),
    Case(
        "sparse.linalg.eigsh, values",
        lambda sp, data: sp.sparse.linalg.eigsh(
            _symmetric(sp, data), k=2, v0=np.ones(4), return_eigenvectors=False
        ),
        (_any(9),),
        rtol=1e-9,
    ),
    *[
        Case(
            f"sparse.linalg.eigs, which={which}, vectors={vectors}",
            lambda sp, data, which=which, vectors=vectors: (
                lambda found: found[0] if vectors else found
            )(
                sp.sparse.linalg.eigs(
                    _square(sp, data),
                    k=2,
                    v0=np.ones(4),
                    which=which,
                    return_eigenvectors=vectors,
                )
            ),
            (_any(9),),
            rtol=1e-9,
            second=False,
        )
        for which, vectors in (("LM", True), ("LR", False))
    ],
    # SciPy's older matrices: the operator * is the matrix product.
    Case(
        "sparse.csr_matrix * x",
        lambda sp, data, x: (
            (a := sp.sparse.csr_matrix(_square(sp, data))) * x,
            (a * a).toarray(),
            x * a,
        ),
        (_any(9), _any(4)),
    ),
    Case(
        "sparse: a constant array times a tensor, element by element",
        lambda sp, x: (
            *[(y * _constant).toarray() for y in (x, x[0], x[:4, None])],
            (_constant * x).toarray(),
            (_constant / x[0]).toarray(),
            (_constant.multiply(x)).toarray(),
            x - _constant,
        ),
        (_any(5),),
    ),
    Case(
        "sparse: dtype",
        lambda sp, data: sp.sparse.diags_array(data, dtype=complex).toarray() * 1j,
        (_any(4),),
    ),
    Case(
        "sparse: parts",
        lambda sp, data: [
            part.toarray() if hasattr(part, "toarray") else part
            for a in (_square(sp, data), sp.sparse.csr_matrix(_square(sp, data)))
            for part in (
                a[_free, :][:, _free],
                a[np.ix_(_free, _free[::-1])],
                a[1:, ::2],
                a[np.array([True, False, True, True])],
                a[np.array([0, 0, 2]), :],
                a[0, 2],
                a[3, 0],
            )
        ],
        (_any(9),),
    ),
    Case(
        "sparse.linalg.lsmr",
        lambda sp, data, b: sp.sparse.linalg.lsmr(
            sp.sparse.vstack([_square(sp, data), _constant[:, :4]]), b, atol=1e-14, btol=1e-14
        )[0],
        (_any(9), _any(8)),
        rtol=1e-8,
    ),
    Case(
        "sparse.linalg.lsmr, damp",
        lambda sp, data, b: sp.sparse.linalg.lsmr(
            _square(sp, data), b, 0.5, atol=1e-14, btol=1e-14
        )[0],
        (_any(9), _any(4)),
        rtol=1e-8,
    ),
    *[
        Case(
            f"sparse.linalg.spsolve_triangular, {lower=}, {unit=}",
            lambda sp, data, b, lower=lower, unit=unit: sp.sparse.linalg.spsolve_triangular(
                _triangle(sp, data, lower), b, lower=lower, unit_diagonal=unit
            ),
            (_any(9), _any(4, 2) if unit else _any(4)),
        )
        for lower in (True, False)
        for unit in (True, False)
        if IS_RECENT  # older versions need indices of another type
    ],
    Case(
        "sparse.linalg.inv",
        lambda sp, data: sp.sparse.linalg.inv(_square(sp, data)).toarray(),
        (_any(9),),
    ),
    Case(
        "sparse.linalg.expm",
        lambda sp, data: sp.sparse.linalg.expm(_square(sp, data) * 0.2).toarray(),
        (_any(9),),
    ),
    Case(
        "sparse.linalg.norm",
        lambda sp, data: [
            sp.sparse.linalg.norm(a, *options)
            for a in (_square(sp, data), sp.sparse.csr_matrix(_square(sp, data)))[not IS_RECENT :]
            for options in (
                *((), ("fro",), (1,), (-1,), (np.inf,), (-np.inf,)),
                *((None, 0), (2, 1), (1, 0), (1, -1), (1, (1, 0))),
            )
        ],
        (_any(9),),
    ),
    Case(
        "sparse.linalg.norm, a row of zeros",
        lambda sp, data: sp.sparse.linalg.norm(
            sp.sparse.coo_array((data, ([0, 2], [1, 0])), shape=(3, 2)), axis=1
        ),
        (_any(2),),
    ),
    Case(
        "sparse.spdiags",
        lambda sp, data: [
            sp.sparse.spdiags(data, [0, -1, 2], *size).toarray()
            for size in ((4, 4), (3, 5), (6, 2))
        ],
        (_any(3, 4),),
    ),
    Case(
        "sparse.dia_array",
        lambda sp, data: (
            sp.sparse.dia_array((data, [1, -2]), shape=(5, 4)) @ np.arange(4.0),
            sp.sparse.dia_matrix((data[0], 1), shape=(4, 5)).toarray(),
        ),
        (_any(2, 4),),
    ),
]

CASES += [
    Case(
        "sparse powers",
        lambda sp, data: [
            ((m := _square(sp, data)) ** 2).toarray(),
            (sp.sparse.csr_matrix(m) ** 3).toarray(),
        ],
        (_any(9),),
    ),
    Case("sparse trace", lambda sp, data: _square(sp, data).trace(), (_any(9),)),
    *[
        Case(
            f"sparse diagonal {k}, power, mean",
            lambda sp, data, k=k: [
                (m := _square(sp, data)[:, [0, 1, 3]]).diagonal(k),
                m.power(3).toarray(),
                m.mean(),
                m.mean(axis=0),
                m.mean(axis=-1),
            ],
            (_any(9),),
        )
        for k in (-1, 1)
    ],
    *[
        Case(
            f"sparse.{name} max, min k={k}",
            lambda sp, data, k=k, name=name: [
                (part := getattr(sp.sparse, name)(_square(sp, data), k)).toarray(),
                part.max(),
                part.tocsr().min(),
            ],
            (_any(9),),
        )
        for name in ("tril", "triu")
        for k in (-1, 0, 2)
    ],
]
