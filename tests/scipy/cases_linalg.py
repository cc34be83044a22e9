"""Cases of `scipy.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np
from crossing import IS_RECENT, Case

_rng = np.random.default_rng(3)


def _near_identity(n: int = 3, size: float = 0.4) -> Any:
    return np.eye(n) + size * _rng.normal(size=(n, n)) / np.sqrt(n)


def _positive(n: int = 3) -> Any:
    half = _rng.normal(size=(n, n))
    return half @ half.T + np.diag(np.arange(1.0, n + 1))


def _with_values(*values: float) -> Any:
    """A symmetric matrix with some singular values."""
    turn = np.linalg.qr(_rng.normal(size=(len(values), len(values))))[0]
    return (turn * values) @ turn.T


def _complex(*shape: int) -> Any:
    return _rng.normal(size=shape) + 1j * _rng.normal(size=shape)


def _any(*shape: int) -> Any:
    return _rng.normal(size=shape)


def _case(name: str, *arrays: Any, label: str = "", flags: Any = None, **keywords: Any) -> Case:
    options = ", ".join(f"{k}={v}" for k, v in keywords.items())
    return Case(
        f"linalg.{name}({options}){label}",
        lambda sp, *args: getattr(sp.linalg, name)(*args, **keywords),
        arrays,
        **(flags or {}),
    )


def _vectors(*arrays: Any, **keywords: Any) -> Case:
    """`eigh`, without the signs of the vectors: SciPy's change by chance."""

    def call(sp: Any, *args: Any) -> Any:
        values, vectors = sp.linalg.eigh(*args, **keywords)
        return values, vectors * vectors[:1]

    return Case(f"linalg.eigh({', '.join(f'{k}={v}' for k, v in keywords.items())})", call, arrays)


CASES = [
    # Functions of matrices.
    _case("expm", _any(3, 3)),
    _case("expm", _any(33, 33) / 6, label=" large", flags={"second": False}),
    _case("expm", _complex(2, 2), label=" complex"),
    _case("expm_frechet", _any(2, 2), _any(2, 2)),
    Case(
        "linalg.expm_frechet of stacks",
        lambda sp, a, e: sp.linalg.expm_frechet(a, e),
        (_any(1, 2, 2, 2), _any(3, 1, 2, 2)),
    ),
    _case("logm", _near_identity(2)),
    _case("sqrtm", _near_identity()),
    _case("sqrtm", -_near_identity(), label=" complex result"),
    _case("fractional_matrix_power", _near_identity(2), t=0.3),
    Case(
        "linalg.fractional_matrix_power by t",
        lambda sp, a, t: sp.linalg.fractional_matrix_power(a, t),
        (_near_identity(2), np.array(0.3)),
    ),
    Case("linalg.funm", lambda sp, a: sp.linalg.funm(a, np.sin), (_any(3, 3),)),
    *[
        _case(name, 0.5 * _any(2, 2))
        for name in ("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")
    ],
    # Equations.
    _case("solve_sylvester", _near_identity(3), _near_identity(2), _any(3, 2)),
    _case("solve_sylvester", _complex(2, 2), _complex(2, 2), _complex(2, 2), label=" complex"),
    _case("solve_continuous_lyapunov", _near_identity(3), _any(3, 3)),
    _case("solve_continuous_lyapunov", _complex(2, 2), _complex(2, 2), label=" complex"),
    _case("solve_discrete_lyapunov", 0.3 * _any(3, 3), _any(3, 3)),
    _case("solve_discrete_lyapunov", 0.3 * _complex(2, 2), _complex(2, 2), label=" complex"),
    _case("solve_discrete_lyapunov", 0.3 * _any(3, 3), _any(3, 3), method="bilinear"),
    *[
        Case(
            f"linalg.{name}",
            lambda sp, a, b, q, r, name=name: getattr(sp.linalg, name)(a, b, q + q.T, r + r.T),
            (_any(3, 3), _any(3, 2), _positive(3), _positive(2)),
            rtol=1e-9,
            tolerance=1e-5,
        )
        for name in ("solve_continuous_are", "solve_discrete_are")
    ],
    # Linear systems.
    _case("solve", _near_identity(), _any(3)),
    _case("solve", _near_identity(), _any(3, 2), transposed=True),
    _case("solve", _complex(3, 3), _complex(3), label=" complex"),
    _case("solve", _positive(), _any(3, 2), assume_a="pos"),
    _case("solve", _positive(), _any(3, 2), assume_a="pos", lower=True),
    _case("solve", _positive(), _any(3), assume_a="sym"),
    _case("solve", _positive() + 0.1j * np.eye(3), _complex(3), assume_a="sym", label=" complex"),
    *[
        _case("solve", _positive(), _any(3), assume_a=kind, lower=lower)
        for kind in ("diagonal", "tridiagonal", "upper triangular", "lower triangular")
        for lower in (False, True)
        if IS_RECENT
    ],
    *[
        _case("solve", _positive(), _any(3), assume_a="lower triangular", transposed=True)
        for _ in range(IS_RECENT)
    ],
    # Of the diagonal, SciPy reads the real part.
    _case("solve", _positive() + 0.1j * np.eye(3), _complex(3), assume_a="her", label=" complex"),
    _case("solve", _positive() + 0.1j * np.eye(3), _complex(3), assume_a="pos", label=" complex"),
    _case("expm", 20 * _any(15, 15) / 4, label=" with squarings", flags={"second": False}),
    _case("solve_triangular", _near_identity(), _any(3)),
    _case("solve_triangular", _near_identity(), _any(3, 2), lower=True, trans=1),
    _case("solve_triangular", _near_identity(), _any(3, 2), unit_diagonal=True),
    _case("solve_triangular", _complex(3, 3), _complex(3), trans="C"),
    _case("cholesky", _positive()),
    _case("cholesky", _positive(), lower=True),
    # The other triangle has no meaning, and other numbers in each version of SciPy.
    Case(
        "linalg.cho_factor()",
        lambda sp, a: np.triu(sp.linalg.cho_factor(a)[0]),
        (_positive(),),
    ),
    Case(
        "linalg.cho_solve",
        lambda sp, a, b: sp.linalg.cho_solve(sp.linalg.cho_factor(a), b),
        (_positive(), _any(3)),
    ),
    _case("lu", _any(3, 3)),
    _case("lu", _any(4, 2), permute_l=True),
    _case("lu", _any(2, 4), p_indices=True),
    _case("lu_factor", _any(3, 3)),
    *[
        Case(
            f"linalg.lu_solve trans={trans}",
            lambda sp, a, b, trans=trans: sp.linalg.lu_solve(sp.linalg.lu_factor(a), b, trans),
            (_any(3, 3), _any(3, 2)),
        )
        for trans in (0, 1, 2)
    ],
    _case("inv", _near_identity()),
    _case("det", _any(3, 3)),
    _case("pinv", _any(4, 2)),
    _case("pinvh", _positive()),
    Case("linalg.lstsq", lambda sp, a, b: sp.linalg.lstsq(a, b)[:2], (_any(5, 2), _any(5))),
    _case("norm", _any(3, 2)),
    _case("norm", _any(3, 2), ord=1),
    _case("norm", _any(3, 2), ord="nuc"),
    _case("norm", _any(3, 2), axis=1, keepdims=True),
    # Decompositions.
    _vectors(_positive()),
    _vectors(_positive(), lower=False),
    _vectors(_positive(4), subset_by_index=[1, 2]),
    *[_vectors(_any(3, 3), _positive(), type=kind) for kind in (1, 2, 3)],
    _case("eigvalsh", _any(3, 3), _positive()),
    _case("eigvalsh", _any(3, 3), subset_by_value=[-0.5, 100.0]),
    _case("eigvals", _any(3, 3)),
    Case(
        "linalg.eig",
        lambda sp, a: (lambda w, v: (w, v[0] / v[1]))(*sp.linalg.eig(a)),
        (_any(3, 3),),
    ),
    *[
        Case(
            f"linalg.eig with b and left{label}",
            lambda sp, a, b: (lambda w, u, v: (w, u[0] / u[1], v[0] / v[1], abs(u), abs(v)))(
                *sp.linalg.eig(a, b, left=True)
            ),
            (make(3, 3), np.eye(3) + 0.3 * make(3, 3)),
        )
        for make, label in ((_any, ""), (_complex, " complex"))
    ],
    Case(
        "linalg.eig with left",
        lambda sp, a: (lambda w, u: (w, u[0] / u[1], abs(u)))(
            *sp.linalg.eig(a, left=True, right=False)
        ),
        (_any(3, 3),),
    ),
    _case("eigvals", _any(3, 3), _near_identity(), label=" with b"),
    _case("svd", _any(4, 3), full_matrices=False),
    _case("svd", _any(3, 3)),
    _case("svdvals", _any(2, 3)),
    _case("polar", _any(3, 3)),
    _case("polar", _any(4, 2), side="left"),
    _case("polar", _any(2, 4), label=" wide"),
    _case("polar", _complex(3, 2), label=" complex"),
    _case("orthogonal_procrustes", _any(4, 3), _any(4, 3)),
    _case("qr", _any(4, 3), mode="economic"),
    _case("qr", _any(3, 3)),
    _case("qr", _any(4, 3), mode="r"),
    _case("qr", _any(3, 4), mode="economic", pivoting=True),
    _case("ldl", _positive()),
    # With blocks of two rows.
    *[
        Case(
            f"linalg.ldl indefinite, lower={lower}",
            lambda sp, a, lower=lower: sp.linalg.ldl(a - np.diag(np.diag(a)), lower=lower)[:2],
            (_any(4, 4),),
        )
        for lower in (True, False)
    ],
    Case(
        "linalg.schur",
        lambda sp, a: (lambda t, z: (t**2, z * z[:1]))(*sp.linalg.schur(a)),
        (np.diag([1.0, 2.5, 4.0, 6.0]) + 0.3 * _any(4, 4),),
    ),
    Case(
        "linalg.schur complex",
        lambda sp, a: (
            lambda t, z: (np.diagonal(t), abs(t) ** 2, z @ np.diag([1.0, 2.0, 3.0]) @ np.conj(z).T)
        )(*sp.linalg.schur(a, output="complex")),
        (_any(3, 3),),
    ),
    Case("linalg.orth", lambda sp, a: sp.linalg.orth(a), (_any(4, 2),)),
    Case(
        "linalg.null_space",
        lambda sp, a: (lambda n: n @ n.T)(sp.linalg.null_space(a)),
        (_any(2, 4),),
    ),
    # Structured.
    _case("toeplitz", _any(3)),
    _case("toeplitz", _any(3), _any(4), label=" with r"),
    _case("toeplitz", _complex(3), label=" complex"),
    _case("hankel", _any(3)),
    _case("hankel", _any(3), _any(4), label=" with r"),
    _case("circulant", _any(3)),
    _case("companion", _any(4)),
    _case("leslie", _any(4), _any(3)),
    *[_case("convolution_matrix", _any(3), n=4, mode=m) for m in ("full", "same", "valid")],
    _case("block_diag", _any(2, 1), _any(2), _any(1, 3)),
    _case("khatri_rao", _any(2, 3), _any(4, 3)),
    Case(
        "linalg.solve_banded",
        lambda sp, ab, b: sp.linalg.solve_banded((2, 1), ab, b),
        (_any(4, 5) + np.array([0, 5, 0, 0])[:, None], _any(5, 2)),
    ),
    Case(
        "linalg.solve_banded, vector",
        lambda sp, ab, b: sp.linalg.solve_banded((1, 1), ab, b),
        (_any(3, 4) + np.array([0, 5, 0])[:, None], _any(4)),
    ),
    _case("solveh_banded", _any(2, 4) + np.array([0, 5])[:, None], _any(4)),
    _case("solveh_banded", _any(2, 4) + np.array([5, 0])[:, None], _any(4), lower=True),
    _case(
        "solveh_banded", _complex(2, 4) + np.array([0, 5])[:, None], _complex(4), label=" complex"
    ),
    Case(
        "linalg.solve_toeplitz",
        lambda sp, c, r, b: sp.linalg.solve_toeplitz((c, r), b),
        (np.array([4.0, 1.0, 0.5]), np.array([0.0, -1.0, 0.3]), _any(3)),
    ),
    _case("solve_toeplitz", np.array([4.0, 1.0, 0.5]), _any(3, 2)),
    _case("solve_circulant", np.array([4.0, 1.0, 0.5]), _any(3, 2)),
    # Eigenvalues on the negative real axis, where the logarithm jumps.
    *[
        _case(name, np.diag([-1.0, -2.0, 1.5]) + 0.3 * _any(3, 3), label=" negative", **keywords)
        for name, keywords in (("logm", {}), ("fractional_matrix_power", {"t": 0.3}))
    ],
    *[
        Case(
            f"linalg.ldl complex, lower={lower}, hermitian={hermitian}",
            lambda sp, a, lower=lower, hermitian=hermitian: sp.linalg.ldl(
                a + (np.conj(a.T) if hermitian else a.T), lower=lower, hermitian=hermitian
            )[:2],
            (_complex(4, 4) * (1 - 0.99 * np.eye(4)),),
        )
        for lower in (True, False)
        for hermitian in (True, False)
    ],
    Case(
        "linalg.qr tall, with all columns of Q",
        lambda sp, a: (lambda q, r: (q[:, :2], q[:, 2:] @ np.conj(q[:, 2:].T), r))(
            *sp.linalg.qr(a)
        ),
        (_complex(4, 2),),
    ),
    # Singular values that are cut off: of 3, 2, 0.5, 0.3 the last two.
    *[_case(name, _with_values(3.0, 2.0, 0.5, 0.3), rtol=0.4) for name in ("pinv", "pinvh")],
    *[_case(name, _with_values(3.0, 2.0, 0.5, 0.3), atol=0.8) for name in ("pinv", "pinvh")],
    Case(
        "linalg.lstsq(cond=0.4)",
        lambda sp, a, b: sp.linalg.lstsq(a, b, cond=0.4),
        (_with_values(3.0, 2.0, 0.5, 0.3), _any(4)),
    ),
    Case(
        "linalg.null_space(rcond=0.4)",
        lambda sp, a: (lambda n: n @ n.T)(sp.linalg.null_space(a, rcond=0.4)),
        (_with_values(3.0, 2.0, 0.5, 0.3),),
    ),
]
