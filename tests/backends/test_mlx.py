"""The table of samples over MLX's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backend_table import Case, Library, check

mx = pytest.importorskip("mlx.core")
mx.set_default_device(mx.cpu)

# What NumPy's default dtypes are in MLX, and the other way round.
_SINGLE = {"float64": np.float32, "complex128": np.complex64}
_DOUBLE = {"float32": np.float64, "complex64": np.complex128, "int32": np.int64}


def single(array: Any) -> Any:
    array = np.asarray(array)
    return mx.array(array.astype(_SINGLE.get(array.dtype.name, array.dtype)))


doubles: list[Any] = []


def widened(array: Any) -> Any:
    doubles.extend([array] * (array.dtype == mx.float64))
    found = np.array(array)
    return found.astype(_DOUBLE.get(found.dtype.name, found.dtype))


_NO_COMPLEX128 = "MLX has no complex128, which the row asks for"
_NO_0D_MASK = (
    "MLX has no index by a mask, and ours is built from the places in it, without axes none"
)
GAPS = {
    "astype-complex": _NO_COMPLEX128,
    "sum-dtype": _NO_COMPLEX128,
    "linalg.trace-dtype=<class 'numpy.complex128'>": _NO_COMPLEX128,
    "__getitem__-True": _NO_0D_MASK,
    "__getitem__-0-d mask, True": _NO_0D_MASK,
    "__getitem__-0-d mask, False": _NO_0D_MASK,
    "__getitem__-0-d, 0-d mask": _NO_0D_MASK,
}
MLX = Library(name="MLX", make=single, to_numpy=widened, gaps=GAPS, rtol=1e-3, atol=1e-4)


def test_rows(case: Case) -> None:
    doubles.clear()
    check(MLX, case)
    asked_for = str(case[0]) == "astype-no copy"
    assert bool(doubles) == asked_for, "the GPUs that MLX is made for have no doubles"
