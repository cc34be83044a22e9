"""The table of samples over array-api-strict."""

from __future__ import annotations

import array_api_strict
import numpy as np
from backend_table import Case, Library, check

STRICT = Library(
    name="array-api-strict",
    make=lambda array: array_api_strict.asarray(np.ascontiguousarray(array).reshape(array.shape)),
    gaps={},
)


def test_rows(case: Case) -> None:
    check(STRICT, case)
