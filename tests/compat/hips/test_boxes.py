"""Boxes have the manners of HIPS autograd's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad.compat.hips.numpy as anp
from arraygrad.compat.hips import builtins, deriv, grad
from arraygrad.compat.hips.core import VJPNode
from arraygrad.compat.hips.numpy.numpy_boxes import ArrayBox
from arraygrad.compat.hips.tracer import Box, getval, isbox, new_box, trace_stack

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.2, -0.7]])


def total(x: Any) -> Any:
    return anp.sum(x * np.arange(1.0, 1.0 + x.size).reshape(x.shape))


@pytest.mark.parametrize("derivative", [grad, deriv])
def test_operators_in_place_make_a_new_array(derivative: Any) -> None:
    def f(x: Any) -> Any:
        before = y = x * 2
        y += x
        y *= x
        return before * y  # 2x · 3x²

    assert derivative(f)(2.0) == 18 * 2.0**2


@pytest.mark.parametrize("derivative", [grad, deriv])
def test_what_would_lose_a_derivative_is_refused(derivative: Any) -> None:
    def assign(x: Any) -> Any:
        x[0] = 1.0
        return x

    def store(x: Any) -> Any:
        a = np.zeros(2)
        a[0] = x[0, 0]
        return a

    for f in (assign, store, lambda x: float(x[0, 0]), lambda x: x[0, 0].item()):
        with pytest.raises((TypeError, ValueError)):
            derivative(f)(X)


def test_results_without_a_derivative_are_plain() -> None:
    def f(x: Any) -> Any:
        for value in (x > 0, anp.argmax(x), anp.isnan(x), anp.shape(x), x.argsort(), x == x):
            assert not isbox(value)
        assert isinstance(x > 0, np.ndarray)
        return anp.sum(X[(x > 0).any(axis=1)] * x) * X[0, x.argmax(axis=1)[0]]

    np.testing.assert_allclose(grad(f)(X), X * X[0].max())


def test_what_is_inside() -> None:
    def f(x: Any) -> Any:
        def inner(y: Any) -> Any:
            z = x * y
            assert isinstance(z, ArrayBox)
            assert isbox(z._value)
            assert getval(z) == z._value._value == 6.0
            assert type(getval(z)) is np.float64
            assert builtins.isinstance(z, float)
            assert builtins.type(z) is np.float64
            return z

        return grad(inner)(3.0)

    assert grad(f)(2.0) == 1.0


@pytest.mark.parametrize(
    "method",
    [
        lambda x: x.T,
        lambda x: x.reshape(3, 2),
        lambda x: x.reshape((3, 2)),
        lambda x: x.transpose(1, 0),
        lambda x: x.transpose(),
        lambda x: x.flatten(),
        lambda x: x.ravel(),
        lambda x: x.sum(axis=0),
        lambda x: x.mean(1),
        lambda x: x.std(axis=1, ddof=1),
        lambda x: x.cumsum(axis=1),
        lambda x: x.repeat(2, axis=0),
        lambda x: x.take([0, 1], axis=1),
        lambda x: x.astype(float),
        lambda x: x.clip(0.0, 1.0),
        lambda x: x.swapaxes(0, 1),
        lambda x: x.squeeze(),
        lambda x: x.dot(np.ones(3)),
        lambda x: x.copy(),
    ],
)
def test_methods_are_numpys(method: Any) -> None:
    values = []

    def f(x: Any) -> Any:
        result = method(x)
        values.append(getval(result))
        return total(result)

    gradient = grad(f)(X)
    np.testing.assert_allclose(values[0], method(X))
    step = 1e-6 * np.cos(np.arange(6.0)).reshape(2, 3)
    change = total(method(X + step)) - total(method(X - step))
    np.testing.assert_allclose(np.sum(gradient * step), change / 2, rtol=1e-6)


def test_lists_are_operands() -> None:
    x = np.ones(2)
    np.testing.assert_allclose(grad(lambda x: anp.sum([1.0, 2.0] - x * [3.0, 4.0]))(x), [-3, -4])
    np.testing.assert_allclose(deriv(lambda x: anp.sum(x * [3.0, 4.0] + (1, 2)))(x), 7)


class Quantity(np.ndarray[Any, Any]):
    """An array type of another package, which can be fixed."""

    fixed = False


def boxed(x: Quantity, *place: Any) -> Any:
    if x.fixed:
        raise ValueError("a fixed quantity")
    return ArrayBox(x, *place)


def test_a_package_can_say_how_its_arrays_are_boxed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Box, "type_mappings", {})
    x = np.array([1.0, 2.0]).view(Quantity)
    Box.register(Quantity)
    np.testing.assert_array_equal(grad(lambda x: (x**3).sum())(x), [3.0, 12.0])
    Box.type_mappings[Quantity] = boxed
    np.testing.assert_array_equal(grad(lambda x: (x**3).sum())(x), [3.0, 12.0])
    x.fixed = True
    with pytest.raises(ValueError, match="a fixed quantity"):
        grad(lambda x: (x**3).sum())(x)


def test_boxes_of_a_trace_made_by_hand() -> None:
    root = VJPNode.new_root()
    with trace_stack.new_trace() as trace:
        pair = new_box((1.0, np.array([2.0, 3.0])), trace, root)
        outer = new_box({"a": 2.0}, trace, root)
        result = pair[0] * pair[1] * outer["a"]
    assert all(map(isbox, (pair, outer, result)))
    assert pair._trace == outer._trace == result._trace
    assert pair._node is root
    np.testing.assert_array_equal(result._value, [4.0, 6.0])
    with pytest.raises(TypeError, match="Can't differentiate"):
        new_box("text", trace, root)
