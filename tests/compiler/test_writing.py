"""Writes to parts of arrays: choices by the place of an element, in native code."""

from typing import Any

import numpy as np
import pytest

import arraygrad as ag

_rng = np.random.default_rng(6)
_X = _rng.normal(size=(5, 6, 4))


def _compare(function: Any, *arrays: Any) -> bool:
    """Compare values and gradients with eager mode. Returns whether all steps are native."""

    def gradient(*arrays: Any) -> Any:
        def total(*arrays: Any) -> Any:
            return ag.sum(ag.sin(function(*arrays)))

        return ag.func.grad(total, tuple(range(len(arrays))))(*arrays)

    np.testing.assert_allclose(ag.compile(function)(*arrays), function(*arrays), rtol=1e-13)
    compiled = ag.compile(gradient)
    for found, wanted in zip(compiled(*arrays), gradient(*arrays), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    return "NumPy computes" not in compiled.explain(*arrays)


@pytest.mark.parametrize(
    "index",
    [
        np.s_[1:-1],
        np.s_[0],
        np.s_[..., -1],
        np.s_[2, 3],
        np.s_[:, 1:5, 2],
        np.s_[::-1, 1],
        np.s_[None, 1:3],
        np.s_[...],
        np.s_[1:4, 2:3],
        np.s_[-1, ::-1, 1:2],
    ],
)
def test_writes_to_slices_are_native(index: Any) -> None:
    def function(x: Any, value: Any) -> Any:
        y = ag.copy(x) * 2
        y[index] = value * 3
        return y * x

    shape = _X[index].shape
    for wanted in {shape, (1, *shape), shape[-1:], ()}:
        assert _compare(function, _X, _rng.normal(size=wanted))


@pytest.mark.parametrize("index", [np.s_[::2], np.s_[[0, 2]], np.s_[1:1]])
def test_other_writes_are_left_to_numpy(index: Any) -> None:
    def function(x: Any, value: Any) -> Any:
        y = ag.copy(x) * 2
        y[index] = value
        return y * x

    _compare(function, _X, _rng.normal(size=4))


def test_writes_through_views() -> None:
    def function(x: Any, value: Any) -> Any:
        y = ag.copy(x)
        y.mT[1:, 2] = value
        y[1:][:, 2:4][0] += value[0]
        y.reshape(5, 2, 3, 2, 2)[4, 1, 2, 1] = value[1]
        return y

    _compare(function, _X, _rng.normal(size=(4, 3, 5))[:, 0, :1])


def test_a_write_through_merged_axes_is_refused() -> None:
    """While a function is traced, the order of elements in memory is not known."""

    def function(x: Any) -> Any:
        y = ag.copy(x)
        y.reshape(-1)[7] = 1.0
        return y

    with pytest.raises(RuntimeError, match="may be a view or a copy"):
        ag.compile(function)(_X)


def test_a_stencil_with_boundaries_is_native() -> None:
    def function(u: Any) -> Any:
        for _ in range(3):
            inner = u[1:-1, 1:-1]
            around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner
            u = ag.copy(u)
            u[1:-1, 1:-1] = inner + 0.1 * around
        return u

    assert _compare(function, _rng.normal(size=(8, 9)))


def test_writes_keep_signs_of_zeros_and_what_is_not_a_number() -> None:
    @ag.compile
    def function(x: Any, value: Any) -> Any:
        y = ag.copy(x)
        y[1:3] = value
        return y

    assert np.signbit(function(-np.zeros(4), -np.zeros(2))).all()
    found = function(np.full(4, np.nan), np.array([np.inf, 1.0]))
    np.testing.assert_array_equal(found, [np.nan, np.inf, 1.0, np.nan])


def test_writes_by_a_mask() -> None:
    mask = np.arange(5) % 2 == 0

    def function(x: Any, value: Any) -> Any:
        y = ag.copy(x)
        y[mask] = value
        return y * x

    x = _rng.normal(size=5)
    _compare(function, x, np.array(3.0))
    assert "NumPy computes" not in ag.compile(function).explain(x, np.array(3.0))
    _compare(function, x, np.array([3.0, 4.0, 5.0]))


def test_writes_of_integers_to_floats() -> None:
    @ag.compile
    def function(x: Any, value: Any) -> Any:
        y = ag.copy(x)
        y[1:3] = value
        return y

    np.testing.assert_array_equal(function(np.zeros(4), np.array([7, 8])), [0, 7, 8, 0])
    found = function(np.arange(4), np.array([True, False]))
    np.testing.assert_array_equal(found, [0, 1, 0, 3])
    assert found.dtype == np.int64
