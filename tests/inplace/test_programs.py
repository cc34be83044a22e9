"""Programs of views and writes, drawn at random: against torch, and without in-place operations.

Each has its number as its seed. ``python -m inplace.programs 20000``, in `tests`, runs more.
"""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
from inplace.programs import compare
from rows import Row, over

BATCH = 100
WITH_TORCH = importlib.util.find_spec("torch") is not None


@over("first", [Row(f"from {k}", str(k), k, quick=k < 200) for k in range(0, 1000, BATCH)])
def test_programs(first: int) -> None:
    refused = beyond = whole = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # torch's, about casts
        for seed in range(first, first + BATCH):
            comparison = compare(seed, WITH_TORCH)
            refused += comparison.refused
            beyond += comparison.beyond
            whole += comparison.theirs is not None
    # Or they would test something else than they are meant to.
    assert refused > 5
    assert beyond > 10 or not WITH_TORCH
    assert whole > 20 or not WITH_TORCH
