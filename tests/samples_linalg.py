"""The rows of the table for `linalg`. Imported by `samples`, which says what a row is.

Vectors of a decomposition are arbitrary up to a phase, so the rows use only what does not depend on
it; matrices are drawn with values far apart, where these are differentiable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from samples import Draw, row


def linalg(
    name: str,
    inputs: Callable[[Draw], Any],
    call: Callable[..., Any] | None = None,
    label: str = "",
    *,
    keywords: dict[str, Any] | None = None,
    **flags: Any,
) -> None:
    """Add a row for a function of `linalg`."""
    parts = [label, *(f"{k}={v}" for k, v in (keywords or {}).items())]
    row(
        f"linalg.{name}",
        inputs,
        call,
        " ".join(part for part in parts if part),
        keywords=keywords,
        **{"complex": True, "half": False} | flags,
    )


# --- matrices of a known nature ------------------------------------------------------------------


def unitary(d: Draw, *shape: int) -> Any:
    """Orthonormal columns."""
    return np.linalg.qr(d.any(*shape))[0]


def rectangular(d: Draw, *shape: int) -> Any:
    """Matrices with singular values 1, 2, 3, …"""
    *batch, m, n = shape
    k = min(m, n)
    u, v = unitary(d, *batch, m, k), unitary(d, *batch, n, k)
    return (u * np.arange(1.0, k + 1)) @ v.conj().mT


def hermitian(d: Draw, *shape: int) -> Any:
    """Hermitian, positive definite matrices with eigenvalues 1, 2.5, 4, …"""
    u = unitary(d, *shape)
    return (u * (1.5 * np.arange(shape[-1]) + 1)) @ u.conj().mT


def separated(d: Draw, *shape: int) -> Any:
    """Matrices with complex eigenvalues far apart, and vectors far from parallel."""
    v = unitary(d, *shape) + 0.2 * d.unit(*shape)
    values = 1.5 * np.arange(shape[-1]) + 1
    return (v * values) @ np.linalg.inv(v)


def symmetric(xp: Any, x: Any) -> Any:
    """The Hermitian part."""
    return (x + xp.conj(xp.matrix_transpose(x))) * 0.5


def columns(x: Any) -> Any:
    return x[..., None, :]


# --- products and parts --------------------------------------------------------------------------

linalg("matmul", lambda d: (d.any(2, 3), d.any(3, 2)))
linalg("matrix_transpose", lambda d: d.any(2, 3, 4))
linalg("outer", lambda d: (d.any(2), d.any(3)))
linalg("tensordot", lambda d: (d.any(2, 3), d.any(3, 2)), keywords={"axes": 1})
linalg("vecdot", lambda d: (d.any(2, 3), d.any(2, 3)))
linalg("cross", lambda d: (d.any(3), d.any(3)))
linalg("cross", lambda d: (d.any(2, 3), d.any(3)), label="broadcast")
linalg("cross", lambda d: (d.any(3, 2), d.any(3, 2)), keywords={"axis": 0})
for _shape, _offset in [
    ((3, 3), 0),
    ((2, 3), 1),
    ((2, 3), 2),
    ((3, 2), -1),
    ((4, 2), -3),
    ((2, 3, 3), 1),
    ((2, 3), 3),
    ((2, 2), -5),
    ((0, 2), 0),
]:
    for _name in ("diagonal", "trace"):
        linalg(
            _name,
            lambda d, shape=_shape: d.any(*shape),
            label=f"{_shape}",
            keywords={"offset": _offset},
        )
linalg(
    "trace", lambda d: d.any(3, 3), keywords={"dtype": np.complex128}, complex=False, torch=False
)

# --- systems -------------------------------------------------------------------------------------

for _n in (0, 1, 2, 3, 5, -1, -2):
    linalg(
        "matrix_power",
        lambda d: hermitian(d, 3, 3),
        lambda xp, x, n=_n: xp.linalg.matrix_power(x, n),
        f"n={_n}",
        flat=_n == 0,
    )
linalg("matrix_power", lambda d: d.any(2, 2, 2), lambda xp, x: xp.linalg.matrix_power(x, 3), "3-d")
for _shape in [(1, 1), (3, 3), (2, 3, 3), (0, 2, 2), (0, 0)]:
    linalg("inv", lambda d, shape=_shape: hermitian(d, *shape), label=f"{_shape}")
for _a, _b in [
    ((2, 2), (2,)),
    ((3, 3), (3, 2)),
    ((3, 3), (3, 1)),
    ((2, 2), (2, 2)),
    ((4, 2, 2), (2,)),
    ((4, 2, 2), (4, 2, 3)),
    ((2, 2), (4, 2, 1)),
    ((4, 2, 2), (2, 3)),
    ((2, 1, 2, 2), (3, 2, 1)),
    ((2, 2), (2, 0)),
    ((0, 0), (0, 2)),
    ((0, 2, 2), (2,)),
]:
    linalg("solve", lambda d, a=_a, b=_b: (hermitian(d, *a), d.any(*b)), label=f"{_a},{_b}")
linalg(
    "solve",
    lambda d: hermitian(d, 3, 3),
    lambda xp, x: xp.linalg.solve(x, x[:, 0] ** 2),
    "same input",
)
for _shape in [(3, 3), (3, 2), (2, 4), (2, 3, 2)]:
    linalg("pinv", lambda d, shape=_shape: rectangular(d, *shape), label=f"{_shape}")
for _shape in [(3, 3), (4, 3), (2, 3, 5)]:  # the smallest value of each is cut off
    linalg(
        "pinv",
        lambda d, shape=_shape: rectangular(d, *shape),
        label=f"{_shape}",
        keywords={"rtol": 0.5},
        torch=False,  # its derivative is that of a pseudo-inverse that cuts off nothing
    )
for _a, _b in [((3, 3), (3,)), ((4, 2), (4, 2)), ((2, 4), (2,)), ((3, 1), (3, 0))]:
    linalg(
        "lstsq",
        lambda d, a=_a, b=_b: (rectangular(d, *a), d.any(*b)),
        lambda xp, a, b: xp.linalg.lstsq(a, b)[0],
        f"{_a},{_b}",
        torch=False,
    )
linalg(
    "lstsq",
    lambda d: (rectangular(d, 4, 2), d.any(4, 3)),
    lambda xp, a, b: xp.linalg.lstsq(a, b)[1],
    "residuals",
    torch=False,
)
linalg("matrix_rank", lambda d: rectangular(d, 3, 2), differentiable=False)
linalg("matrix_rank", lambda d: d.any(2, 3, 3) * 0, label="zero", differentiable=False)
linalg("matrix_rank", lambda d: rectangular(d, 3, 3), keywords={"rtol": 0.5}, differentiable=False)

# --- determinants --------------------------------------------------------------------------------

for _shape in [(1, 1), (2, 2), (3, 3), (4, 4), (2, 3, 3), (0, 3, 3), (0, 0)]:
    linalg("det", lambda d, shape=_shape: d.any(*shape), label=f"{_shape}")
for _shape in [(1, 1), (3, 3), (2, 3, 3), (0, 2, 2)]:
    linalg("slogdet", lambda d, shape=_shape: d.any(*shape), label=f"{_shape}")
linalg("slogdet", lambda d: d.any(2, 2), lambda xp, x: xp.linalg.slogdet(x)[0], "sign", flat=True)
linalg("slogdet", lambda d: d.any(2, 2), lambda xp, x: xp.linalg.slogdet(x)[1], "log")

# --- decompositions ------------------------------------------------------------------------------

for _shape in [(1, 1), (3, 3), (2, 3, 3), (0, 2, 2)]:
    for _upper in (False, True):
        linalg(
            "cholesky",
            lambda d, shape=_shape: hermitian(d, *shape),
            lambda xp, x, upper=_upper: xp.linalg.cholesky(symmetric(xp, x), upper=upper),
            f"{_shape} upper={_upper}",
        )
for _shape in [(1, 1), (3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (0, 3, 2)]:
    linalg("qr", lambda d, shape=_shape: rectangular(d, *shape), label=f"{_shape}")
linalg("qr", lambda d: rectangular(d, 2, 3), keywords={"mode": "complete"})
for _part in (0, 1):
    linalg(
        "qr",
        lambda d: rectangular(d, 3, 2),
        lambda xp, x, part=_part: xp.linalg.qr(x)[part],
        "QR"[_part],
    )


def _in_order(xp: Any, values: Any, vectors: Any) -> tuple[Any, Any]:
    """Eigenvalues, which come in any order, in one; and the sizes of the vectors' elements."""
    order = xp.argsort(xp.real(values) + 0.3 * xp.imag(values))
    vectors = xp.take_along_axis(xp.abs(vectors), order[..., None, :], axis=-1)
    return xp.take_along_axis(values, order, axis=-1), vectors


for _shape in [(1, 1), (3, 3), (2, 3, 3), (0, 2, 2)]:
    linalg(
        "eigh",
        lambda d, shape=_shape: hermitian(d, *shape),
        lambda xp, x: (lambda w, v: (w, xp.abs(v)))(*xp.linalg.eigh(symmetric(xp, x))),
        f"{_shape}",
    )
    linalg(
        "eigvalsh",
        lambda d, shape=_shape: hermitian(d, *shape),
        lambda xp, x: xp.linalg.eigvalsh(symmetric(xp, x)),
        f"{_shape}",
    )
    linalg(
        "eig",
        lambda d, shape=_shape: separated(d, *shape),
        lambda xp, x: _in_order(xp, *xp.linalg.eig(x)),
        f"{_shape}",
        reference=lambda x: (lambda w, v: (w + 0j, v))(*_in_order(np, *np.linalg.eig(x))),
    )
    linalg(
        "eigvals",
        lambda d, shape=_shape: separated(d, *shape),
        # In any order.
        lambda xp, x: xp.sum(xp.linalg.eigvals(x) ** 3, axis=-1),
        f"{_shape}",
        reference=lambda x: np.sum((np.linalg.eigvals(x) + 0j) ** 3, axis=-1),
    )
linalg(
    "eigh",
    lambda d: hermitian(d, 3, 3),
    lambda xp, x: xp.abs(xp.linalg.eigh(symmetric(xp, x))[1]),
    "vectors",
)
linalg(
    "eig",
    lambda d: separated(d, 3, 3) + 3 * np.eye(3, k=1) - 3 * np.eye(3, k=-1),
    lambda xp, x: _in_order(xp, *xp.linalg.eig(x))[1],
    "vectors of complex values",
)


def _all_of_svd(xp: Any, x: Any, full_matrices: bool) -> tuple[Any, ...]:
    u, s, vh = xp.linalg.svd(x, full_matrices=full_matrices)
    k = s.shape[-1]
    root = (u[..., :k] * columns(s**0.5)) @ vh[..., :k, :]
    return xp.abs(u[..., :k]), s, xp.abs(vh[..., :k, :]), root


for _shape in [(1, 1), (3, 3), (4, 2), (2, 3), (2, 3, 2), (0, 2, 3)]:
    for _full in (False, True):
        linalg(
            "svd",
            lambda d, shape=_shape: rectangular(d, *shape),
            lambda xp, x, full=_full: _all_of_svd(xp, x, full),
            f"{_shape} full_matrices={_full}",
        )
    linalg("svdvals", lambda d, shape=_shape: rectangular(d, *shape), label=f"{_shape}")
for _part in (0, 2):
    linalg(
        "svd",
        lambda d: rectangular(d, 3, 2),
        lambda xp, x, part=_part: xp.abs(xp.linalg.svd(x, full_matrices=False)[part]),
        "U Vh".split()[_part // 2],
    )


def _outside(xp: Any, x: Any) -> Any:
    """The projection on what is orthogonal to the columns."""
    rest = xp.linalg.svd(x, full_matrices=True)[0][..., 1:]
    return rest @ xp.conj(xp.matrix_transpose(rest))


linalg("svd", lambda d: rectangular(d, 3, 1), _outside, "complement", torch=False)

# --- norms ---------------------------------------------------------------------------------------

for _ord in (2, 1, 0.5, 1.5, 3, -1, -2.5, math.inf, -math.inf):
    linalg(
        "vector_norm",
        lambda d: d.distinct(4) + (1j * d.distinct(4) if d.complex_numbers else 0),
        keywords={"ord": _ord},
    )
    linalg(
        "vector_norm",
        lambda d: d.distinct(2, 3) + (1j * d.distinct(2, 3) if d.complex_numbers else 0),
        keywords={"ord": _ord, "axis": 0, "keepdims": True},
    )
linalg("vector_norm", lambda d: d.any(3, 2), keywords={"ord": 0})
linalg("vector_norm", lambda d: d.any(2, 3), keywords={"ord": 0, "axis": 0, "keepdims": True})
linalg("vector_norm", lambda d: d.any(2, 3, 2), keywords={"axis": (2, 0)})
linalg("vector_norm", lambda d: d.any(2, 3))
linalg("vector_norm", lambda d: d.any(), label="0-d")
linalg("vector_norm", lambda d: d.any(0, 2), label="empty", keywords={"axis": 0})
for _ord in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
    linalg("matrix_norm", lambda d: rectangular(d, 3, 2), keywords={"ord": _ord})
    linalg(
        "matrix_norm", lambda d: rectangular(d, 2, 2, 3), keywords={"ord": _ord, "keepdims": True}
    )
