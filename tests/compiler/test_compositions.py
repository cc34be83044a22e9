"""Ops that native code makes of others: short convolutions, small matrices, triangles, norms."""

from typing import Any

import numpy as np
import pytest

import arraygrad as ag

_rng = np.random.default_rng(8)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("lengths", [(10, 3), (3, 10), (1, 1), (100, 90), (90, 40)])
def test_convolutions(lengths: tuple[int, int], mode: str) -> None:
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


def _compare(function: Any, x: Any) -> bool:
    """Compare values and gradients with eager mode. Returns whether all steps are native."""

    def gradient(x: Any) -> Any:
        return ag.func.grad(lambda x: ag.sum(ag.sin(function(x))))(x)

    np.testing.assert_allclose(ag.compile(function)(x), function(x), rtol=1e-12, atol=1e-12)
    compiled = ag.compile(gradient)
    np.testing.assert_allclose(compiled(x), gradient(x), rtol=1e-11, atol=1e-12)
    return "NumPy computes" not in compiled.explain(x)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 3), (5, 2, 2), (5, 3, 3), (4, 4)])
def test_determinants(shape: tuple[int, ...]) -> None:
    assert _compare(ag.linalg.det, _rng.normal(size=shape)) == (shape[-1] < 4)


def test_determinants_of_singular_matrices() -> None:
    x = np.array([[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]])
    np.testing.assert_array_equal(ag.compile(ag.linalg.det)(x), [0.0, 0.0])
    found = ag.compile(ag.func.grad(lambda x: ag.linalg.det(x).sum()))(x)
    np.testing.assert_array_equal(found, [[[4.0, -2.0], [-2.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])


@pytest.mark.parametrize("k", [-1, 0, 2, -9, 9])
@pytest.mark.parametrize("which", [ag.tril, ag.triu])
def test_triangles(which: Any, k: int) -> None:
    assert _compare(lambda x: which(x, k=k), _rng.normal(size=(2, 4, 5)))
    for x in (np.full((3, 4), np.nan), np.arange(12).reshape(4, 3), np.ones((2, 2), bool)):
        found = ag.compile(lambda x: which(x, k=k))(x)
        np.testing.assert_array_equal(found, which(x, k=k))
        assert found.dtype == x.dtype


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_norms(order: int, axis: Any) -> None:
    def norm(x: Any) -> Any:
        return ag.linalg.vector_norm(x, ord=order, axis=axis)

    assert _compare(norm, _rng.normal(size=(4, 5))) == (order < 3)
    for x in (np.arange(6).reshape(2, 3), np.ones((2, 3)) * 1j):
        np.testing.assert_allclose(ag.compile(norm)(x), norm(x))
