"""Convolutions in native code: written out if there are few terms, or few elements."""

from typing import Any

import numpy as np
import pytest

import arraygrad as ag

_rng = np.random.default_rng(8)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("lengths", [(10, 3), (3, 10), (1, 1), (100, 90), (90, 40)])
def test_values_and_gradients(lengths: tuple[int, int], mode: str) -> None:
    x, y = (_rng.normal(size=n) for n in lengths)

    def function(x: Any, y: Any) -> Any:
        return ag.convolve(x, y, mode=mode)

    def gradient(x: Any, y: Any) -> Any:
        return ag.func.grad(lambda x, y: (function(x, y) ** 3).sum(), (0, 1))(x, y)

    compiled = ag.compile(function)
    np.testing.assert_allclose(compiled(x, y), np.convolve(x, y, mode), rtol=1e-12, atol=1e-12)
    for found, wanted in zip(ag.compile(gradient)(x, y), gradient(x, y), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-10 * np.abs(wanted).max())
    is_short = min(lengths) <= 32 or (mode == "valid" and abs(x.size - y.size) < 32)
    assert ("NumPy computes" not in compiled.explain(x, y)) == is_short


def test_many_numbers_side_by_side() -> None:
    def function(x: Any) -> Any:
        parts = [x[i] * (i + 1) for i in range(40)]
        return ag.stack(parts), ag.concat([parts[0][None], x, parts[1][None]] * 5)

    x = _rng.normal(size=40)
    for found, wanted in zip(ag.compile(function)(x), function(x), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert "NumPy computes" not in ag.compile(function).explain(x)
