"""Programs of views and writes, drawn at random: against torch, and without in-place operations.

`ARRAYGRAD_PROGRAMS` says how many are run; each has its number as its seed.
"""

from __future__ import annotations

import importlib.util
import os
import warnings

import numpy as np
import pytest
from inplace.programs import compare

COUNT = int(os.environ.get("ARRAYGRAD_PROGRAMS", "1000"))
BATCH = 100
WITH_TORCH = importlib.util.find_spec("torch") is not None


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_programs(first: int) -> None:
    refused = beyond = whole = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # torch's, about casts
        for seed in range(first, min(first + BATCH, COUNT)):
            comparison = compare(seed, WITH_TORCH)
            refused += comparison.refused
            beyond += comparison.beyond
            whole += comparison.theirs is not None
    if COUNT - first >= BATCH:  # or they would test something else than they are meant to
        assert refused > 5
        assert beyond > 10 or not WITH_TORCH
        assert whole > 20 or not WITH_TORCH
