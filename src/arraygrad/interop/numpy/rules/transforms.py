"""NumPy's linear algebra and Fourier transforms."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import fft, linalg, ops
from ....core.array import AnyFunction, plain
from ....ops.shape import as_inexact
from ....ops.spectra import eigh_of_triangle
from ..values import written
from .common import NONE, RULES, array_of, rule_for, with_arguments_of

# --- linear algebra ------------------------------------------------------------------------------


@rule_for(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = as_inexact(array_of(x))
    if axis is None and (ord is None or x.ndim == 1):
        flat = linalg.vector_norm(ops.ravel(x), ord=2 if ord is None else ord)
        return ops.reshape(flat, (1,) * x.ndim) if keepdims else flat
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = axes if isinstance(axes, tuple | list) else (axes,)
    if len(axes) == 1:
        return linalg.vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(f"numpy.linalg.norm: axis must be one or two axes, got {axis}")
    moved = ops.moveaxis(x, tuple(axes), (-2, -1))
    out = linalg.matrix_norm(moved, ord="fro" if ord is None else ord)
    return ops.expand_dims(out, axis=tuple(sorted(a % x.ndim for a in axes))) if keepdims else out


def _is_upper(uplo: Any) -> bool:
    """Whether NumPy was told to read the upper triangle."""
    if uplo not in ("L", "l", "U", "u"):
        raise ValueError(f"UPLO must be 'L' or 'U', not {uplo!r}")
    return uplo in "Uu"


@rule_for(np.linalg.eigh)
def _eigh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803
    return eigh_of_triangle(a, upper=_is_upper(UPLO))


@rule_for(np.linalg.eigvalsh)
def _eigvalsh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803
    return linalg.eigvalsh(ops.conj(ops.matrix_transpose(a)) if _is_upper(UPLO) else a)


@rule_for(np.linalg.svd)
def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if not compute_uv:
        return linalg.svdvals(a)
    return linalg.svd(a, full_matrices=full_matrices)


@rule_for(np.linalg.qr)
def _qr(a: Any, mode: str = "reduced") -> Any:
    return linalg.qr(a, mode="reduced").R if mode == "r" else linalg.qr(a, mode=mode)


@rule_for(np.linalg.pinv)
def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NONE) -> Any:
    return linalg.pinv(a, rtol=rcond if rtol is NONE else rtol)


@rule_for(np.linalg.multi_dot)
def _multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    return written(out, functools.reduce(ops.matmul, arrays), "numpy.linalg.multi_dot")


@rule_for(np.linalg.lstsq)
def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    found = linalg.lstsq(array_of(a), array_of(b), rcond)
    ranks = np.unique(plain(found.rank))  # of all members of a batch
    residuals = found.residuals if ranks[0] == a.shape[-1] else found.residuals[:0]
    rank = int(ranks[0]) if len(ranks) == 1 else found.rank
    return found.solution, residuals, rank, found.singular_values


@rule_for(np.linalg.tensorsolve)
def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = array_of(a), array_of(b)
    if axes is not None:
        moved = tuple(i % a.ndim for i in axes)
        a = ops.permute_dims(a, (*(i for i in range(a.ndim) if i not in moved), *moved))
    shape = tuple(a.shape[b.ndim :])
    matrix = ops.reshape(a, (b.size, math.prod(shape)))
    return ops.reshape(linalg.solve(matrix, ops.ravel(b)), shape)


@rule_for(np.linalg.tensorinv)
def _tensorinv(a: Any, ind: int = 2) -> Any:
    rows, columns = tuple(a.shape[:ind]), tuple(a.shape[ind:])
    matrix = ops.reshape(a, (math.prod(rows), math.prod(columns)))
    return ops.reshape(linalg.inv(matrix), columns + rows)


@rule_for(np.linalg.cond)
def _cond(x: Any, p: Any = None) -> Any:
    if p in (None, 2, -2):
        s = linalg.svdvals(x)
        largest, smallest = s[..., 0], s[..., -1]
        if p == -2:
            largest, smallest = smallest, largest
        return ops.where(ops.equal(smallest, 0), math.inf, largest / smallest)
    return linalg.matrix_norm(x, ord=p) * linalg.matrix_norm(linalg.inv(x), ord=p)


# --- Fourier transforms --------------------------------------------------------------------------


def _in_plane(function: AnyFunction) -> AnyFunction:
    """A transform along any axes, for the last two axes by default."""

    def transform(x: Any, /, *, s: Any = None, axes: Any = (-2, -1), norm: Any = "backward") -> Any:
        return function(x, s=s, axes=axes, norm=norm)

    return transform


for _name in ("fft", "ifft", "rfft", "irfft"):
    _theirs = getattr(np.fft, f"{_name}2")
    RULES[_theirs] = with_arguments_of(_theirs, _in_plane(getattr(fft, f"{_name}n")), 1)
