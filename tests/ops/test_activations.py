"""Activation functions, and lines with mean zero and variance one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import arraygrad as ag
from arraygrad.ops.special.activations import gelu, silu
from arraygrad.ops.special.standardizing import standardize
from arraygrad.testing import gradcheck, gradgradcheck

X = np.random.default_rng(0).normal(size=(2, 3, 4)) * 2
FUNCTIONS = {
    "gelu": (gelu, lambda x: x * special.ndtr(x)),
    "silu": (silu, lambda x: x * special.expit(x)),
    "standardize": (
        lambda x: standardize(x, axis=(0, 2), eps=0.1),
        lambda x: (x - x.mean((0, 2), keepdims=True)) / np.sqrt(x.var((0, 2), keepdims=True) + 0.1),
    ),
    "standardize all": (
        lambda x: standardize(x, axis=None),
        lambda x: (x - x.mean()) / x.std(),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives(name: str) -> None:
    function, by_hand = FUNCTIONS[name]
    np.testing.assert_allclose(function(X), by_hand(X), rtol=1e-12)
    x = ag.tensor(X, requires_grad=True)
    assert gradcheck(function, x)
    assert gradgradcheck(function, x)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_dtypes(name: str, dtype: Any) -> None:
    function, _ = FUNCTIONS[name]
    x = X.astype(dtype)
    assert function(x).dtype == dtype
    close = {"rtol": 5e-3, "atol": 5e-3} if dtype == np.float16 else {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(function(x), function(X), **close)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches_and_tangents(name: str) -> None:
    function, _ = FUNCTIONS[name]
    rows, tangents = np.stack([X, -X, 2 * X]), np.stack([X * X, X, X + 1])

    def slope(x: Any, t: Any) -> Any:
        return ag.func.jvp(ag.func.grad(lambda x: (function(x) ** 2).sum()), (x,), (t,))[1]

    found = ag.func.vmap(slope)(rows, tangents)
    for one, row, tangent in zip(found, rows, tangents, strict=True):
        np.testing.assert_allclose(one, slope(row, tangent), rtol=1e-9, atol=1e-12)
    for t in (tangents[:1], tangents):  # a batch of tangents only
        out = ag.func.vmap(lambda t: slope(X, t))(t)
        np.testing.assert_allclose(out[0], slope(X, t[0]), rtol=1e-9, atol=1e-12)


def test_what_is_added_to_the_variance() -> None:
    with pytest.raises(ValueError, match="eps must be a finite number"):
        standardize(X, eps=float("nan"))
