"""Values on their way between R and tensors: as bytes, in the order in which R keeps arrays.

So nothing depends on which versions of NumPy the bridge between R and Python knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays.tensor import Tensor
from .creation import torch_tensor
from .numbers import COMPLEX, FLOAT, LONG, sizes

_EXACT = 2**53  # R's numbers are exact up to here
_R_TYPES = {"double": "f8", "integer": "i4", "logical": "i4", "complex": "c16"}


def from_r(
    data: Any, kind: str, shape: Any, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor with the values of a vector or an array of R, of which `kind` is the type."""
    values = np.frombuffer(data, _R_TYPES[kind]).reshape(sizes([shape]), order="F")
    if kind in ("integer", "logical") and (values == -(2**31)).any():
        raise ValueError(f"the data has an NA, and {kind} tensors cannot hold one")
    wanted = {"logical": np.dtype(bool), "integer": LONG, "double": FLOAT, "complex": COMPLEX}[kind]
    if dtype is None or kind in ("logical", "integer"):
        values = values.astype(wanted)
    return torch_tensor(np.ascontiguousarray(values), dtype, requires_grad=requires_grad)


def to_r(x: Tensor) -> tuple[bytearray, str, tuple[int, ...]]:
    """The bytes of the values in a type that R has, the name of this type, and the shape."""
    values = np.asarray(x.detach().numpy())
    kind = _kind(values)
    return bytearray(values.astype(_R_TYPES[kind]).tobytes(order="F")), kind, values.shape


def _kind(values: Any) -> str:
    kind = {"f": "double", "c": "complex", "b": "logical"}.get(values.dtype.kind)
    if kind is not None:
        return kind
    least, most = (int(values.min()), int(values.max())) if values.size else (0, 0)
    if least > -(2**31) and most < 2**31:
        return "integer"
    if least >= -_EXACT and most <= _EXACT:
        return "double"
    raise OverflowError(
        "the tensor has whole numbers beyond 2^53, which R cannot hold: convert it by "
        "$to(dtype = torch_double()) if rounded numbers will do"
    )
