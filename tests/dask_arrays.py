"""What the tests of Dask's arrays share: arrays in several blocks, and that none is computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest


def in_blocks(array: Any) -> Any:
    """A Dask array of a NumPy array's values, in unequal blocks."""
    chunks = tuple((n - n // 2, n // 2) if n > 1 else (n,) for n in array.shape)
    return da.from_array(np.array(array), chunks=chunks)


def refuse(*args: Any, **keywords: Any) -> Any:
    """A scheduler that is never asked, because nothing in arraygrad computes by itself."""
    raise AssertionError("a Dask array was computed without being asked to")


@pytest.fixture(autouse=True)
def lazily() -> Iterator[None]:
    """Have the refusing scheduler in every test of a module that imports this."""
    with dask.config.set(scheduler=refuse):
        yield
