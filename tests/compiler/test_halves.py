"""float16 in native code: computed in float32, and rounded after each op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.compiler.llvm.native import has_halves

rng = np.random.default_rng(0)
X, Y = (rng.normal(size=(7, 37)).astype(np.float16) for _ in range(2))

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "arithmetic": lambda x, y: (x + y) * x - y / (x * x + 1),
    "functions": lambda x, y: ag.exp(x) * ag.sin(y) + ag.tanh(x),
    "numbers": lambda x, y: 0.1 * x + 3 - y / 7,
    "comparisons": lambda x, y: ag.where(x > y, x, -y) + ag.maximum(x, 0.3),
    "wider": lambda x, y: ag.astype(x, np.float32) * y + ag.astype(y, np.float64),
    "narrower": lambda x, y: ag.astype(ag.astype(x, np.float32) * 1.1, np.float16) + y,
    "moved": lambda x, y: x.T[::-1] * y.T + ag.reshape(x, (37, 7)),
    "sums": lambda x, y: ag.sum(x, axis=1) + ag.max(y, axis=1),
    "made of others": lambda x, y: ag.special.softmax(x, axis=1) + ag.mean(y, axis=1)[:, None],
    "side by side": lambda x, y: ag.concat([x, y * 2], axis=0),
    "truths": lambda x, y: ag.any(x > 2, axis=1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name: str) -> None:
    function = FUNCTIONS[name]
    found, wanted = ag.compile(function)(X, Y), function(X, Y)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=4e-3, atol=4e-3)
    if name == "truths":
        return
    gradient = ag.func.grad(lambda x, y: ag.sum(function(x, y)), argnums=(0, 1))
    for found, wanted in zip(ag.compile(gradient)(X, Y), gradient(X, Y), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=2e-2, atol=2e-2)


def test_each_op_is_rounded_as_numpys() -> None:
    def function(x: Any, y: Any) -> Any:
        return (x * y + x) / 3 - ag.sqrt(ag.abs(y))

    compiled = ag.compile(function)
    np.testing.assert_array_equal(compiled(X, Y), function(X, Y))
    if has_halves():
        assert "NumPy" not in compiled.explain(X, Y)


def test_special_values() -> None:
    x = np.array([0, -0.0, np.inf, -np.inf, np.nan, 65504, 6e-8, 1e-4], np.float16)
    with np.errstate(all="ignore"):
        for function in (lambda x: x * 2, lambda x: 1 / x, ag.exp, ag.sign):
            np.testing.assert_array_equal(ag.compile(function)(x), function(x))


@pytest.mark.parametrize("dtype", "?bBhHiIlLfd")
def test_conversions(dtype: str) -> None:
    x = np.round(X * 10)
    for values, target in ((np.abs(x), dtype), (np.abs(x).astype(dtype), "e")):
        found = ag.compile(lambda x, target=target: ag.astype(x, np.dtype(target)))(values)
        assert found.dtype == target
        np.testing.assert_array_equal(found, values.astype(target))
