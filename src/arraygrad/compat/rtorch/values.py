"""The values of tensors, for R."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays.tensor import Tensor

_EXACT = 2**53  # R's numbers are exact up to here


def as_array(x: Tensor) -> Any:
    """The values as an array of a type that R has: logical, integer, double or complex."""
    values = np.asarray(x.detach().numpy())
    if values.dtype.kind == "f":
        return values.astype(np.float64)
    if values.dtype.kind == "c":
        return values.astype(np.complex128)
    if values.dtype.kind == "b":
        return values
    least, most = (int(values.min()), int(values.max())) if values.size else (0, 0)
    if least > -(2**31) and most < 2**31:
        return values.astype(np.int32)
    if least >= -_EXACT and most <= _EXACT:
        return values.astype(np.float64)
    raise OverflowError(
        "the tensor has whole numbers beyond 2^53, which R cannot hold: convert it by "
        "$to(dtype = torch_double()) if rounded numbers will do"
    )
