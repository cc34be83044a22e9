"""Quotients, remainders, bits and means: bit for bit as in eager mode."""

from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag

_rng = np.random.default_rng(5)


def _is_native(function: Any, *arrays: Any) -> bool:
    return "NumPy computes" not in ag.compile(function).explain(*arrays)


def _special(dtype: Any) -> Any:
    limits = np.finfo(dtype)
    ends = [np.nan, np.inf, 0.0, limits.smallest_subnormal, limits.tiny, limits.max]
    values = np.array([*ends, 0.1, 1, 2.5, 3, 7.25, 1e-30, 1e30], dtype)
    values = np.concatenate([values, -values])
    return [x.ravel() for x in np.meshgrid(values, values)]


def _random(dtype: Any) -> Any:
    sizes = 10.0 ** _rng.integers(-30, 30, (2, 20_000))
    return list((_rng.normal(size=sizes.shape) * sizes).astype(dtype))


@crossed(dtype=[np.float32, np.float64], name=["remainder", "floor_divide", "fmod"])
def test_floats_are_divided_as_in_eager_mode(name: str, dtype: Any) -> None:
    function = ag.compile(lambda x, y: getattr(ag, name)(x, y))
    multiples = (np.round(_rng.normal(size=10_000) * 1000) * 0.1).astype(dtype)
    pairs = [_special(dtype), _random(dtype), (multiples, np.full_like(multiples, 0.1))]
    for x, y in pairs:
        with np.errstate(all="ignore"):
            wanted = getattr(ag, name)(x, y)
        found = function(x, y)
        both_nan = np.isnan(found) & np.isnan(wanted)
        integers = f"i{wanted.itemsize}"
        assert np.all((found.view(integers) == wanted.view(integers)) | both_nan)
        assert _is_native(function, x, y)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_are_divided_by_constants(dtype: Any) -> None:
    limits = np.iinfo(dtype)
    x = np.concatenate([[limits.min, limits.max, 0, -1], _rng.integers(-100, 100, 60)])
    x = x.astype(dtype)
    for by in (1, 2, -2, 7, -7, 1000, limits.max, limits.min):

        def function(x: Any, by: Any = by) -> Any:
            return x // by, x % by

        quotient, rest = ag.compile(function)(x)
        np.testing.assert_array_equal(quotient, x // by)
        np.testing.assert_array_equal(rest, x % by)
        assert quotient.dtype == rest.dtype == dtype
        assert _is_native(function, x)


def test_division_of_integers_by_zero_warns() -> None:
    function = ag.compile(lambda x, y: (x // y, x % y))
    x = np.array([3, -3])
    for quotient in function(x, np.array([2, -1])), (x // [2, -1], x % [2, -1]):
        np.testing.assert_array_equal(quotient, [[1, 3], [1, 0]])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        function(x, np.zeros_like(x))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        ag.compile(lambda x: x // 0)(x)


def test_bits() -> None:
    x, y = _rng.integers(-(2**62), 2**62, (2, 100))

    def function(x: Any, y: Any) -> Any:
        return x & y, x | y, x ^ y, ~x, (x > 0) & ~(y > 0) | (x == 3)

    for found, wanted in zip(ag.compile(function)(x, y), function(x, y), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert _is_native(function, x, y)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_shifts(dtype: Any) -> None:
    x = _rng.integers(-(2**31), 2**31, 72).astype(dtype)
    by = np.arange(72).astype(dtype)

    def function(x: Any, by: Any) -> Any:
        return x << by, x >> by

    for found, wanted in zip(ag.compile(function)(x, by), function(x, by), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert _is_native(function, x, by)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u1", "?"])
def test_means_of_integers_are_sums_of_floats(dtype: str) -> None:
    largest = True if dtype == "?" else np.iinfo(dtype).max
    x = np.full((10, 30), largest, dtype)

    def function(x: Any) -> Any:
        return ag.mean(x), ag.mean(x, axis=0), ag.var(x, axis=1), ag.std(x)

    for found, wanted in zip(ag.compile(function)(x), function(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_halves_are_rounded_to_even() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -0.2, np.inf, 1e300, 3.7])
    found = ag.compile(ag.round)(x)
    np.testing.assert_array_equal(found, np.round(x))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(np.round(x)))
