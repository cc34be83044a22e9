"""What SciPy does faster than NumPy, for large arrays, where it is installed."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from .blocks import LARGE
from .threads import get_num_threads


@functools.cache
def scipy_part(name: str) -> Any:
    """A part of SciPy, imported when it is first worth it; None where SciPy is not installed."""
    try:
        return importlib.import_module(f"scipy.{name}")
    except ImportError:
        return None


# --- Fourier transforms --------------------------------------------------------------------------

# From so many numbers on, SciPy's transforms, which keep what they can use again, are faster.
_LONG = 1 << 12


def transform(name: str, x: Any, s: tuple[int, ...], axis: tuple[int, ...], norm: str) -> Any:
    """A discrete Fourier transform, by its name in `numpy.fft`, over one axis or several."""
    fft: Any = scipy_part("fft") if x.size >= _LONG and x.dtype.char in "fdFD" else None
    if fft is None:
        fft, options = np.fft, {}
    else:
        options = {"workers": get_num_threads()} if x.size >= LARGE else {}
    if len(axis) == 1:
        return getattr(fft, name)(x, s[0], axis[0], norm, **options)
    return getattr(fft, f"{name}n")(x, s, axis, norm, **options)


# --- linear systems ------------------------------------------------------------------------------

# From so many unknowns on, a look at the matrix pays.
_WIDE = 32


def solve(a: Any, b: Any) -> Any:
    """The solution of linear systems, by substitution where the matrix is triangular."""
    if a.ndim == 2 == b.ndim and len(a) >= _WIDE and a.dtype == b.dtype and a.dtype.char in "fdFD":
        lower = _is_upper(a.T)
        if lower or _is_upper(a):
            library = scipy_part("linalg")
            if library is not None:
                return _substitute(library, a, b, lower)
    return np.linalg.solve(a, b)


def _is_upper(a: Any) -> bool:
    """Whether all is zero below the diagonal; most matrices show at once that it is not."""
    return not a[-1, 0] and not np.any(a, where=_below_diagonal(len(a)))


@functools.lru_cache(4)
def _below_diagonal(n: int) -> Any:
    return np.tri(n, k=-1, dtype=bool)


def _substitute(library: Any, a: Any, b: Any, lower: bool) -> Any:
    if not a.diagonal().all():
        raise np.linalg.LinAlgError("Singular matrix")
    trsm = library.get_blas_funcs("trsm", (a, b))
    # BLAS has the first axis last: it sees the systems turned round, x.T @ a.T = b.T.
    if a.flags.f_contiguous:
        return trsm(1.0, a, b.T, side=1, lower=lower, trans_a=1).T
    return trsm(1.0, np.ascontiguousarray(a).T, b.T, side=1, lower=not lower).T
