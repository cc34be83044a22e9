"""Special functions for large float32 arrays, made of NumPy's functions: faster than SciPy's.

SciPy's special functions are in `backends.special`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# The coefficients of the polynomial p with erf(x) = tanh(x p(x²)) for |x| < 4. They minimize the
# largest relative error, which is 7e-8. For |x| > 4, erf and tanh are both one.
_ERF = (
    1.1283792,
    1.0276987e-1,
    -1.95288e-4,
    -6.1483844e-4,
    8.459668e-5,
    -4.7946287e-6,
    2.7578782e-8,
    5.4214877e-9,
)


def is_many_float32(x: Any) -> bool:
    """Whether `x` is a float32 array that is large enough for the functions here."""
    return type(x) is np.ndarray and x.dtype.char == "f" and x.size >= 1000


def erf(x: Any) -> Any:
    """The error function, with a relative error below 3e-7."""
    with np.errstate(over="ignore"):  # the next line cuts off infinities
        square = x * x
        np.minimum(square, 16, out=square)
        out = square * np.float32(_ERF[-1])
        for coefficient in _ERF[-2:0:-1]:
            out += np.float32(coefficient)
            out *= square
        out += np.float32(_ERF[0])
        out *= x
        return np.tanh(out, out=out)
