"""Whole programs that write in place: their gradients, also under every transform."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraygrad as ag

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_heat_equation() -> None:
    example = load("heat_equation")
    truth, found = example["main"]()
    assert abs(truth - found) < 1e-8
    start = np.exp(-(np.linspace(-3, 3, 11) ** 2))
    k = ag.tensor(0.7, requires_grad=True)

    def solve(k: Any) -> Any:
        return example["solve"](k, start, 5)

    assert ag.testing.gradcheck(solve, (k,))
    assert ag.testing.gradgradcheck(solve, (k,))
    np.testing.assert_allclose(
        ag.func.jacrev(solve)(np.array(0.7)),
        ag.func.jacrev(lambda k: example["solve_without_writing"](k, start, 5))(np.array(0.7)),
    )


def test_kalman_smoother() -> None:
    example = load("kalman_smoother")
    path, smoothed, noise = example["main"]()
    assert np.std(smoothed - path) < 0.6  # the observations are 1.0 off
    assert noise[0] < -2
    observations = np.array([0.3, 0.9, 2.2, 2.9])
    x = ag.tensor([0.1, -0.3], requires_grad=True)

    def both(noise: Any) -> Any:
        return example["smooth"](noise, observations)

    assert ag.testing.gradcheck(both, (x,))
    assert ag.testing.gradgradcheck(both, (x,))


def test_lattice() -> None:
    example = load("lattice")
    assert example["main"]() < 1e-12
    rng = np.random.default_rng(0)
    scores = ag.tensor(rng.standard_normal((4, 3)), requires_grad=True)
    moves = ag.tensor(rng.standard_normal((3, 3)), requires_grad=True)
    assert ag.testing.gradcheck(example["total"], (scores, moves))
    assert ag.testing.gradgradcheck(example["total"], (scores, moves))


def test_back_substitution() -> None:
    solve = load("lattice")["back_substitution"]
    rng = np.random.default_rng(0)
    upper = np.triu(rng.standard_normal((5, 5))) + 3 * np.eye(5)
    right = rng.standard_normal(5)
    np.testing.assert_allclose(solve(upper, right).numpy(), np.linalg.solve(upper, right))
    arguments = (ag.tensor(upper, requires_grad=True), ag.tensor(right, requires_grad=True))
    assert ag.testing.gradcheck(solve, arguments)
    assert ag.testing.gradgradcheck(solve, arguments)
    jacobian = ag.func.jacobian(solve, 1)(upper, right)
    np.testing.assert_allclose(jacobian, np.linalg.inv(upper), atol=1e-12)


# --- under transforms ----------------------------------------------------------------------------


def copy_and_write(x: Any) -> Any:
    y = x * 1
    y[0] = 2.0
    y += 1
    y[1] = y[0] * x[2]
    return (y * y).sum()


def fill_zeros_like(x: Any) -> Any:
    h = ag.zeros_like(x)
    h[0] = x[1]
    h[1:] = x[:2] * x[0]
    return (h**2).sum()


def views_of_a_constant(x: Any) -> Any:
    h = ag.zeros(4)
    v = h[1:3]
    v += x[:2]
    h[0] = x[0] * h[1]
    h[3] = v[0] * v[1]
    return (h * h).sum()


def views_of_views(x: Any) -> Any:
    y = x * 2
    v = y[1:]
    w = v[::-1]
    w[0] *= x[0]
    v += 1
    y[...] = y * 2
    return (w * y[:2]).sum()


def recurrence(x: Any) -> Any:
    h = ag.zeros(x.shape[0])
    h[0] = x[0]
    for i in range(1, x.shape[0]):
        h[i] = ag.sin(h[i - 1]) * x[i]
    return h[-1] * h.sum()


def masks_and_methods(x: Any) -> Any:
    y = x * 1
    y[ag.asarray([0, 0])] = x[1:]
    y[y > 1.0] = 0.3
    y.exp_()
    y.clamp_(0.0, 3.0)
    return y.sum()


def constants_first(x: Any) -> Any:
    h = ag.ones((3, 2))
    early = h[0] * x[:2]  # saved while it still is a constant
    h[1] = early
    h[2] = h[1] * early
    return (h * h).sum()


FUNCTIONS = [
    copy_and_write,
    fill_zeros_like,
    views_of_a_constant,
    views_of_views,
    recurrence,
    masks_and_methods,
    constants_first,
]
X = np.array([0.5, 1.2, 0.7])


def differences(function: Callable[[Any], Any], x: Any) -> Any:
    """The gradient by finite differences."""

    def at(x: Any) -> Any:
        return np.asarray(ag.asarray(function(ag.tensor(x))))

    return np.stack([(at(x + 1e-6 * e) - at(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_transforms(function: Any) -> None:
    func = ag.func
    slope = differences(function, X)
    tangent = np.array([0.3, -0.2, 1.0])
    before = X.copy()
    np.testing.assert_allclose(func.grad(function)(X), slope, atol=1e-7)
    np.testing.assert_allclose(func.jvp(function, (X,), (tangent,))[1], slope @ tangent, atol=1e-7)
    np.testing.assert_allclose(func.jacfwd(function)(X), slope, atol=1e-7)
    np.testing.assert_allclose(func.grad(func.checkpoint(function))(X), slope, atol=1e-7)
    many = np.stack([X, X + 0.1, X - 0.1])
    values = [function(ag.tensor(x)).item() for x in many]
    np.testing.assert_allclose(func.vmap(function)(many), values)
    slopes = [differences(function, x) for x in many]
    np.testing.assert_allclose(func.vmap(func.grad(function))(many), slopes, atol=1e-7)
    hessian = differences(func.grad(function), X)
    np.testing.assert_allclose(func.hessian(function)(X), hessian, atol=1e-6)
    np.testing.assert_allclose(func.jacrev(func.grad(function))(X), hessian, atol=1e-6)
    np.testing.assert_allclose(func.jacfwd(func.jacfwd(function))(X), hessian, atol=1e-6)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: ag.func.grad(f)(X),
        lambda f: ag.func.jvp(f, (X,), (X,)),
        lambda f: ag.func.vmap(f)(X),
    ],
)
def test_nothing_is_written_outside(transform: Any) -> None:
    outside = ag.zeros(3)

    def write(x: Any) -> Any:
        outside[0] = x.sum()
        return outside.sum()

    def add(x: Any) -> Any:
        held = outside
        held += x.sum()
        return held.sum()

    for function in (write, add):
        with pytest.raises(TypeError, match="outlive the transform"):
            transform(function)
    assert outside.tolist() == [0, 0, 0]


def test_writes_to_batched_arrays_change_their_views() -> None:
    def function(x: Any) -> Any:
        v = x[:2]
        v += 10
        x[1] = 0.0
        return x, v

    x = np.arange(6.0).reshape(2, 3)
    changed, view = ag.func.vmap(function)(x)
    assert changed.tolist() == [[10, 0, 2], [13, 0, 5]]
    assert view.tolist() == [[10, 0], [13, 0]]
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_an_index_that_differs_over_a_batch() -> None:
    def function(x: Any, i: Any) -> Any:
        x[i] = 0.0
        return x

    with pytest.raises(TypeError, match="differs over a batch"):
        ag.func.vmap(function)(np.ones((2, 3)), np.array([[0], [1]]))


def test_a_saved_array_of_an_outer_transform_that_changes() -> None:
    def outer(x: Any) -> Any:
        scale = x * 1

        def inner(w: Any) -> Any:
            y = (w * scale).sum()
            scale.add_(1)
            return y

        return ag.func.grad(inner)(X).sum()

    assert ag.func.grad(outer)(X).tolist() == [1] * len(X)
    assert ag.func.jvp(outer, (X,), (X,))[1] == X.sum()
    assert ag.func.vmap(outer)(X[None]).tolist() == [X.sum()]


# --- other array libraries -----------------------------------------------------------------------


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("function", FUNCTIONS[:1], ids=lambda f: f.__name__)
def test_other_libraries(library: str, function: Any) -> None:
    xp = pytest.importorskip(library)

    def programs(x: Any) -> Any:
        y = x * 1
        v = y[1:]
        y[0] = x[1] * 2.0
        v += 1.0
        v[0] = v[1] * 2.0
        y *= x
        return y

    x = ag.tensor(xp.asarray(X), requires_grad=True)
    expected = ag.tensor(X, requires_grad=True)
    out, reference = programs(x), programs(expected)
    np.testing.assert_allclose(np.asarray(out.detach().array), reference.detach().numpy())
    assert type(out.array) is type(x.array)
    found = ag.grad(out.sum(), x)
    np.testing.assert_allclose(np.asarray(found.array), ag.grad(reference.sum(), expected).numpy())
    found = ag.grad(function(x), x)
    np.testing.assert_allclose(np.asarray(found.array), differences(function, X), atol=1e-7)
