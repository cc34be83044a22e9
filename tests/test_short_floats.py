"""Floats that NumPy does not have itself: gradients keep them, and their functions know them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag

ml_dtypes = pytest.importorskip("ml_dtypes")

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: ag.tanh(x) * ag.exp(-x) + x**2 / 3,
    "product": lambda x: x @ x,
    "softmax": lambda x: ag.special.softmax(x, axis=1),
    "mean": lambda x: x.mean(axis=0),
    "sum": lambda x: ag.sum(x * x),
    "max": lambda x: ag.max(x, axis=1),
    "index": lambda x: x[[0, 0, 1]],
    "sort": lambda x: ag.sort(x, axis=0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_keep_the_dtype(name: str) -> None:
    values = np.array([[1.0, -2.0], [0.5, 3.0]])
    found = []
    for dtype in (BFLOAT16, np.dtype(np.float64)):
        x = ag.tensor(values.astype(dtype), requires_grad=True)
        y = FUNCTIONS[name](x)
        g = ag.grad(ag.sum(y * y), x)
        assert y.dtype == FUNCTIONS[name](x.detach().array).dtype  # as NumPy promotes
        assert g.dtype == dtype
        found.append(g.numpy().astype(float))
    np.testing.assert_allclose(*found, rtol=0.05, atol=0.05)


def test_forward_mode_and_batches_keep_the_dtype() -> None:
    x = ag.asarray(np.array([1.0, 2.0], BFLOAT16))
    _, tangent = ag.func.jvp(ag.sin, (x,), (ag.ones_like(x),))
    assert tangent.dtype == BFLOAT16
    assert ag.func.jacrev(ag.square)(x).dtype == BFLOAT16


def test_what_is_known_of_the_dtype() -> None:
    assert ag.isdtype(BFLOAT16, "real floating")
    assert ag.isdtype(BFLOAT16, ("integral", "numeric"))
    assert not ag.isdtype(BFLOAT16, "complex floating")
    assert ag.isdtype(BFLOAT16, BFLOAT16)
    info = ml_dtypes.finfo(BFLOAT16)
    ours = ag.finfo(BFLOAT16)
    assert (ours.eps, ours.max, ours.bits) == (info.eps, float(info.max), info.bits)
    assert ours.smallest_normal == float(info.smallest_normal)
    assert ag.result_type(BFLOAT16, ag.float32) == np.float32
