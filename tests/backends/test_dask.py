"""The table of samples over Dask's arrays, in several blocks along each axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from backend_table import Case, Library, check

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


def in_blocks(array: Any) -> Any:
    """A Dask array of a NumPy array's values, in unequal blocks."""
    chunks = tuple((n - n // 2, n // 2) if n > 1 else (n,) for n in array.shape)
    return da.from_array(np.array(array), chunks=chunks)


DASK = Library(
    name="Dask",
    make=in_blocks,
    to_numpy=lambda array: array.compute(scheduler="synchronous"),
    gaps={},
)


def refuse(*args: Any, **keywords: Any) -> Any:
    """A scheduler that is never asked, because nothing in arraygrad computes by itself."""
    raise AssertionError("a Dask array was computed without being asked to")


@pytest.fixture(autouse=True)
def lazily() -> Iterator[None]:
    with dask.config.set(scheduler=refuse):
        yield


def test_rows(case: Case) -> None:
    check(DASK, case)
