"""The table of rules: for each of NumPy's functions, a function of arraygrad that does the same.

Each rule has NumPy's signature, and raises for arguments that arraygrad does not support. Ufuncs
are not here but in `interop.numpy.ufuncs`.
"""

from __future__ import annotations

import numpy as np

from .... import fft, linalg, ops, special
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
from .common import RULES, laid_out_as_given, with_arguments_of

__all__ = ["RULES"]

# NumPy's functions that arraygrad has as well, under the same name. The first arguments of some of
# them may be numbers or sequences, of which other arguments are tensors.
_as_given = """
    array_split astype atleast_1d atleast_2d atleast_3d convolve correlate diag gradient imag inner
    interp kron matrix_transpose moveaxis nan_to_num nonzero pad real rot90 split swapaxes take
    trapezoid unique_all unique_counts unique_inverse unique_values unstack vdot
"""
_of_an_array = """
    all any argmax argmin broadcast_to count_nonzero cumulative_prod cumulative_sum diagonal diff
    expand_dims flip histogram median nanmean nanmedian repeat roll squeeze tile trace tril triu
"""
_of_two_arrays = """
    bincount digitize isin nanpercentile nanquantile outer percentile quantile searchsorted
    tensordot
"""
_in_linalg = """
    cholesky cross det diagonal eig eigvals inv matmul matrix_norm matrix_power matrix_rank
    matrix_transpose outer slogdet solve svdvals tensordot trace vecdot vector_norm
"""
_in_fft = "fft fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftn"

for _theirs, _ours, _names, _arrays in (
    (np, ops, _as_given, 0),
    (np, ops, _of_an_array, 1),
    (np, ops, _of_two_arrays, 2),
    (np, special, "i0 sinc", 0),
    (np.linalg, linalg, _in_linalg, 0),
    (np.fft, fft, _in_fft, 1),
):
    for _name in _names.split():
        _function = getattr(_theirs, _name)
        RULES[_function] = with_arguments_of(_function, getattr(_ours, _name), _arrays)

# Functions that lay out the result in memory as their argument is laid out.
_ordered = (
    np.delete, np.gradient, np.insert, np.linalg.matrix_power, np.pad, np.partition, np.sort,
)  # fmt: skip
RULES |= {function: laid_out_as_given(RULES[function]) for function in _ordered}
