"""The table of samples over array-api-strict."""

from __future__ import annotations

import array_api_strict
import numpy as np
from backend_table import Case, Library, check

STRICT = Library(
    name="array-api-strict",
    make=lambda array: array_api_strict.asarray(np.ascontiguousarray(array).reshape(array.shape)),
    gaps={
        "__add__-number=True": "the standard has no arithmetic of booleans and numbers",
        "__mul__-integers": "the standard has no arithmetic of integers and floats",
        "to_device": 'its devices have other names than "cpu"',
    },
)


def test_rows(case: Case) -> None:
    check(STRICT, case)
