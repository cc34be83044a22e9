"""Half precision is summed in single precision: squares and sums do not overflow on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.testing import assert_close

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "var": lambda x: ag.var(x / 8),
    "std": ag.std,
    "vector_norm": lambda x: ag.linalg.vector_norm(x / 8),
    "cumulative_sum": lambda x: ag.cumulative_sum(x / 8 + 0.001)[-1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name: str) -> None:
    values = np.linspace(-600, 600, 1001)
    wide, half = (ag.tensor(values.astype(t), requires_grad=True) for t in (np.float64, np.float16))
    results = [FUNCTIONS[name](x) for x in (wide, half)]
    assert results[1].dtype == np.float16
    assert_close(np.asarray(results[1].item()), np.asarray(results[0].item()), rtol=2e-3, atol=2)
    gradients = [ag.grad(r, x) for r, x in zip(results, (wide, half), strict=True)]
    assert gradients[1].dtype == np.float16
    assert_close(gradients[1].numpy().astype(float), gradients[0].numpy(), rtol=1e-2, atol=1e-2)
