"""HIPS autograd's operators on functions, and its conventions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import arraygrad.compat.hips.numpy as anp
from arraygrad.compat import hips
from arraygrad.compat.hips.core import make_vjp
from arraygrad.compat.hips.test_util import check_grads
from arraygrad.compat.hips.tracer import isbox

X = np.array([0.3, -1.2, 2.0])
M = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0], [2.0, 2.0, 1.0]])


def test_numbers_come_out_as_numbers() -> None:
    for value in (hips.grad(anp.tanh)(0.5), hips.deriv(anp.tanh)(0.5), hips.grad(abs)(2.0)):
        assert type(value) is np.float64
    value, gradient = hips.value_and_grad(lambda x: anp.sum(x**2))(X)
    assert type(value) is np.float64
    np.testing.assert_allclose(gradient, 2 * X)
    assert hips.grad(lambda x: anp.sum(x))(np.float32(1)).dtype == np.float32


def test_several_arguments_and_structures() -> None:
    def f(x: Any, y: Any, scale: float = 1.0) -> Any:
        return scale * anp.sum(x["a"][0] * y) + x["b"]

    x: Any = {"a": [X], "b": 2.0}
    by_x, by_y = hips.grad(f, argnum=[0, 1])(x, 3 * X, scale=2.0)
    np.testing.assert_allclose(by_x["a"][0], 6 * X)
    assert by_x["b"] == 1.0
    np.testing.assert_allclose(by_y, 2 * X)
    by_name = hips.multigrad_dict(f)(x, X)
    np.testing.assert_allclose(by_name["y"], X)
    np.testing.assert_allclose(hips.grad_named(f, "y")(x, X), X)
    assert hips.grad(f, 1).__name__ == "grad_of_f_wrt_argnum_1"


def test_jacobians_and_hessians() -> None:
    def f(x: Any) -> Any:
        return anp.tanh(anp.dot(M, x)) * x[0]

    def scalar(x: Any) -> Any:
        return anp.sum(f(x) ** 2)

    jacobian = hips.jacobian(f)(X)
    rows = [hips.grad(lambda x, i=i: f(x)[i])(X) for i in range(3)]
    np.testing.assert_allclose(jacobian, rows)
    hessian = hips.hessian(scalar)(X)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    check_grads(scalar)(X)
    for product in (
        hips.hessian_vector_product(scalar)(X, X),
        hips.make_hvp(scalar)(X)[0](X),
        hips.grad(lambda x: anp.dot(hips.grad(scalar)(x), X))(X),
    ):
        np.testing.assert_allclose(product, hessian @ X)
    np.testing.assert_allclose(hips.make_jvp(f)(X)(X)[1], jacobian @ X)
    np.testing.assert_allclose(hips.vector_jacobian_product(f)(X, X), X @ jacobian)
    np.testing.assert_allclose(hips.make_ggnvp(f)(X)(X), jacobian.T @ jacobian @ X)
    np.testing.assert_allclose(hips.elementwise_grad(anp.sin)(X), np.cos(X))
    assert hips.jacobian(lambda x: x[:, None] * M)(X).shape == (3, 3, 3)
    assert hips.jacobian(lambda x: x * X)(2.0).shape == (3,)


def test_results_of_one_element_have_a_gradient_and_others_none() -> None:
    np.testing.assert_allclose(hips.grad(lambda x: anp.sum(x, keepdims=True))(X), 1)
    for f in (lambda x: 2 * x, lambda x: anp.sum(x) * 1j):
        with pytest.raises(TypeError, match="real scalar-output"):
            hips.grad(f)(X)
    with (
        pytest.raises(TypeError, match="vector space"),
        pytest.warns(UserWarning, match="independent"),
    ):
        hips.grad(lambda x: anp.allclose(x, 1))(X)


@pytest.mark.parametrize("rows", [1, 2])
def test_jacobians_by_complex_numbers_have_the_convention_of_grad(rows: int) -> None:
    z = np.array([1 + 2j, 3 - 1j])

    def f(z: Any) -> Any:
        return anp.real(1j * z**2)[:rows]

    expected = [hips.grad(lambda z, i=i: f(z)[i])(z) for i in range(rows)]
    np.testing.assert_allclose(hips.jacobian(f)(z), expected)
    np.testing.assert_allclose(hips.jacobian(f)(z)[0], [-4 + 2j, 0])


def test_complex_cotangents_are_conjugated() -> None:
    z = 0.5 + 2j
    assert np.isclose(hips.holomorphic_grad(lambda z: z**2)(z), 2 * z)
    # The gradient of |z|² is (d/dx - i d/dy)|z|², twice the conjugate of z.
    assert np.isclose(hips.grad(lambda z: anp.real(z * anp.conj(z)))(z), 2 * np.conj(z))
    vjp, _ = make_vjp(lambda z: 3j * z, z)
    assert np.isclose(vjp(1.0 + 1j), (1 + 1j) * 3j)
    check_grads(lambda z: anp.abs(z) * anp.exp(z))(z)


def test_arrays_of_integers_become_real_and_other_types_are_refused() -> None:
    np.testing.assert_allclose(hips.grad(lambda x: anp.sum(x**2))(np.arange(3)), [0, 2, 4])
    for x in (2, "a", None, [1]):
        with pytest.raises(TypeError, match=r"Can't differentiate w\.r\.t\. type"):
            hips.grad(lambda x: 1.0)(x)


def test_a_result_that_depends_on_nothing_warns() -> None:
    with pytest.warns(UserWarning, match="independent"):
        assert hips.grad(lambda x: 1.0)(2.0) == 0
    with pytest.warns(UserWarning, match="independent"):
        assert hips.make_jvp(lambda x: 1.0)(2.0)(1.0) == (1.0, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(hips.jacobian(lambda x: X)(X), np.zeros((3, 3)))


def test_aux_and_checkpoint() -> None:
    gradient, aux = hips.grad_and_aux(lambda x: (anp.sum(x**2), x + 1))(X)
    np.testing.assert_allclose(gradient, 2 * X)
    np.testing.assert_allclose(aux, X + 1)
    calls = []

    def f(x: Any) -> Any:
        calls.append(isbox(x))
        return anp.sin(x**2)

    g = hips.checkpoint(f)
    np.testing.assert_allclose(hips.grad(lambda x: anp.sum(g(x)))(X), np.cos(X**2) * 2 * X)
    assert calls == [False, True]
    check_grads(g, modes=["rev"])(X)


def test_inner_derivatives_do_not_meet_outer_ones() -> None:
    def f(x: Any) -> Any:
        return x * hips.grad(lambda y: x + y)(2.0)

    assert hips.grad(f)(1.0) == 1.0
    assert hips.deriv(f)(1.0) == 1.0
    assert np.isclose(hips.grad(hips.deriv(hips.grad(anp.sin)))(1.0), -np.cos(1.0))
