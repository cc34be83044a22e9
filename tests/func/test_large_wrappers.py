"""Each wrapper of `wrappers` around functions of large arrays, which native code computes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import over
from wrappers import WRAPPERS, gradients

import arraygrad as ag
from arraygrad.backends import numpy as numpy_backend
from arraygrad.backends.numpy import blocks, native
from arraygrad.sweep import engine

LARGE = 2000  # for the time of a test; native code needs more than one block of it
X, Y = np.random.default_rng(0).uniform(0.2, 2.0, (2, LARGE + 123))
ROWS = X[:2100].reshape(210, 10)

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "a number after an op": (lambda x: ag.sin(x) * 1.1, (X,)),
    "a number alone": (lambda x: x * 1.1, (X,)),
    "several numbers": (lambda x: 2 - x**3 / 4 + 0.5 * ag.exp(-x), (X,)),
    "a chain": (lambda x, y: ag.tanh(x) * ag.exp(y) + ag.log(x), (X, Y)),
    "passed on": (lambda x, y: (x + y) + x, (X, Y)),
    "choices": (lambda x, y: ag.where(x > y, ag.sin(x), y) + ag.maximum(x, 2 * y), (X, Y)),
    "rows": (lambda x: ag.special.softmax(x, axis=1) * ag.cos(x), (ROWS,)),
    "a broadcast row": (lambda x, y: ag.sin(x) * y, (ROWS, Y[:10])),
    "float32": (lambda x: ag.sin(x) * 1.1, (X.astype(np.float32),)),
}
ENDS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda out: out,
    "summed": lambda out: out.sum(),  # the cotangent is one number, broadcast
    "a number times the sum": lambda out: 3.0 * out.sum(),
}


@over("wrapper, name, end", itertools.product(WRAPPERS, FUNCTIONS, ENDS), first=len(FUNCTIONS))
def test_gradients_of_large_arrays(
    wrapper: str, name: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, arrays = FUNCTIONS[name]

    def whole(*inputs: Any) -> Any:
        return ENDS[end](function(*inputs))

    expected = gradients(whole, arrays)
    for module in (blocks, engine, native, numpy_backend):
        monkeypatch.setattr(module, "LARGE", LARGE)
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 4096)
    # What is not written is noticed.
    monkeypatch.setattr(
        blocks.Blocks, "empty", lambda self, dtype: np.full(self._shape, np.nan, dtype, self._order)
    )
    found = WRAPPERS[wrapper](whole, arrays)
    tolerance = 1e-5 if arrays[0].dtype == np.float32 else 1e-11
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
