"""`searchsorted` in native code."""

from typing import Any

import numpy as np
from rows import crossed

import arraygrad as ag

_rng = np.random.default_rng(7)


@crossed(dtype=["f8", "f4", "i8", "i4"], side=["left", "right"])
def test_places_are_those_of_numpy(dtype: str, side: Any) -> None:
    function = ag.compile(lambda x, v: ag.searchsorted(x, v, side=side))
    for n in (1, 3, 8, 100):
        x = _rng.normal(size=n) * 10
        x = np.sort(np.where(_rng.random(n) < 0.3, x[0], x).astype(dtype))  # some are equal
        values = np.concatenate([x, x[:3] + 1, (_rng.normal(size=20) * 12).astype(dtype)])
        if dtype[0] == "f":
            x[n // 2 + 1 :] = np.nan
            ends = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
            values = np.concatenate([values, ends])
        for v in (values, values[0].reshape(())):
            np.testing.assert_array_equal(function(x, v), np.searchsorted(x, v, side=side))
        assert "NumPy computes" not in function.explain(x, values)


def test_no_elements() -> None:
    function = ag.compile(lambda x, v: ag.searchsorted(x, v))
    np.testing.assert_array_equal(function(np.zeros(0), np.ones(2)), [0, 0])
    assert function(np.ones(2), np.zeros(0)).shape == (0,)
