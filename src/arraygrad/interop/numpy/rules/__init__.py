"""The table of rules: for each of NumPy's functions, a function of arraygrad that does the same.

Each rule has NumPy's signature, and raises for arguments that arraygrad does not support. Ufuncs
are not here but in `interop.numpy.ufuncs`.
"""

from __future__ import annotations

import numpy as np

from .... import linalg, ops, special
from ....core.array import AnyFunction
from . import (  # noqa: F401  (they add rules)
    along,
    covariance,
    elementwise,
    numerics,
    polynomials,
    reductions,
    shapes,
    transforms,
    writing,
)
from .common import RULES, laid_out_as_given, under_names_of

__all__ = ["RULES"]

# NumPy's functions that arraygrad has as well, under the same or another name.

_same: dict[AnyFunction, AnyFunction] = {
    np.atleast_1d: ops.atleast_1d,
    np.atleast_2d: ops.atleast_2d,
    np.atleast_3d: ops.atleast_3d,
    np.array_split: ops.array_split,
    np.convolve: ops.convolve,
    np.correlate: ops.correlate,
    np.diag: ops.diag,
    np.gradient: ops.gradient,
    np.i0: special.i0,
    np.imag: ops.imag,
    np.inner: ops.inner,
    np.interp: ops.interp,
    np.kron: ops.kron,
    np.matrix_transpose: ops.matrix_transpose,
    np.moveaxis: ops.moveaxis,
    np.pad: ops.pad,
    np.real: ops.real,
    np.rot90: ops.rot90,
    np.sinc: special.sinc,
    np.split: ops.split,
    np.swapaxes: ops.swapaxes,
    np.trapezoid: ops.trapezoid,
    np.unique_all: ops.unique_all,
    np.unique_counts: ops.unique_counts,
    np.unique_inverse: ops.unique_inverse,
    np.unique_values: ops.unique_values,
    np.unstack: ops.unstack,
    np.vdot: ops.vdot,
    np.astype: ops.astype,
    np.linalg.cross: linalg.cross,
    np.linalg.det: linalg.det,
    np.linalg.diagonal: linalg.diagonal,
    np.linalg.inv: linalg.inv,
    np.linalg.matmul: linalg.matmul,
    np.linalg.matrix_norm: linalg.matrix_norm,
    np.linalg.matrix_power: linalg.matrix_power,
    np.linalg.matrix_transpose: ops.matrix_transpose,
    np.linalg.outer: linalg.outer,
    np.linalg.slogdet: linalg.slogdet,
    np.linalg.solve: linalg.solve,
    np.linalg.svdvals: linalg.svdvals,
    np.linalg.tensordot: linalg.tensordot,
    np.linalg.trace: linalg.trace,
    np.linalg.vecdot: linalg.vecdot,
    np.linalg.vector_norm: linalg.vector_norm,
    np.linalg.eig: linalg.eig,
    np.linalg.eigvals: linalg.eigvals,
}
RULES |= {function: under_names_of(function, own) for function, own in _same.items()}

# Functions that lay out the result in memory as their argument is laid out.
_ordered = (
    np.delete, np.gradient, np.insert, np.linalg.matrix_power, np.pad, np.partition, np.sort,
)  # fmt: skip
RULES |= {function: laid_out_as_given(RULES[function]) for function in _ordered}
