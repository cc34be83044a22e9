"""Complex numbers in native code: the formulas are NumPy's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag

rng = np.random.default_rng(0)
X = rng.normal(size=(7, 37)) + 1j * rng.normal(size=(7, 37))
Y = rng.normal(size=(7, 37)) + 1j * rng.normal(size=(7, 37))

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y[0],
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "negative": lambda x, y: -x,
    "conj": lambda x, y: ag.conj(x) * 2,
    "real and imag": lambda x, y: ag.real(x) * ag.imag(y),
    "abs": lambda x, y: ag.abs(x * y),
    "exp": lambda x, y: ag.exp(1j * x) + y,
    "square": lambda x, y: ag.square(x),
    "numbers": lambda x, y: (2 + 3j) * x - 1 + y / 2,
    "with reals": lambda x, y: x * ag.real(y) + ag.imag(x),
    "where": lambda x, y: ag.where(ag.real(x) > 0, x, y),
    "moved": lambda x, y: (x.T * 2)[::-1, 1:] + ag.reshape(y * x, (-1,))[:6],
    "reshaped": lambda x, y: ag.reshape(ag.reshape(x, (37, 7)) * 2, (7, 37)) + y,
    "sums": lambda x, y: ag.sum(x * y, axis=1) + ag.sum(x, axis=(0, 1)),
    "a NumPy step between": lambda x, y: ag.cumulative_sum(x * y, axis=1) * 2,
    "parts of what is given": lambda x, y: ag.concat([ag.real(x), ag.imag(y).T.T], axis=0),
    "parts for NumPy": lambda x, y: ag.cumulative_sum(ag.real(x), axis=0) + ag.imag(x)[::-1],
    "only a part": lambda x, y: ag.imag(x),
    "two results": lambda x, y: ag.concat([x * y, x + y], axis=0) * 1j,
}


@crossed(name=FUNCTIONS, dtype=[np.complex64, np.complex128])
def test_values_and_gradients(name: str, dtype: Any) -> None:
    function, x, y = FUNCTIONS[name], X.astype(dtype), Y.astype(dtype)
    unit = 1e-4 if dtype == np.complex64 else 1e-11
    close = {"rtol": unit, "atol": unit}
    found, wanted = ag.compile(function)(x, y), function(x, y)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, **close)
    gradient = ag.func.grad(lambda x, y: ag.sum(ag.abs(function(x, y))), argnums=(0, 1))
    for found, wanted in zip(ag.compile(gradient)(x, y), gradient(x, y), strict=True):
        np.testing.assert_allclose(found, wanted, **close)


def test_it_is_native() -> None:
    def function(x: Any, y: Any) -> Any:
        return ag.exp(x * y) / (1 + ag.abs(x)) - ag.conj(y)

    assert "NumPy" not in ag.compile(function).explain(X, Y)


VALUES = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e308, 5e-324, 750.0]
ALL = np.array([complex(a, b) for a, b in itertools.product(VALUES, VALUES)])


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "negative", "conj", "abs", "exp"])
def test_special_values(name: str) -> None:
    def function(x: Any, y: Any) -> Any:
        return getattr(ag, name)(*((x, y) if name in ("add", "multiply", "divide") else (x,)))

    # Products that are too large depend on how often NumPy rounds, on this processor.
    some = ALL[~(np.abs(ALL) >= 1e308)] if name == "multiply" else ALL
    x, y = (v.ravel() for v in np.meshgrid(some, some))
    with np.errstate(all="ignore"):
        found, wanted = ag.compile(function)(x, y), function(x, y)
    for part in (np.real, np.imag):
        # A product and a sum are rounded once or twice: this shows in the smallest numbers.
        np.testing.assert_allclose(part(found), part(wanted), rtol=1e-14, atol=1e-322)


def test_other_orders_in_memory() -> None:
    compiled = ag.compile(lambda x: x * (1 + 2j))
    for x in (np.asfortranarray(X), X[::2, ::-1], X.T):
        np.testing.assert_allclose(compiled(x), x * (1 + 2j), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_signs(dtype: Any) -> None:
    ends = np.array([0.0, 1, np.inf, np.nan, 1e30, 1e-30, 2.5], np.float64)
    parts = np.meshgrid(np.concatenate([ends, -ends]), np.concatenate([ends, -ends]))
    z = np.empty(parts[0].size, dtype)
    z.real, z.imag = (part.ravel() for part in parts)
    with np.errstate(all="ignore"):
        wanted = ag.sign(z)
    function = ag.compile(ag.sign)
    tolerance = 4 * np.finfo(dtype).eps
    for part in ("real", "imag"):
        found = getattr(function(z), part)
        np.testing.assert_allclose(found, getattr(wanted, part), rtol=tolerance, atol=0)
    assert "NumPy computes" not in function.explain(z)
