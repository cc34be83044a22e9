"""The table of samples over PyTorch's tensors."""

from __future__ import annotations

import numpy as np
import pytest
from backend_table import Case, Library, check

torch = pytest.importorskip("torch")

TORCH = Library(
    name="PyTorch",
    make=lambda array: torch.asarray(np.ascontiguousarray(array).reshape(array.shape), copy=True),
    to_numpy=lambda array: array.resolve_conj().resolve_neg().numpy(),
    gaps={"special.erf-complex complex": "it has no error function of complex numbers"},
)


def test_rows(case: Case) -> None:
    check(TORCH, case)
