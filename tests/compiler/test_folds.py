"""Folds of integers and truths in native code."""

from __future__ import annotations

from typing import Any

import numpy as np
from rows import crossed

import arraygrad as ag

rng = np.random.default_rng(0)
FOLDS = ["sum", "prod", "max", "min", "any", "all", "count_nonzero"]
DTYPES = [np.int32, np.int64, np.bool_, np.float32, np.float64]


@crossed(name=FOLDS, dtype=DTYPES, axis=[None, 0, 1, (0, 2), -1])
def test_folds(name: str, dtype: Any, axis: Any) -> None:
    if name in ("max", "min") and dtype == np.bool_:
        return
    x = rng.integers(-3, 4, size=(6, 7, 19)).astype(dtype)
    x[1:3] = x[:, :, 3] = 1  # so that not all lines have a zero

    def function(x: Any) -> Any:
        return getattr(ag, name)(x, axis=axis)

    compiled = ag.compile(function)
    found, wanted = compiled(x), function(x)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert "NumPy computes" not in compiled.explain(x)


def test_integers_overflow_as_numpys() -> None:
    x = np.full((3, 5000), 2**61)
    np.testing.assert_array_equal(ag.compile(lambda x: ag.sum(x, axis=1))(x), x.sum(axis=1))


def test_large_arrays() -> None:
    x = rng.integers(-(2**40), 2**40, size=(700, 3001))
    function = ag.compile(lambda x: (ag.sum(x), ag.max(x, axis=0), ag.any(x == 7), ag.min(x)))
    wanted = x.sum(), x.max(axis=0), (x == 7).any(), x.min()
    for found, true in zip(function(x), wanted, strict=True):
        np.testing.assert_array_equal(found, true)
