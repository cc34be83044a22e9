"""`autograd.numpy`: what is not NumPy's function by a rule of arraygrad."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad.compat.hips.numpy as anp
from arraygrad.compat.hips import deriv, differential_operators, grad, jacobian
from arraygrad.compat.hips.numpy import numpy_wrapper
from arraygrad.compat.hips.numpy.numpy_jvps import broadcast
from arraygrad.compat.hips.numpy.numpy_vjps import (
    match_complex,
    replace_zero,
    unbroadcast,
    unbroadcast_f,
)
from arraygrad.compat.hips.numpy.numpy_wrapper import metadata
from arraygrad.compat.hips.test_util import check_grads

X = np.array([0.5, -1.0, 2.0])
M = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.5], [0.1, 0.5, 3.0]])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: anp.array([x[0], [1.0, 2.0][0], x[1] * 2]),
        lambda x: anp.array([[x[0], 1], [2, x[1]]]),
        lambda x: anp.array(x, ndmin=2),
        lambda x: anp.full((2, 2), x[0]),
        lambda x: anp.r_[x[0], 1.0, x, 0:3],
        lambda x: anp.c_[x, np.ones(3), x**2],
        lambda x: anp.stack(map(anp.sin, (x, x))),
        lambda x: anp.stack({"a": x, "b": 2 * x}.values()),
        lambda x: anp.concatenate(a * x for a in (1.0, 2.0)),
        lambda x: anp.sum([x[0], x[1] ** 2]),
        lambda x: anp.mean([x, 2 * x], axis=0),
        lambda x: anp.max([x[0], x[2]]),
        lambda x: anp.where(x > 0, x, [0.0, 1.0, 2.0]),
        lambda x: anp.einsum(x, [0], M, [0, 1], [1]),
        lambda x: anp.linalg.solve(M * x[2], x),
        lambda x: anp.linalg.norm(x, 3),
        lambda x: anp.real(anp.fft.ifft(anp.fft.fft(x) * X)),
        lambda x: anp.row_stack((x, x)),
        lambda x: anp.select([X > 0], [x], 0.0),
    ],
)
def test_functions(f: Any) -> None:
    check_grads(f)(X)


def test_without_boxes_functions_are_numpys() -> None:
    assert type(anp.sum(X)) is np.float64
    assert anp.sin.__name__ == "sin"
    assert anp.float64 is np.float64
    assert anp.newaxis is None
    assert anp.ndarray is np.ndarray
    assert isinstance(anp.random.rand(2), np.ndarray)
    np.testing.assert_array_equal(anp.r_[0:3, 5], [0, 1, 2, 5])
    assert anp.where(True, 1, 2) == 1
    assert type(anp.where(False, 1, 2.0)) is float
    assert anp.where([True, False], [1, 2], [3, 4]) == [1, 4]
    with pytest.raises(ValueError, match="both or neither"):
        anp.where(True, 1)


def test_integers_of_a_box() -> None:
    np.testing.assert_allclose(grad(lambda x: X[anp.int64(x)][0] * x[0])(np.array([2.0])), [2.0])
    assert isinstance(np.int64(3), anp.int64)
    assert np.zeros(2, anp.int32).dtype == np.int32


@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigh_is_a_function_of_one_triangle(uplo: str) -> None:
    def f(x: Any) -> Any:
        values, vectors = anp.linalg.eigh(x, uplo)
        return anp.sum(values**2 * X) + anp.sum(vectors[0] ** 2 * X)

    gradient = grad(f)(M)
    other = np.triu(gradient, 1) if uplo == "L" else np.tril(gradient, -1)
    np.testing.assert_array_equal(other, 0)
    check_grads(f, modes=["rev"], order=1)(M)


def test_helpers_for_rules_of_other_packages() -> None:
    f = unbroadcast_f(np.ones((3, 1)), lambda g: 2 * g)
    np.testing.assert_allclose(f(np.ones((2, 3, 4))), np.full((3, 1), 16.0))
    many = np.arange(24.0).reshape(2, 3, 4)
    of_two = metadata(np.ones(2))
    np.testing.assert_allclose(unbroadcast(many, of_two, broadcast_idx=-1), many.sum(axis=(1, 2)))
    assert match_complex(1.0, 2 + 1j) == 2.0
    assert np.iscomplexobj(match_complex(1j, 2.0))
    np.testing.assert_array_equal(replace_zero(np.array([0.0, 2.0]), 1.0), [1, 2])
    assert metadata(M)[:2] == ((3, 3), 2)
    diagonal = anp.make_diagonal(X, axis1=-1, axis2=-2)
    np.testing.assert_array_equal(diagonal, np.diag(X))


def test_large_jacobians_are_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return anp.sin(anp.dot(M, x))

    whole = jacobian(f)(X)
    for most in (1, 6):
        monkeypatch.setattr(differential_operators, "_MOST", most)
        np.testing.assert_allclose(jacobian(f)(X), whole)


@pytest.mark.parametrize("module", [anp, np])
@pytest.mark.parametrize(
    "f",
    [
        lambda xp, x: xp.where(x > 0, xp.zeros_like(x), x**2),
        lambda xp, x: xp.ones_like(x) * x**2,
        lambda xp, x: xp.concatenate([xp.full_like(x, 2.0), x**2]),
        lambda xp, x: xp.dot(xp.ones_like(x), x**2),
        lambda xp, x: xp.piecewise(x, [x > 0], [lambda x: x**2, lambda x: 3 * x]),
    ],
)
def test_new_arrays_like_a_box_are_constants(module: Any, f: Any) -> None:
    assert type(anp.zeros_like(X)) is np.ndarray
    at = np.array([0.5, -1.0, 2.0])
    steps = np.eye(3) * 1e-6
    expected = [(f(np, at + s) - f(np, at - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(jacobian(lambda x: f(module, x))(at).T, expected, atol=1e-8)
    kinds: list[Any] = []
    grad(lambda x: kinds.append(type(module.zeros_like(x))) or anp.sum(x))(at)  # type: ignore[func-returns-value]
    assert kinds == [np.ndarray]


def test_questions_about_boxes_are_answered_for_their_values() -> None:
    found: list[bool] = []
    grad(lambda x: found.append(anp.isscalar(x)) or x**2)(2.0)  # type: ignore[func-returns-value]
    grad(lambda x: found.append(anp.isscalar(x)) or anp.sum(x))(X)  # type: ignore[func-returns-value]
    assert found == [True, False]


@pytest.mark.parametrize("derivative", [grad, deriv])
def test_functions_and_methods_that_reorder(derivative: Any) -> None:
    x = np.array([0.3, 0.7, -1.2])
    picked = [True, False, True]
    for f, expected in (
        (np.ptp, [0, 1, -1]),
        (lambda x: x.ptp(), [0, 1, -1]),
        (lambda x: anp.sum(anp.compress(picked, x)), [1, 0, 1]),
        (lambda x: anp.sum(x.compress(picked)), [1, 0, 1]),
        (lambda x: anp.sum(x[anp.argpartition(x, 1)[:1]]), [0, 0, 1]),
        (lambda x: anp.sum(x[x.argpartition(1)[:1]]), [0, 0, 1]),
    ):
        wanted = expected if derivative is grad else np.sum(expected)
        np.testing.assert_array_equal(derivative(f)(x), wanted)


def test_vectorize() -> None:
    x = np.array([[0.3, 0.7], [-1.2, 2.0]])

    @anp.vectorize
    def both(x: Any, y: Any) -> Any:
        return (x * y, y) if x > 0 else (x, y**2)

    def f(x: Any) -> Any:
        first, second = both(x, 3.0 * x[0])
        return anp.sum(first) + anp.sum(second)

    np.testing.assert_allclose(both(x, 2.0)[0], anp.where(x > 0, 2 * x, x))
    check_grads(f)(x)
    with pytest.raises(NotImplementedError, match="for each element"):
        grad(lambda x: anp.vectorize(anp.sum, signature="(n)->()")(x).sum())(x)


def test_functions_and_helpers_that_packages_import_from_inside() -> None:
    assert vars(numpy_wrapper)["sin"] is anp.sin
    assert vars(numpy_wrapper)["_astype"] is anp.astype
    assert broadcast(1.0, X + 1j).tolist() == [1 + 0j] * 3
    check_grads(lambda x: broadcast(x, M))(X)
