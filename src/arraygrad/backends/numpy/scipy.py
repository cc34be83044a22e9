"""Kernels that use SciPy, if it is installed, where it is faster than NumPy.

SciPy's special functions are in `backends.special`.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from .blocks import LARGE
from .threads import get_num_threads


@functools.cache
def scipy_part(name: str) -> Any:
    """A submodule of SciPy, imported at the first use; None if SciPy is not installed."""
    try:
        return importlib.import_module(f"scipy.{name}")
    except ImportError:
        return None


# --- Fourier transforms --------------------------------------------------------------------------

# From this number of elements on, SciPy's transforms are faster: they cache their plans.
_LONG = 1 << 12


def transform(name: str, x: Any, s: tuple[int, ...], axis: tuple[int, ...], norm: str) -> Any:
    """The discrete Fourier transform `name` of `numpy.fft`, over one axis or several."""
    fft: Any = scipy_part("fft") if x.size >= _LONG and x.dtype.char in "fdFD" else None
    if fft is None:
        fft, options = np.fft, {}
    else:
        options = {"workers": get_num_threads()} if x.size >= LARGE else {}
    if len(axis) == 1:
        return getattr(fft, name)(x, s[0], axis[0], norm, **options)
    return getattr(fft, f"{name}n")(x, s, axis, norm, **options)


# --- linear systems ------------------------------------------------------------------------------

# From this number of unknowns on, it pays to check whether the matrix is triangular.
_WIDE = 32


def solve(a: Any, b: Any) -> Any:
    """The solution of linear systems; by substitution if the matrix is triangular."""
    if a.ndim == 2 == b.ndim and len(a) >= _WIDE and a.dtype == b.dtype and a.dtype.char in "fdFD":
        lower = _is_upper(a.T)
        if lower or _is_upper(a):
            library = scipy_part("linalg")
            if library is not None:
                return _substitute(library, a, b, lower)
    return np.linalg.solve(a, b)


def _is_upper(a: Any) -> bool:
    """Whether all elements below the diagonal are zero. For most matrices, one element decides."""
    return not a[-1, 0] and not np.any(a, where=_below_diagonal(len(a)))


@functools.lru_cache(4)
def _below_diagonal(n: int) -> Any:
    return np.tri(n, k=-1, dtype=bool)


def _substitute(library: Any, a: Any, b: Any, lower: bool) -> Any:
    if not a.diagonal().all():
        raise np.linalg.LinAlgError("Singular matrix")
    trsm = library.get_blas_funcs("trsm", (a, b))
    # BLAS orders axes the other way round: it solves the transposed systems, x.T @ a.T = b.T.
    if a.flags.f_contiguous:
        return trsm(1.0, a, b.T, side=1, lower=lower, trans_a=1).T
    return trsm(1.0, np.ascontiguousarray(a).T, b.T, side=1, lower=not lower).T
