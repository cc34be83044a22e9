"""The checks of HIPS's names draw from NumPy's own source of random numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def same_numbers() -> Iterator[None]:
    """Let each test draw the same numbers, whatever ran before it."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    yield
    np.random.set_state(before)  # noqa: NPY002
