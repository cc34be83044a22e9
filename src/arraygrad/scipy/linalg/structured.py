"""Matrices with a structure: Toeplitz, circulant, banded and more, and systems with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.filled import zeros_like
from ...fft import fft, ifft
from ...ops import concat, conj, einsum, expand_dims, flip, is_complex, real, reshape, take
from ..twins import floating, twin
from .stacked import SCIPY, columns, matrix, matrix_op, uncolumned

__all__ = [
    "block_diag",
    "circulant",
    "companion",
    "convolution_matrix",
    "hankel",
    "khatri_rao",
    "leslie",
    "solve_banded",
    "solve_circulant",
    "solve_toeplitz",
    "solveh_banded",
    "toeplitz",
]

# --- building ------------------------------------------------------------------------------------


def _vector(x: Any, name: str) -> Any:
    x = floating(x)
    if x.ndim != 1:
        raise ValueError(f"{name} of tensors takes one vector, got shape {tuple(x.shape)}")
    return x


def _at(values: Any, index: Any) -> Any:
    """The elements of a vector at an array of places."""
    return reshape(take(values, index.reshape(-1), axis=-1), index.shape)


@twin(SCIPY.toeplitz)
def toeplitz(c: Any, r: Any) -> Any:
    """The matrix with constant diagonals, by its first column and first row."""
    c = _vector(c, "toeplitz")
    r = (conj(c) if is_complex(c) else c) if r is None else _vector(r, "toeplitz")
    m, n = c.shape[0], r.shape[0]
    values = concat((flip(r[1:], axis=0), c), axis=0)
    return _at(values, np.arange(m)[:, None] - np.arange(n) + (n - 1))


@twin(SCIPY.hankel)
def hankel(c: Any, r: Any) -> Any:
    """The matrix with constant antidiagonals, by its first column and last row."""
    c = _vector(c, "hankel")
    r = zeros_like(c) if r is None else _vector(r, "hankel")
    m, n = c.shape[0], r.shape[0]
    return _at(concat((c, r[1:]), axis=0), np.arange(m)[:, None] + np.arange(n))


@twin(SCIPY.circulant)
def circulant(c: Any) -> Any:
    """The matrix whose columns are rotations of a vector."""
    c = _vector(c, "circulant")
    place = np.arange(c.shape[0])
    return _at(c, (place[:, None] - place) % c.shape[0])


@twin(SCIPY.companion)
def companion(a: Any) -> Any:
    """The matrix whose characteristic polynomial has the coefficients `a`."""
    a = _vector(a, "companion")
    n = a.shape[0] - 1
    first = reshape(a[1:] / -a[0], (1, n))
    return concat((first, zeros_like(a, (n - 1, n)) + np.eye(n - 1, n)), axis=0)


@twin(SCIPY.convolution_matrix)
def convolution_matrix(a: Any, n: int, mode: str) -> Any:
    """The matrix whose product with a vector of length `n` is a convolution."""
    a = _vector(a, "convolution_matrix")
    m = a.shape[0]
    padded = concat((a, zeros_like(a, (1,))), axis=0)
    place = np.arange(m + n - 1)[:, None] - np.arange(n)
    full = np.where((place >= 0) & (place < m), place, m)
    if mode == "full":
        rows = slice(None)
    elif mode == "same":
        start = (min(n, m) - 1) // 2
        rows = slice(start, start + max(n, m))
    elif mode == "valid":
        start = min(n, m) - 1
        rows = slice(start, start + max(n, m) - start)
    else:
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    return _at(padded, full[rows])


@twin(SCIPY.leslie)
def leslie(f: Any, s: Any) -> Any:
    """Leslie's matrix of a population, by fecundities and survivals."""
    f, s = _vector(f, "leslie"), _vector(s, "leslie")
    n = f.shape[0]
    below = expand_dims(concat((s, zeros_like(s, (1,))), axis=0), axis=0) * np.eye(n - 1, n)
    return concat((reshape(f, (1, n)), below), axis=0)


@twin(SCIPY.block_diag)
def block_diag(*arrs: Any) -> Any:
    """A matrix of blocks on the diagonal."""
    blocks = [floating(a) for a in arrs]
    blocks = [reshape(b, (1, *b.shape)) if b.ndim == 1 else b for b in blocks]
    blocks = [reshape(b, (1, 1)) if b.ndim == 0 else b for b in blocks]
    width = sum(b.shape[-1] for b in blocks)
    rows, done = [], 0
    for block in blocks:
        lead = block.shape[:-1]
        after = width - done - block.shape[-1]
        parts = (zeros_like(block, (*lead, done)), block, zeros_like(block, (*lead, after)))
        rows.append(concat(parts, axis=-1))
        done += block.shape[-1]
    return concat(rows, axis=-2)


@twin(SCIPY.khatri_rao)
def khatri_rao(a: Any, b: Any) -> Any:
    """The Kronecker products of columns."""
    a, b = matrix(a, "khatri_rao", square=False), matrix(b, "khatri_rao", square=False)
    out = einsum("...ik,...jk->...ijk", a, b)
    return reshape(out, (*out.shape[:-3], a.shape[-2] * b.shape[-2], a.shape[-1]))


# --- banded systems ------------------------------------------------------------------------------
# SciPy keeps a banded matrix by its diagonals: ab[u + i - j, j] = a[i, j].


def _gathered(x: Any, row: Any, column: Any) -> Any:
    """The elements of matrices at places; zero outside."""
    m, n = x.shape[-2:]
    inside = (row >= 0) & (row < m) & (column >= 0) & (column < n)
    place = np.where(inside, row * n + column, m * n).reshape(-1)
    lines = reshape(x, (*x.shape[:-2], m * n))
    padded = concat((lines, zeros_like(lines, (*lines.shape[:-1], 1))), axis=-1)
    return reshape(take(padded, place, axis=-1), (*x.shape[:-2], *inside.shape))


def _turned(ab: Any, l_and_u: tuple[int, int]) -> Any:
    """The diagonals of the transposed matrix."""
    below, above = l_and_u
    k, j = np.ogrid[: below + above + 1, : ab.shape[-1]]
    return _gathered(ab, below + above - k + 0 * j, j + k - below)


def _diagonals(w: Any, x: Any, l_and_u: tuple[int, int]) -> Any:
    """The diagonals of the outer product of columns: the sum of ``w[i] x[j]``."""
    below, above = l_and_u
    n = x.shape[-2]
    k, j = np.ogrid[: below + above + 1, :n]
    row = j + k - above
    place = np.where((row >= 0) & (row < n), row, n)
    padded = concat((w, zeros_like(w, (*w.shape[:-2], 1, w.shape[-1]))), axis=-2)
    rows = take(padded, place.reshape(-1), axis=-2)
    rows = reshape(rows, (*w.shape[:-2], *place.shape, w.shape[-1]))
    return einsum("...kjc,...jc->...kj", rows, x)


def _banded_rule(g: Any, wanted: Any, ab: Any, out: Any, l_and_u: Any) -> Any:
    w = _banded(_turned(ab, l_and_u), g, l_and_u=l_and_u[::-1])
    return -_diagonals(w, out, l_and_u) if wanted[0] else None, w


def _times(ab: Any, x: Any, l_and_u: tuple[int, int]) -> Any:
    """The product of a banded matrix and columns."""
    below, above = l_and_u
    n = x.shape[-2]
    rows = _turned(ab, l_and_u)  # rows[k, i] = a[i, i + k - below]
    k, i = np.ogrid[: below + above + 1, :n]
    column = i + k - below
    place = np.where((column >= 0) & (column < n), column, n)
    padded = concat((x, zeros_like(x, (*x.shape[:-2], 1, x.shape[-1]))), axis=-2)
    parts = take(padded, place.reshape(-1), axis=-2)
    parts = reshape(parts, (*x.shape[:-2], *place.shape, x.shape[-1]))
    return einsum("...kic,...ki->...ic", parts, rows)


_banded = matrix_op(
    "solve_banded",
    "ab",
    "b",
    compute=lambda ab, b, *, l_and_u: SCIPY.solve_banded(l_and_u, ab, b, check_finite=False),
    shapes=lambda ab, b, l_and_u: (b,),
    joint=_banded_rule,
    jvp=lambda t_ab, t_b, ab, out, l_and_u: _banded(
        ab, t_b - _times(t_ab, out, l_and_u), l_and_u=l_and_u
    ),
)


def banded(l_and_u: tuple[int, int], ab: Any, b: Any) -> Any:
    """The solution of a banded system, for vectors or columns."""
    b, vector = columns(b)
    return uncolumned(_banded(ab, b, l_and_u=tuple(l_and_u)), vector)


@twin(SCIPY.solve_banded)
def solve_banded(l_and_u: Any, ab: Any, b: Any) -> Any:
    """The solution of a banded system, given by its diagonals."""
    ab, b = matrix(ab, "solve_banded", square=False), floating(b)
    below, above = (int(n) for n in l_and_u)
    if below + above + 1 != ab.shape[-2]:
        raise ValueError(
            f"invalid values for the number of lower and upper diagonals: l+u+1 "
            f"({below + above + 1}) does not equal ab.shape[0] ({ab.shape[-2]})"
        )
    return banded((below, above), ab, b)


@twin(SCIPY.solveh_banded)
def solveh_banded(ab: Any, b: Any, lower: bool) -> Any:
    """The solution of a Hermitian banded system, given by the diagonals of one triangle."""
    ab, b = matrix(ab, "solveh_banded", square=False), floating(b)
    width, n = ab.shape[-2] - 1, ab.shape[-1]
    k, j = np.ogrid[: 2 * width + 1, :n]
    offset = width - k  # j - i: how far above the diagonal
    own = offset <= 0 if lower else offset >= 0
    if lower:
        row, column = np.where(own, -offset, offset), np.where(own, j, j - offset)
    else:
        row, column = np.where(own, width - offset, width + offset), np.where(own, j, j - offset)
    full = _gathered(ab, row + 0 * j, column + 0 * k)
    if is_complex(full):
        full = full * (own & (offset != 0)) + conj(full) * ~own + real(full) * (offset == 0)
    return banded((width, width), full, b)


# --- Toeplitz and circulant systems --------------------------------------------------------------


def _lags(w: Any, x: Any) -> Any:
    """For each lag k, the sum of ``w[j + k] x[j]`` over rows and columns, as a column."""
    n = x.shape[-2]
    place = np.arange(n)[:, None] + np.arange(n)
    padded = concat((w, zeros_like(w, (*w.shape[:-2], 1, w.shape[-1]))), axis=-2)
    rows = take(padded, np.minimum(place, n).reshape(-1), axis=-2)
    rows = reshape(rows, (*w.shape[:-2], n, n, w.shape[-1]))
    return expand_dims(einsum("...kjc,...jc->...k", rows, x), axis=-1)


def _toeplitz_rule(g: Any, wanted: Any, c: Any, r: Any, out: Any) -> Any:
    w = _toeplitz(_first_column(r, c), c, g)  # the transposed matrix
    by_c = -_lags(w, out) if wanted[0] else None
    by_r = None
    if wanted[1]:
        by_r = -_lags(out, w) * (np.arange(out.shape[-2]) > 0)[:, None]
    return by_c, by_r, w


def _first_column(r: Any, c: Any) -> Any:
    """The first row as a column; its corner is that of `c`."""
    return concat((c[..., :1, :], r[..., 1:, :]), axis=-2)


def _toeplitz_along(t_c: Any, t_r: Any, t_b: Any, c: Any, r: Any, out: Any) -> Any:
    n = out.shape[-2]
    place = np.arange(n)[:, None] - np.arange(n)
    values = concat((flip(t_r[..., 1:, :], axis=-2), t_c), axis=-2)
    change = take(values, (place + n - 1).reshape(-1), axis=-2)
    change = reshape(change, (*change.shape[:-2], n, n))
    return _toeplitz(c, r, t_b - change @ out)


_toeplitz = matrix_op(
    "solve_toeplitz",
    "c",
    "r",
    "b",
    # Copies: SciPy's older versions want arrays that can be written.
    compute=lambda c, r, b: SCIPY.solve_toeplitz(
        (np.array(c[:, 0]), np.array(r[:, 0])), np.array(b), check_finite=False
    ),
    shapes=lambda c, r, b: (b,),
    joint=_toeplitz_rule,
    jvp=_toeplitz_along,
)


@twin(SCIPY.solve_toeplitz)
def solve_toeplitz(c_or_cr: Any, b: Any) -> Any:
    """The solution of a system with constant diagonals."""
    if isinstance(c_or_cr, tuple):
        c, r = (_vector(x, "solve_toeplitz") for x in c_or_cr)
    else:
        c = _vector(c_or_cr, "solve_toeplitz")
        r = conj(c) if is_complex(c) else c
    b = floating(b)
    b, vector = columns(b)
    c, r = expand_dims(c, axis=-1), expand_dims(r, axis=-1)
    return uncolumned(_toeplitz(c, r, b), vector)


@twin(SCIPY.solve_circulant)
def solve_circulant(c: Any, b: Any) -> Any:
    """The solution of a circulant system, by Fourier transforms."""
    c, b = _vector(c, "solve_circulant"), floating(b)
    values = fft(c, axis=-1)
    values = reshape(values, (c.shape[0], *(1,) * (b.ndim - 1)))
    out = ifft(fft(b, axis=0) / values, axis=0)
    return out if is_complex(c) or is_complex(b) else real(out)
