"""`autograd.misc`, `autograd.tracer` and the vector spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad.compat.hips.numpy as anp
from arraygrad.compat.hips import grad
from arraygrad.compat.hips.core import JVPNode, VJPNode, backward_pass, trace, vspace
from arraygrad.compat.hips.extend import Box, VSpace
from arraygrad.compat.hips.misc import const_graph, flatten
from arraygrad.compat.hips.misc.fixed_points import fixed_point
from arraygrad.compat.hips.misc.flatten import flatten_func
from arraygrad.compat.hips.misc.optimizers import adam, rmsprop, sgd
from arraygrad.compat.hips.misc.tracers import full_graph
from arraygrad.compat.hips.test_util import check_grads
from arraygrad.compat.hips.tracer import getval
from arraygrad.compat.hips.util import quick_grad_check

X = np.array([0.5, -1.0, 2.0])


def test_flatten() -> None:
    value = {"b": (1.0, X), "a": [2 * X, ()]}
    vector, unflatten = flatten(value)
    np.testing.assert_array_equal(vector, [*(2 * X), 1.0, *X])
    again = unflatten(vector)
    np.testing.assert_array_equal(again["b"][1], X)
    assert again["a"][1] == ()
    np.testing.assert_allclose(grad(lambda x: anp.sum(flatten([x, x])[0] ** 2))(X), 4 * X)
    function, _, start = flatten_func(lambda v: {"c": v["b"][0] * v["b"][1]}, value)
    np.testing.assert_array_equal(function(start), X)


@pytest.mark.parametrize("optimize", [adam, rmsprop, sgd])
def test_optimizers_of_structures(optimize: Any) -> None:
    def loss(p: Any, i: int) -> Any:
        return anp.sum((p["x"] - X) ** 2) + p["y"] ** 2

    seen: list[int] = []
    found = optimize(
        grad(loss),
        {"x": 0 * X, "y": 1.0},
        callback=lambda p, i, g: seen.append(i),
        num_iters=300,
        step_size=0.05,
    )
    np.testing.assert_allclose(found["x"], X, atol=0.02)
    assert seen == list(range(300))


@pytest.mark.parametrize(
    ("optimize", "expected"),
    [
        (sgd, 1 - 0.1 * 0.1 * 2 - 0.1 * (0.9 * 0.1 * 2 + 0.1 * 4)),
        (rmsprop, 1 - 0.2 / np.sqrt(1.3) - 0.4 / np.sqrt(0.9 * 1.3 + 1.6)),
        (
            adam,
            0.9 - 0.1 * (0.18 + 0.4) / 0.19 / np.sqrt((0.999 * 0.004 + 0.016) / (1 - 0.999**2)),
        ),
    ],
)
def test_two_steps_of_optimizers(optimize: Any, expected: float) -> None:
    found = optimize(lambda x, i: 2.0 * (i + 1) + 0 * x, np.ones(1), num_iters=2, step_size=0.1)
    np.testing.assert_allclose(found, [expected], rtol=1e-7)


def test_fixed_points() -> None:
    def newton(a: Any) -> Any:
        return lambda x: (x + a / x) / 2

    def root(a: Any) -> Any:
        return fixed_point(newton, a, 1.0, lambda x, y: np.abs(x - y), 1e-12)

    assert np.isclose(grad(root)(2.0), 0.5 / np.sqrt(2.0))
    assert np.isclose(grad(grad(root))(2.0), -0.25 * 2.0**-1.5)


def test_graphs_run_again() -> None:
    calls = []

    def f(x: Any, y: Any) -> Any:
        calls.append(None)
        return grad(lambda z: anp.sin(z) * y)(x) + anp.linalg.slogdet(y * np.eye(2))[1]

    again = const_graph(f)
    for x, y in ((0.1, 0.2), (0.5, 2.0)):
        assert np.isclose(again(x, y), np.cos(x) * y + 2 * np.log(y))
    assert len(calls) == 1
    end = full_graph(lambda x: anp.sum(anp.sin(x)), X)
    assert np.isclose(end.value, np.sin(X).sum())
    ((_, node),) = end.recipe[3]
    np.testing.assert_allclose(node.value, np.sin(X))


def test_nodes_of_both_modes() -> None:
    def f(x: Any) -> Any:
        y = anp.exp(x[0]) * x[1]
        return anp.sum(y * y)

    value, end = trace(VJPNode.new_root(), f, (X, X + 1))
    expected = grad(f)((X, X + 1))
    assert np.isclose(value, f((X, X + 1)))
    pulled = backward_pass(np.float64(1.0), end)
    for part, right in zip(pulled, expected, strict=True):
        np.testing.assert_allclose(part, right)
    _, end = trace(JVPNode.new_root(X), lambda x: anp.sum(x**2), X)
    assert np.isclose(end.g, 2 * np.sum(X**2))


def test_spaces() -> None:
    space = vspace({"a": X, "b": [1j, 2.0]})
    assert space.size == 6
    assert space == vspace(space.zeros())
    assert len(list(space.standard_basis())) == 6
    total = space.zeros()
    for vector in space.standard_basis():
        total = space.add(total, vector)
    assert space.inner_prod(total, total) == space.inner_prod(space.ones(), space.ones()) == 6
    assert space.covector({"a": X, "b": [1j, 2.0]})["b"][0] == -1j
    check_grads(space.inner_prod, (0, 1))(space.randn(), space.randn())
    with pytest.raises(TypeError, match="Can't find vector space"):
        vspace("text")

    class Own:
        pass

    class OwnSpace(VSpace):
        size = 3

    OwnSpace.register(Own)
    try:
        assert vspace(Own()).size == 3
    finally:
        del VSpace.mappings[Own]
    with pytest.raises(TypeError, match="cannot be boxed"):
        Box.register(Own)


def test_checks_find_wrong_derivatives() -> None:
    def wrong(x: Any) -> Any:  # which loses a part of its derivative
        return x**2 + getval(x)

    for modes in (["fwd"], ["rev"]):
        with pytest.raises(AssertionError, match=r"check of wrong|mismatch"):
            check_grads(wrong, modes=modes, order=1)(1.0)
    with pytest.warns(UserWarning, match="deprecated"):
        quick_grad_check(lambda x, y: x * y, 1.0, (2.0,))
