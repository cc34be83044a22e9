"""Transforms within transforms, in any order and depth, and among imperative tensors."""

from __future__ import annotations

import cmath
import concurrent.futures
import contextvars
import itertools
import random
import threading
from typing import Any, ClassVar

import numpy as np
import pytest
from rows import crossed, numbered, over

import arraygrad as ag
from arraygrad.autograd import forward_ad
from arraygrad.core.levels import in_flight, new_level
from arraygrad.func import (
    checkpoint,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)
from arraygrad.testing import assert_close

A = np.array([1.0, 2.0, 3.0])
M = np.arange(6.0).reshape(2, 3) / 4 + 0.5


def close(found: Any, expected: Any, tolerance: float = 1e-11) -> None:
    found = found.detach() if isinstance(found, ag.Tensor) else found
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


# --- towers of derivatives of one variable -------------------------------------------------------


def by_ag_grad(f: Any) -> Any:
    """The imperative `grad`, wherever it is called."""

    def derivative(x: Any) -> Any:
        ours = isinstance(x, ag.Tensor) and x.requires_grad
        with ag.enable_grad():  # a Function's forward is run without
            leaf = x.clone() if ours else ag.tensor(x, requires_grad=True)
            return ag.grad(f(leaf), leaf, create_graph=True)

    return derivative


def by_forward_ad(f: Any) -> Any:
    def derivative(x: Any) -> Any:
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, ag.ones_like(x).array)
            return forward_ad.unpack_dual(f(dual)).tangent

    return derivative


class Wrapped(ag.autograd.Function):
    """A function that is handed its derivative, as a custom rule."""

    @staticmethod
    def forward(x: Any, f: Any, derivative: Any) -> Any:
        return f(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.derivative = inputs[2]

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * ctx.derivative(x), None, None


ORDERS = {
    "grad": grad,
    "value_and_grad": lambda f: lambda x: value_and_grad(f)(x)[1],
    "jvp": lambda f: lambda x: jvp(f, (x,), (np.asarray(1.0),))[1],
    "vjp": lambda f: lambda x: vjp(f, x)[1](1.0)[0],
    "linearize": lambda f: lambda x: linearize(f, x)[1](1.0),
    "jacfwd": jacfwd,
    "jacrev": jacrev,
    "vmap(grad)": lambda f: lambda x: vmap(grad(f))(ag.stack([x, x + 1]))[0],
    "grad(vmap)": lambda f: lambda x: grad(lambda x: vmap(f)(ag.stack([x, 2 * x]))[0])(x),
    "vmap(jvp)": lambda f: lambda x: vmap(lambda t: jvp(f, (x,), (t,))[1])(np.array([2.0, 1.0]))[1],
    "vmap(pull)": lambda f: lambda x: vmap(vjp(f, x)[1])(np.array([2.0, 1.0]))[0][1],
    "ag.grad": by_ag_grad,
    "forward_ad": by_forward_ad,
    "checkpoint": lambda f: grad(checkpoint(f)),
    "grad of Function": lambda f: grad(lambda x: Wrapped.apply(x, f, grad(f))),
    "jvp of Function": lambda f: (
        lambda x: jvp(lambda x: Wrapped.apply(x, f, grad(f)), (x,), (np.asarray(1.0),))[1]
    ),
    "closure": lambda f: (
        lambda x: grad(lambda y: f(x + y - ag.sin(y)) - f(x))(0.0) * 0 + grad(f)(x)
    ),
}

_ROOT = 0.5 + 1j


def base(x: Any) -> Any:
    return ag.exp(0.5 * x) * ag.sin(x)


def derivative(order: int, x: float) -> float:
    """Of exp(x/2) sin x, in closed form."""
    return (_ROOT**order * cmath.exp(_ROOT * x)).imag


@over("outer, middle, inner", itertools.product(ORDERS, ORDERS, ORDERS), first=2 * len(ORDERS))
def test_towers(outer: str, middle: str, inner: str) -> None:
    """Every transform around every pair of others: third derivatives, exactly."""
    third = ORDERS[outer](ORDERS[middle](ORDERS[inner](base)))
    value = third(np.asarray(0.3))
    value = value.item() if isinstance(value, ag.Tensor) else float(value)
    assert value == pytest.approx(derivative(3, 0.3), rel=1e-9)


@over("seed", numbered(40), first=3)
def test_higher_towers(seed: int) -> None:
    names = random.Random(seed).choices(list(ORDERS), k=4 + seed % 2)
    function: Any = base
    for name in names:
        function = ORDERS[name](function)
    value = function(np.asarray(0.3))
    value = value.item() if isinstance(value, ag.Tensor) else float(value)
    assert value == pytest.approx(derivative(len(names), 0.3), rel=1e-8), names


# --- perturbations that must not be confused -----------------------------------------------------


def test_perturbation_confusion() -> None:
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0) == 1
    assert grad(lambda x: x * grad(lambda y: x * y)(2.0))(3.0) == 6
    assert jvp(lambda x: x * jvp(lambda y: x + y, (1.0,), (1.0,))[1], (1.0,), (1.0,))[1] == 1
    assert jvp(lambda x: x * grad(lambda y: x * y)(2.0), (3.0,), (1.0,))[1] == 6
    assert grad(lambda x: x * jvp(lambda y: x * y, (2.0,), (1.0,))[1])(3.0) == 6


@crossed(
    outer=["grad", "jvp", "jacfwd", "vjp", "ag.grad", "forward_ad"],
    inner=["grad", "jvp", "jacrev", "linearize", "ag.grad", "forward_ad"],
)
def test_a_constant_inside_varies_outside(outer: str, inner: str) -> None:
    # d/dx ( x * d/dy (x y^2) at y = x ) = d/dx 2 x^3
    d_outer, d_inner = ORDERS[outer], ORDERS[inner]
    found = d_outer(lambda x: x * d_inner(lambda y: x * y * y)(x))(np.asarray(2.0))
    close(found, 24)


@pytest.mark.parametrize(
    "op",
    [
        ag.multiply,
        ag.matmul,
        ag.linalg.solve,
        lambda x, y: ag.concat((x, y)) ** 3,
        lambda x, y: ag.where(ag.asarray([True, False]), x * y, x + y),
        lambda x, y: ag.take_along_axis(x * y, ag.asarray([[1, 0]]), axis=0),
    ],
)
def test_an_inner_derivative_knows_the_tangents_of_its_own_level_only(op: Any) -> None:
    x, y, s, t = (np.random.default_rng(k).uniform(0.5, 1.5, (2, 2)) for k in range(4))

    def inner(x: Any) -> Any:
        return jvp(lambda y: op(x, y), (y,), (t,))[1]

    by_y = jacrev(lambda y: op(x, y))
    close(inner(x), np.tensordot(by_y(y), t, 2))
    both = jacrev(lambda x: jacrev(lambda y: op(x, y))(y))(x)
    close(jvp(inner, (x,), (s,))[1], np.tensordot(np.tensordot(both, s, 2), t, 2))


def test_higher_order_functions() -> None:
    """Amazing: a function that is returned from inside must not see its maker's perturbation."""

    def shifted(offset: Any) -> Any:
        return lambda f: lambda x: f(x + offset)

    found = jvp(lambda s: jvp(shifted(s)(ag.exp), (1.0,), (1.0,))[1], (0.0,), (1.0,))[1]
    close(found, np.e)
    twice = jvp(
        lambda s: jvp(
            shifted(s)(lambda x: jvp(shifted(s)(ag.exp), (x,), (1.0,))[1]), (1.0,), (1.0,)
        )[1],
        (0.0,),
        (1.0,),
    )[1]
    close(twice, 2 * np.e)


def test_closures_at_every_depth() -> None:
    def f(a: Any) -> Any:
        def g(b: Any) -> Any:
            def h(c: Any) -> Any:
                return vmap(lambda row: (row * a * b**2 * c**3).sum())(M).sum()

            return grad(h)(b)

        return jvp(g, (a,), (np.asarray(1.0),))[1]

    # h' = 3 a b^2 c^2 S at c = b gives 3 a b^4 S; then d/db 12 a b^3 S at b = a: 12 a^4 S
    close(grad(f)(2.0), 48 * 2.0**3 * M.sum())


def test_detach_cuts_through_all_levels() -> None:
    assert grad(grad(lambda x: x.detach() * x**2))(3.0) == 6
    assert jvp(grad(lambda x: x.detach() * x**2), (3.0,), (1.0,))[1] == 6
    assert grad(lambda x: jvp(lambda y: x.detach() * y**2, (x,), (1.0,))[1])(3.0) == 6
    close(vmap(grad(lambda x: x.detach() * x))(A), A)
    close(grad(lambda x: vmap(lambda y: y.detach() * y)(x).sum())(A), A)


# --- combinations with closed forms --------------------------------------------------------------


def cubes(x: Any) -> Any:
    return (x**3).sum()


@pytest.mark.parametrize(
    "second",
    [
        hessian,
        lambda f: jacfwd(jacrev(f)),
        lambda f: jacrev(jacfwd(f)),
        lambda f: jacrev(jacrev(f)),
        lambda f: jacfwd(jacfwd(f)),
        lambda f: jacobian(grad(f)),
        lambda f: jacfwd(grad(f), chunk_size=2),
        lambda f: lambda x: vmap(lambda v: hvp(f, (x,), (v,)))(np.eye(3)),
        lambda f: lambda x: vmap(linearize(grad(f), x)[1])(np.eye(3)),
        lambda f: lambda x: vmap(vjp(grad(f), x)[1])(np.eye(3))[0],
        lambda f: (
            lambda x: vmap(grad(lambda v, x: (grad(f)(x) * v).sum(), 1), (0, None))(np.eye(3), x)
        ),
    ],
)
def test_second_derivatives(second: Any) -> None:
    def f(x: Any) -> Any:
        return (x**3).sum() + x[0] * x[1] * x[2]

    expected = np.diag(6 * A) + np.array([[0, 3, 2], [3, 0, 1], [2, 1, 0]])
    close(second(f)(A), expected)
    close(vmap(second(f))(np.stack([A, A])), np.stack([expected] * 2))


def test_vmap_around_jacrev_around_vmap() -> None:
    found = vmap(jacrev(vmap(lambda row: ag.sin(row) * row.sum())))(np.stack([M, M + 1]))
    assert found.shape == (2, 2, 3, 2, 3)
    for k, m in enumerate([M, M + 1]):
        for i in range(2):
            rows = np.diag(np.cos(m[i]) * m[i].sum()) + np.sin(m[i])[:, None]
            close(found[k, i, :, i], rows)
            assert not found[k, i, :, 1 - i].any()


def test_hessian_of_vmap() -> None:
    found = hessian(lambda m: vmap(cubes, in_axes=1)(m).sum())(M)
    close(found.reshape(6, 6), np.diag(6 * M.ravel()))


def test_grad_of_grad_of_batched_loss() -> None:
    w = np.array([0.5, -1.0, 2.0])

    def loss(w: Any) -> Any:
        return vmap(lambda x: ag.tanh(x @ w))(M).sum()

    close(grad(loss)(w), M.T @ (1 - np.tanh(M @ w) ** 2))
    per_sample = vmap(grad(lambda w, x: ag.tanh(x @ w)), in_axes=(None, 0))(w, M)
    close(per_sample.sum(axis=0), grad(loss)(w))


def test_vmap_over_the_axes_of_a_jacobian() -> None:
    found = vmap(jacfwd(lambda x, y: x * y, (0, 1)), in_axes=(0, None), out_axes=(2, 0))(M, A)
    close(found[0], np.stack([np.diag(A)] * 2, 2))
    close(found[1], np.stack([np.diag(row) for row in M]))


def test_pull_and_push_outlive_their_transform() -> None:
    _, pull = vjp(lambda x: x**3, A)
    close(grad(lambda c: pull(c)[0].sum())(A), 3 * A**2)
    close(vmap(pull)(M)[0], 3 * A**2 * M)
    close(jvp(pull, (A,), (M[0],))[1][0], 3 * A**2 * M[0])
    close(vmap(grad(lambda c: (pull(c)[0] ** 2).sum()))(M), 18 * A**4 * M)
    _, push = linearize(lambda x: x**3, A)
    close(grad(lambda t: push(t).sum())(A), 3 * A**2)
    close(vmap(push)(np.eye(3)), np.diag(3 * A**2))


def test_rules_that_use_transforms_run_at_their_own_level() -> None:
    """A backward that maps and differentiates, inside sweeps of every kind."""

    class RowNorms(ag.autograd.Function):
        @staticmethod
        def forward(m: Any) -> Any:
            return (m**2).sum(axis=1)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (m,) = ctx.saved_tensors
            return vmap(lambda row, k: k * grad(lambda r: (r**2).sum())(row))(m, g)

    expected = np.zeros((2, 2, 3))
    expected[0, 0], expected[1, 1] = 2 * M
    close(jacrev(RowNorms.apply)(M), expected)
    close(jacfwd(RowNorms.apply)(M), expected)
    close(grad(lambda m: RowNorms.apply(m).sum())(M), 2 * M)
    x = ag.tensor(M, requires_grad=True)
    close(ag.grad(RowNorms.apply(x), x, np.eye(2), is_grads_batched=True), expected)
    close(hessian(lambda m: RowNorms.apply(m).sum())(M).reshape(6, 6), 2 * np.eye(6))
    close(vmap(jacrev(RowNorms.apply))(np.stack([M, M])), np.stack([expected] * 2))


class Parts(ag.autograd.Function):
    """Three results, of which the second has no derivative by decree."""

    absent: ClassVar[list[tuple[bool, ...]]] = []

    @staticmethod
    def forward(x: Any) -> Any:
        return ag.sin(x), ag.cos(x), 2 * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        Parts.absent.append(tuple(g is None for g in gs))
        (x,) = ctx.saved_tensors
        total = 0 * x if gs[0] is None else gs[0] * ag.cos(x)
        return total if gs[2] is None else total + 2 * gs[2]


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: vmap(grad(f)),
        lambda f: grad(lambda m: vmap(f)(m).sum()),
        lambda f: vmap(jacfwd(f)),
        lambda f: jacfwd(lambda m: vmap(f)(m).sum()),
    ],
)
@pytest.mark.parametrize(("which", "expected"), [(0, np.cos(M)), (1, 0 * M), (2, 2 + 0 * M)])
def test_what_a_function_says_of_its_outputs_holds_in_a_batch(
    transform: Any, which: int, expected: Any
) -> None:
    close(transform(lambda x: Parts.apply(x)[which].sum())(M), expected)


def test_unused_outputs_of_a_function_stay_unused_in_a_batch() -> None:
    Parts.absent.clear()
    vmap(grad(lambda x: Parts.apply(x)[2].sum()))(M)
    grad(lambda m: vmap(lambda x: Parts.apply(x)[0])(m).sum())(M)
    assert Parts.absent == [(True, True, False), (False, True, True)]


# --- imperative tensors and functional transforms ------------------------------------------------


@pytest.fixture
def w() -> ag.Tensor:
    return ag.tensor(2 * A, requires_grad=True)


def squares(w: Any) -> Any:
    return lambda x: ((x * w) ** 2).sum()


@pytest.mark.parametrize(
    ("transformed", "expected"),
    [
        (lambda w: grad(squares(w))(A).sum(), 4 * A * 2 * A),
        (lambda w: value_and_grad(squares(w))(A)[0], 2 * A**2 * 2 * A),
        (lambda w: jvp(squares(w), (A,), (A,))[1], 4 * A**2 * 2 * A),
        (lambda w: vjp(squares(w), A)[1](1.0)[0].sum(), 4 * A * 2 * A),
        (lambda w: linearize(squares(w), A)[1](A), 4 * A**2 * 2 * A),
        (lambda w: vmap(lambda x: (x * w) ** 2, (0,))(np.ones((2, 3))).sum(), 4 * 2 * A),
        (lambda w: jacrev(lambda x: (x * w) ** 2)(A).sum(), 4 * A * 2 * A),
        (lambda w: jacfwd(lambda x: (x * w) ** 2)(A).sum(), 4 * A * 2 * A),
        (lambda w: hessian(squares(w))(A).sum(), 4 * 2 * A),
        (lambda w: vmap(grad(squares(w)))(np.stack([A, A])).sum(), 8 * A * 2 * A),
        (lambda w: checkpoint(lambda x: squares(w)(x))(ag.asarray(A)), 2 * A**2 * 2 * A),
    ],
)
def test_results_are_differentiable_in_what_was_closed_over(
    w: ag.Tensor, transformed: Any, expected: Any
) -> None:
    close(ag.grad(transformed(w), w), expected)
    transformed(w).backward()
    close(w.grad, expected)
    # And once more, since the graph of a result is a graph like any other.
    first = ag.grad(transformed(w), w, create_graph=True)
    assert first.requires_grad
    ag.grad(first.sum(), w)


def test_requires_grad_arguments(w: ag.Tensor) -> None:
    gradient = grad(lambda x: (x**3).sum())(w)
    close(ag.grad(gradient.sum(), w), 6 * 2 * A)
    assert w.grad is None


def test_no_grad_around_a_transform(w: ag.Tensor) -> None:
    """The transform still differentiates; its results are cut off from what is outside."""
    with ag.no_grad():
        results = [
            grad(squares(w))(A),
            *value_and_grad(squares(w))(A),
            vjp(squares(w), A)[1](1.0)[0],
            vmap(grad(squares(w)))(np.stack([A, A]))[0],
            jacrev(grad(squares(w)))(A).sum(axis=0),
            hessian(squares(w))(A).sum(axis=0),
        ]
        of_tensors = grad(squares(w))(w)
        assert not ag.is_grad_enabled()
    assert all(type(r) is np.ndarray for r in results)
    assert isinstance(of_tensors, ag.Tensor)
    assert not of_tensors.requires_grad
    close(results[0], 2 * A * (2 * A) ** 2)
    close(results[4], 2 * A * (2 * A) ** 2)
    close(results[5], 2 * (2 * A) ** 2)


def test_no_grad_inside_a_function() -> None:
    def f(x: Any) -> Any:
        with ag.no_grad():
            constant = x**2
        return (constant * x).sum()

    close(grad(f)(A), A**2)
    close(hessian(f)(A), np.diag(2 * A))  # forward mode is not stopped by no_grad, as in torch
    close(grad(lambda x: grad(f)(x).sum())(A), 0 * A)


def test_inference_mode_around_a_transform(w: ag.Tensor) -> None:
    with ag.inference_mode():
        close(grad(lambda x: (x**2).sum())(A), 2 * A)
        close(hessian(cubes)(A), np.diag(6 * A))
        close(grad(squares(w))(A), 2 * A * (2 * A) ** 2)
        close(jacrev(lambda x: x**2)(ag.tensor(A)), np.diag(2 * A))
        assert ag.autograd.is_inference_mode_enabled()


def test_ag_grad_inside_transforms() -> None:
    """torch refuses the first."""

    def imperative(x: Any) -> Any:
        leaf = ag.tensor(x, requires_grad=True)
        return ag.grad((leaf**3).sum(), leaf)

    close(vmap(imperative)(M), 3 * M**2)
    value, tangent = jvp(imperative, (A,), (A,))
    close(value, 3 * A**2)
    close(tangent, 6 * A * A)
    assert type(value) is type(tangent) is np.ndarray
    close(jacfwd(imperative)(A), np.diag(6 * A))

    def backward(x: Any) -> Any:
        leaf = ag.tensor(x, requires_grad=True)
        (leaf**3).sum().backward()
        (leaf**3).sum().backward()
        return leaf.grad

    close(vmap(backward)(M), 6 * M**2)
    close(jvp(backward, (A,), (A,))[1], 12 * A * A)

    def batched(x: Any) -> Any:
        leaf = ag.tensor(x, requires_grad=True)
        return ag.grad(leaf**3, leaf, np.eye(3), is_grads_batched=True)

    close(vmap(batched)(M), [np.diag(3 * row**2) for row in M])
    close(jvp(batched, (A,), (A,))[1], np.diag(6 * A * A))

    def second(x: Any) -> Any:
        leaf = ag.tensor(x, requires_grad=True)
        first = ag.grad((leaf**3).sum(), leaf, create_graph=True)
        return ag.grad(first.sum(), leaf)

    close(vmap(second)(M), 6 * M)
    close(vmap(jacfwd(second))(M), [6 * np.eye(3)] * 2)


def test_ag_grad_inside_func_grad() -> None:
    close(grad(lambda x: ag.grad((x**3).sum(), x, create_graph=True).sum())(A), 6 * A)
    # Without create_graph, the gradient is a constant, as it is outside.
    close(grad(lambda x: (x * ag.grad((x**3).sum(), x)).sum())(A), 3 * A**2)


def test_ag_grad_of_an_outer_graph_inside_transforms(w: ag.Tensor) -> None:
    """A graph made outside, with cotangents that belong to a transform."""
    found = vmap(lambda c: ag.grad(w**2, w, c))(M)
    assert type(found) is np.ndarray
    close(found, 4 * A * M)
    assert isinstance(vmap(lambda c: ag.grad(w**2, w, c))(ag.tensor(M)), ag.Tensor)
    found = vmap(lambda c: ag.grad(w**2, w, c, is_grads_batched=True))(M[:, None])
    close(found, 4 * A * M[:, None])
    close(grad(lambda c: ag.grad(w**2, w, c).sum())(A), 4 * A)
    _, tangent = jvp(lambda c: ag.grad(w**2, w, c), (A,), (M[0],))
    close(tangent, 4 * A * M[0])
    found = vmap(lambda c: ag.grad(w**3, w, c, create_graph=True))(M)
    close(ag.grad(found.sum(), w), 6 * 2 * A * M.sum(0))


def weighted(x: Any, w: Any) -> Any:
    return ag.sin(x * w) * w * x


def by_outer_leaf(w: ag.Tensor, x: Any, g: Any = None, **options: Any) -> Any:
    out = weighted(x, w)
    return ag.grad(out.sum() if g is None else out, w, g, **options)


def by_argument(x: Any, g: Any = 1.0) -> Any:
    """What it should be: the gradient with respect to an argument of a function."""
    return grad(lambda w: (weighted(x, w) * g).sum())(2 * A)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda w: vmap(lambda x: by_outer_leaf(w, x))(M), lambda: vmap(by_argument)(M)),
        (
            lambda w: vmap(lambda x: by_outer_leaf(w, x, x))(M),
            lambda: vmap(lambda x: by_argument(x, x))(M),
        ),
        (
            lambda w: vmap(lambda x: by_outer_leaf(w, x, np.eye(3), is_grads_batched=True))(M),
            lambda: vmap(lambda x: vmap(lambda g: by_argument(x, g))(np.eye(3)))(M),
        ),
        (
            lambda w: vmap(lambda x: vmap(lambda y: by_outer_leaf(w, x + y))(M))(M),
            lambda: vmap(lambda x: vmap(lambda y: by_argument(x + y))(M))(M),
        ),
        (
            lambda w: jvp(lambda x: by_outer_leaf(w, x), (A,), (M[1],))[1],
            lambda: jvp(by_argument, (A,), (M[1],))[1],
        ),
        (
            lambda w: jvp(lambda x: by_outer_leaf(w, x, x), (A,), (M[1],))[1],
            lambda: jvp(lambda x: by_argument(x, x), (A,), (M[1],))[1],
        ),
        (
            lambda w: jacfwd(lambda x: jacfwd(lambda y: by_outer_leaf(w, x * y))(A))(A),
            lambda: jacfwd(lambda x: jacfwd(lambda y: by_argument(x * y))(A))(A),
        ),
        (
            lambda w: vmap(jacfwd(lambda x: by_outer_leaf(w, x)))(M),
            lambda: vmap(jacfwd(by_argument))(M),
        ),
        (
            lambda w: jacfwd(lambda x: vmap(lambda y: by_outer_leaf(w, x * y))(M))(A),
            lambda: jacfwd(lambda x: vmap(lambda y: by_argument(x * y))(M))(A),
        ),
    ],
)
def test_ag_grad_inside_with_respect_to_a_tensor_from_outside(
    w: ag.Tensor, found: Any, expected: Any
) -> None:
    """Each member of a batch has a gradient of its own; a tangent has one, too."""
    close(found(w), expected())


def test_ag_grad_inside_with_respect_to_several_tensors(w: ag.Tensor) -> None:
    u = ag.tensor(1.0, requires_grad=True)

    def gradients(x: Any, **options: Any) -> Any:
        return ag.grad([(x * w).sum(), u * u], {"w": w, "u": u}, **options)

    found = vmap(gradients)(M)
    close(found["w"], M)
    close(found["u"], [2.0, 2.0])
    found = vmap(lambda x: ag.grad((x * w).sum(), [w, u], materialize_grads=True))(M)
    close(found[1], [0.0, 0.0])
    with pytest.raises(ag.errors.UnusedInputError, match="was not used"):
        vmap(lambda x: ag.grad((x * w).sum(), [w, u]))(M)
    second = vmap(lambda x: by_outer_leaf(w, x, create_graph=True))(M)
    expected = vmap(lambda x: hessian(lambda w: weighted(x, w).sum())(2 * A))(M)
    close(ag.grad(second.sum(), w), expected.sum(axis=(0, 1)))


def test_a_leaf_made_inside_and_one_from_outside(w: ag.Tensor) -> None:
    """A penalty on the gradient of each example, differentiated in the weights."""

    def penalty(x: Any, w: Any) -> Any:
        return (grad(lambda x: (ag.sin(x * w) * w).sum())(x) ** 2).sum()

    def both(x: Any) -> Any:
        leaf = ag.tensor(x, requires_grad=True)
        (slope,) = ag.grad((ag.sin(leaf * w) * w).sum(), [leaf], create_graph=True)
        return ag.grad((slope**2).sum(), (leaf, w))

    by_leaf, by_weights = vmap(both)(M)
    close(by_leaf, vmap(grad(penalty), (0, None))(M, 2 * A))
    close(by_weights, vmap(grad(penalty, 1), (0, None))(M, 2 * A))
    by_leaf, by_weights = jvp(both, (A,), (A,))[1]
    close(by_leaf, jvp(lambda x: grad(penalty)(x, 2 * A), (A,), (A,))[1])
    close(by_weights, jvp(lambda x: grad(penalty, 1)(x, 2 * A), (A,), (A,))[1])

    def recorded(x: Any) -> Any:  # there is no graph that the result could be in
        leaf = ag.tensor(x, requires_grad=True)
        return ag.grad((leaf * w).sum(), w, create_graph=True)

    with pytest.raises(ValueError, match="different transforms"):
        vmap(recorded)(M)


def test_a_tensor_of_another_transform_that_was_not_used(w: ag.Tensor) -> None:
    """It is unused, like any other."""

    def gradient(x: Any) -> Any:  # of something from further out with respect to a leaf made here
        leaf = ag.tensor(2 * x, requires_grad=True)
        with pytest.raises(ag.errors.UnusedInputError, match="was not used"):
            ag.grad((w * w).sum(), leaf, retain_graph=True)
        assert ag.grad((w * w).sum(), leaf, allow_unused=True, retain_graph=True) is None
        return x + ag.grad((w * w).sum(), leaf, materialize_grads=True)

    close(vmap(gradient)(M), M)
    close(jvp(gradient, (A,), (A,))[1], A)

    def further_in(x: Any) -> Any:  # and the other way round
        return (x * ag.grad((x**2).sum(), w, materialize_grads=True)).sum()

    close(grad(further_in)(A), 0 * A)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: vmap(lambda x: ag.grad((x * 2).sum(), w))(M), "outputs is a Batched array"),
        (lambda w: jvp(lambda x: ag.grad((x * 2).sum(), w), (A,), (A,)), "outputs is a Dual array"),
        (lambda w: vmap(lambda x: ag.grad((x * w).sum(), x))(M), "inputs.* not Batched: inside"),
        (lambda w: vmap(lambda x: ag.grad(x * w, w))(M), "only one with a single element"),
        (lambda w: vmap(lambda x: ag.grad(x * w, w, x[:2]))(M), "has shape .2,., but outputs"),
        (lambda w: grad(lambda x: ag.grad((x * w).sum(), w).sum())(A), "different transforms"),
        (lambda w: vmap(lambda c: (w**2).backward(c))(M), "would outlive the transform"),
    ],
)
def test_results_from_inside_with_respect_to_tensors_from_outside(
    w: ag.Tensor, call: Any, message: str
) -> None:
    with pytest.raises((TypeError, ValueError, RuntimeError), match=message):
        call(w)
    assert w.grad is None


def test_threads_have_levels_of_their_own() -> None:
    results: list[Any] = []

    def work(k: int) -> None:
        results.extend((k, hessian(lambda x: (x**3).sum() * k)(A)) for _ in range(20))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    for k, found in results:
        close(found, k * np.diag(6 * A))


def in_thread(function: Any) -> Any:
    """The function, run in a thread that knows nothing of the context."""

    def run(*args: Any) -> Any:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(function, *args).result()

    return run


@pytest.mark.parametrize(
    "inner",
    [
        lambda x: grad(lambda y: (x * y * y).sum())(A),
        lambda x: vmap(lambda y: (x * y).sum())(A),
        lambda x: jvp(lambda y: x * y * y, (A,), (A,))[1],
        lambda x: jacrev(lambda y: x * y)(A),
        lambda x: jacfwd(lambda y: x * y)(A),
        lambda x: hessian(lambda y: (x * y**3).sum())(A),
    ],
)
@pytest.mark.parametrize(
    "outer",
    [
        lambda f: grad(lambda x: f(x).sum())(A),
        lambda f: vmap(f)(M),
        lambda f: jvp(f, (A,), (A,))[1],
        lambda f: jacfwd(f)(A),
        lambda f: grad(lambda x: grad(lambda y: f(y * x).sum())(x).sum())(A),
    ],
)
def test_transforms_in_a_thread_started_inside_a_transform(outer: Any, inner: Any) -> None:
    close(outer(in_thread(inner)), outer(inner))
    assert in_flight() == 0


@pytest.mark.usefixtures("nothing_escaped")
def test_a_thread_below_the_transform_it_was_started_in() -> None:
    """Another thread had the lowest level when the transform began, and has left it since."""
    first = new_level()
    assert in_thread(first.__enter__)() == 1

    def f(x: Any) -> Any:
        first.__exit__(None, None, None)
        return in_thread(lambda: vmap(lambda y: x * y)(A))()

    with pytest.raises(RuntimeError, match=r"array of another transform.*copy_context"):
        vmap(f)(A)
    context: list[Any] = []

    def g(x: Any) -> Any:
        context.append(contextvars.copy_context())
        return in_thread(lambda: context[0].run(lambda: vmap(lambda y: x * y)(A)))()

    close(vmap(g)(A), np.outer(A, A))


# --- against torch -------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
def test_compositions_against_torch() -> None:
    torch = pytest.importorskip("torch")
    tf = torch.func
    rng = np.random.default_rng(5)
    w, x, b = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=(4, 3))

    def ours(x: Any) -> Any:
        return ag.tanh(w @ x) * ag.exp(-x)

    def theirs(x: Any) -> Any:
        return torch.tanh(torch.tensor(w) @ x) * torch.exp(-x)

    def total(f: Any) -> Any:
        return lambda x: (f(x) ** 2).sum()

    compositions: list[tuple[Any, Any, Any]] = [
        (vmap(jacrev(ours)), tf.vmap(tf.jacrev(theirs)), b),
        (jacrev(vmap(ours)), tf.jacrev(tf.vmap(theirs)), b),
        (vmap(hessian(total(ours))), tf.vmap(tf.hessian(total(theirs))), b),
        (jacfwd(jacrev(ours)), tf.jacfwd(tf.jacrev(theirs)), x),
        (jacrev(jacfwd(ours)), tf.jacrev(tf.jacfwd(theirs)), x),
        (jacrev(jacrev(jacrev(ours))), tf.jacrev(tf.jacrev(tf.jacrev(theirs))), x),
        (grad(lambda x: hessian(total(ours))(x).sum()), None, x),
        (
            vmap(vmap(grad(total(ours)), in_axes=0), in_axes=1, out_axes=1),
            tf.vmap(tf.vmap(tf.grad(total(theirs)), in_dims=0), in_dims=1, out_dims=1),
            rng.normal(size=(2, 5, 3)),
        ),
    ]
    for mine, other, argument in compositions:
        if other is None:
            other = tf.grad(lambda x: tf.hessian(total(theirs))(x).sum())
        expected = other(torch.tensor(argument)).numpy()
        assert_close(mine(argument), expected, rtol=1e-9, atol=1e-9)


# --- arrays that outlive their transform ---------------------------------------------------------


def by_jvp(f: Any, x: Any, tangent: Any) -> Any:
    return jvp(f, (x,), (tangent,))


def by_dual_level(f: Any, x: Any, tangent: Any) -> Any:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(ag.tensor(x), ag.tensor(tangent))))


@pytest.mark.parametrize("first", [by_jvp, by_dual_level])
@pytest.mark.parametrize("second", [by_jvp, by_dual_level])
@pytest.mark.usefixtures("nothing_escaped")
def test_a_tangent_that_escaped_is_not_taken_for_a_new_one(first: Any, second: Any) -> None:
    escaped: list[Any] = []

    def keep(x: Any) -> Any:
        escaped.append(x * 2)
        return x + 1

    first(keep, A, A)
    value, tangent = second(lambda y: y * escaped[0], A, np.ones(3))
    close(value.primal, 2 * A * A)
    close(value.tangent, 2 * A * A)  # of the transform that is over
    close(tangent.primal, 2 * A)
    escaped.clear()
    del value, tangent
    with new_level() as level:
        assert level == 1


def test_a_batch_that_escaped_is_not_taken_for_a_new_one() -> None:
    escaped: list[Any] = []
    vmap(lambda x: escaped.append(x) or x)(A)
    for _ in range(3):
        products = vmap(lambda y: y * escaped[0])(A)
        close(products._array, np.outer(A, A))
        escaped.append(products)
    close(vmap(lambda y: y * y)(A), A * A)


def test_a_type_that_is_held_is_no_escaped_array() -> None:
    held: list[type] = []
    for _ in range(3):
        vmap(lambda x: held.append(type(x)) or x)(A)
    assert len(set(held)) == 1


def test_a_type_that_was_held_does_not_hide_an_escaped_array() -> None:
    held: list[Any] = []
    escaped: list[Any] = []
    jvp(lambda x: held.append(type(x)) or x, (A,), (A,))
    jvp(lambda x: x, (A,), (A,))
    jvp(lambda x: escaped.append(x) or x, (A,), (A,))
    held.clear()
    assert jvp(lambda y: y * escaped[0], (A,), (np.ones(3),))[1].primal.tolist() == A.tolist()
    escaped[0] = escaped[0] * 2  # what is computed from it later has escaped, too
    assert jvp(lambda y: y * escaped[0], (A,), (np.ones(3),))[1].primal.tolist() == [2, 4, 6]
