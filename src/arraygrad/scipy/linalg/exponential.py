"""The derivative of the exponential of a matrix along another, L(A, E), on plain arrays.

The exponential of A is that of A / 2ˢ, squared s times; for a small matrix it is Padé's rational
function (V − U)⁻¹(V + U), with U odd and V even in A. The same products are differentiated here,
one by one, as Al-Mohy and Higham describe.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .stacked import SCIPY

_FEW = 12  # up to this number of rows, the exponential of a larger matrix is faster
_SMALL = 4.74  # up to this norm, L of Padé's function of degree 13 is exact to rounding


def _pade(degree: int) -> list[float]:
    """The coefficients of the numerator."""
    full = math.factorial(degree) / math.factorial(2 * degree)
    return [
        full * math.factorial(2 * degree - j) / math.factorial(j) / math.factorial(degree - j)
        for j in range(degree + 1)
    ]


_COEFFICIENTS = _pade(13)
# The weights of A², A⁴ and A⁶ in four sums. U is A (A⁶ first + second), V is A⁶ third + fourth.
_SUMS = np.array([[_COEFFICIENTS[k + j] for j in (0, 2, 4)] for k in (9, 3, 8, 2)])


def expm_along(a: Any, e: Any) -> Any:
    """L(a, e), the derivative of the exponential at `a` along `e`, for two matrices."""
    n = a.shape[0]
    if n <= _FEW:
        return SCIPY.expm(np.block([[a, e], [np.zeros_like(a), a]]))[:n, n:]
    size = float(np.abs(a).sum(0).max())
    squarings = math.ceil(math.log2(size / _SMALL)) if _SMALL < size < math.inf else 0
    scale = 0.5**squarings
    power, along = _of_small(a * scale, e * scale)
    for k in reversed(range(squarings)):
        along = power @ along + along @ power
        power = power @ power if k else power
    return along


def _of_small(a: Any, e: Any) -> tuple[Any, Any]:
    """The exponential of a small matrix, and its derivative along `e`."""
    n, kind = a.shape[0], np.result_type(a, e)
    powers, changes = np.empty((2, 3, n, n), kind)  # of A², A⁴, A⁶
    np.matmul(a, a, out=powers[0])
    np.matmul(powers[0], powers[0], out=powers[1])
    np.matmul(powers[0], powers[1], out=powers[2])
    changes[0] = a @ e + e @ a
    changes[1] = powers[0] @ changes[0] + changes[0] @ powers[0]
    changes[2] = powers[1] @ changes[0] + changes[1] @ powers[0]
    sums = _SUMS.astype(np.finfo(kind).dtype)
    first, second, third, fourth = (sums @ powers.reshape(3, -1)).reshape(4, n, n)
    d_first, d_second, d_third, d_fourth = (sums @ changes.reshape(3, -1)).reshape(4, n, n)
    second.flat[:: n + 1] += _COEFFICIENTS[1]
    fourth.flat[:: n + 1] += _COEFFICIENTS[0]
    top, d_top = powers[2], changes[2]
    inner = top @ first + second
    odd, even = a @ inner, top @ third + fourth
    d_odd = a @ (top @ d_first + d_top @ first + d_second) + e @ inner
    d_even = top @ d_third + d_top @ third + d_fourth
    factors = SCIPY.lu_factor(even - odd, check_finite=False)
    power = SCIPY.lu_solve(factors, even + odd, check_finite=False)
    right = d_even + d_odd + (d_odd - d_even) @ power
    return power, SCIPY.lu_solve(factors, right, check_finite=False)
