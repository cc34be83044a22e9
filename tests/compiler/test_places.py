"""The places of extremes, `argmax` and `argmin`, in native code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.func import scan

rng = np.random.default_rng(0)
TIES = rng.integers(-3, 4, size=(6, 9))
SPECIAL = np.where(rng.random((6, 9)) < 0.2, np.nan, TIES)
VALUES: dict[str, Any] = {
    "ties": TIES.astype(np.float64),
    "short floats": TIES.astype(np.float32),
    "integers": TIES,
    "NaN": SPECIAL,
    "only NaN": np.full((2, 3), np.nan),
    "infinities": np.where(TIES > 1, np.inf, np.where(TIES < -1, -np.inf, SPECIAL)),
    "only infinities": np.full((2, 3), -np.inf, np.float32),
    "zeros of both signs": np.where(TIES > 0, 0.0, -0.0),
    "one element": np.ones((1, 1)),
    "truth": TIES > 0,
    "complex": TIES + 1j,
}


@pytest.mark.parametrize("name", VALUES)
def test_as_numpy(name: str) -> None:
    x = VALUES[name]

    def places(x: Any) -> list[Any]:
        return [
            function(x, axis=axis, keepdims=keepdims)
            for function in (ag.argmax, ag.argmin)
            for axis in (None, 0, -1)
            for keepdims in (False, True)
        ]

    for found, wanted in zip(ag.compile(places)(x), places(x), strict=True):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == np.asarray(wanted).dtype


def test_one_kernel_with_what_is_around() -> None:
    f = ag.compile(lambda x: ag.argmax(ag.sin(x) * 2, axis=1))
    text = f.explain(SPECIAL)
    assert "NumPy computes" not in text
    assert text.count("\nstep") == 0
    np.testing.assert_array_equal(f(SPECIAL), np.argmax(np.sin(SPECIAL) * 2, axis=1))


def test_long_lines_are_left_to_numpy() -> None:
    x = np.zeros(100_000)
    x[70_000:] = 1.0
    f = ag.compile(lambda x: ag.argmax(x * 2))
    assert "NumPy computes argmax" in f.explain(x)
    assert f(x) == 70_000


def test_in_a_native_loop() -> None:
    """The largest element is taken away, again and again."""

    def largest(x: Any) -> Any:
        def step(s: Any, _: Any) -> Any:
            i = ag.argmax(s)
            y = s[i]
            s[i] = -9.0
            return s, (i, y)

        return scan(step, x, length=4)[1]

    for size in (9, 100):
        x = rng.normal(size=size)
        f = ag.compile(largest)
        places, values = f(x)
        order = np.argsort(-x)[:4]
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(values, x[order])
        assert "NumPy" not in f.explain(x)
        assert "run from Python" not in f.explain(x)
