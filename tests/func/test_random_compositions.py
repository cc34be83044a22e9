"""Transforms composed at random over random functions, against nested finite differences."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.func import (
    checkpoint,
    grad,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)

Map = Callable[[Any], Any]  # of arrays of shape (2, 2)

RNG = np.random.default_rng(11)
V, C, W = RNG.uniform(-1, 1, (3, 2, 2))

# Smooth maps of (2, 2) to (2, 2), of every family of ops. They run on NumPy arrays, too.
MAPS: dict[str, Map] = {
    "sin": lambda x: ag.sin(x) + 0.5 * x,
    "tanh": lambda x: ag.tanh(1.5 * x) * x,
    "exp": lambda x: ag.exp(-0.5 * x) * 0.7,
    "divide": lambda x: x / (2 + x * x),
    "matmul": lambda x: x @ W + x.T @ x,
    "sum": lambda x: x * ag.sum(x, axis=0) + ag.mean(x, axis=1, keepdims=True),
    "prod": lambda x: ag.prod(x + 2, axis=0) * 0.2 + x,
    "cumulative": lambda x: ag.cumulative_sum(x, axis=1) * x,
    "shapes": lambda x: ag.roll(ag.flip(x, axis=0), 1, axis=1) * ag.reshape(x, (4,)).reshape(2, 2),
    "index": lambda x: x[[1, 0]][:, ::-1] * x[0],
    "concat": lambda x: ag.concat([x[:1] ** 2, ag.sin(x[1:])]),
    "stack": lambda x: ag.stack([x[:, 0] * x[:, 1], x[0]], axis=1),
    "where": lambda x: ag.where(W > 0, x**2, ag.cos(x)),
    "einsum": lambda x: ag.einsum("ij,kj,jk->ik", x, x, x) * 0.5,
    "logsumexp": lambda x: ag.log(ag.sum(ag.exp(x), axis=1, keepdims=True)) * x,
    "power": lambda x: (x * x + 1) ** 1.5 * 0.3,
    "complex": lambda x: ag.real(ag.exp(1j * x) * (x + 2j)) * 0.5,
    "take": lambda x: ag.take(x, np.array([1, 1]), axis=0) * ag.tril(x),
}

# --- finite differences --------------------------------------------------------------------------

STEP = 5e-3


def slope(f: Map, x: Any, v: Any) -> Any:
    """The derivative along `v`, to fourth order."""
    near = f(x + STEP * v) - f(x - STEP * v)
    far = f(x + 2 * STEP * v) - f(x - 2 * STEP * v)
    return (8 * near - far) / (12 * STEP)


def slopes_transposed(f: Map, x: Any, c: Any) -> Any:
    """The Jacobian's transpose times `c`."""
    found = np.zeros((2, 2))
    for index in np.ndindex(2, 2):
        direction = np.zeros((2, 2))
        direction[index] = 1
        found[index] = (slope(f, x, direction) * c).sum()
    return found


# --- transforms of maps, each with what it should be ---------------------------------------------


def push_ref(f: Map) -> Map:
    return lambda x: slope(f, x, V)


def pull_ref(f: Map) -> Map:
    return lambda x: slopes_transposed(f, x, C)


def rows_ref(f: Map) -> Map:
    return lambda x: np.stack([f(np.stack([row, W[0]]))[0] for row in x])


def columns_ref(f: Map) -> Map:
    return lambda x: np.stack([f(np.stack([column, W[1]]))[1] for column in x.T], axis=1)


def around_ref(f: Map) -> Map:
    return lambda x: slope(lambda y: f(x * y) + x, W, V) + x


def within_ref(f: Map) -> Map:
    return lambda x: slopes_transposed(lambda y: f(x + y) * x, W, C)


def per_sample(f: Map) -> Map:
    """The gradient of each row's part, all at once."""

    def loss(row: Any, other: Any) -> Any:
        return (f(ag.stack([row, other])) * C).sum()

    return lambda x: vmap(grad(loss), in_axes=(0, None))(x, W[0])


def per_sample_ref(f: Map) -> Map:
    def gradient(row: Any) -> Any:
        found = slopes_transposed(f, np.stack([row, W[0]]), C)
        return found[0]

    return lambda x: np.stack([gradient(row) for row in x])


def imperative(f: Map) -> Map:
    def gradient(x: Any) -> Any:
        ours = isinstance(x, ag.Tensor) and x.requires_grad
        with ag.enable_grad():  # a Function's forward is run without
            leaf = x.clone() if ours else ag.tensor(x, requires_grad=True)
            return ag.grad(f(leaf), leaf, C, create_graph=True)

    return gradient


class Custom(ag.autograd.Function):
    """Any map, with a derivative by `vjp`."""

    @staticmethod
    def forward(x: Any, f: Map) -> Any:
        return f(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.f = inputs[1]

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return vjp(ctx.f, ctx.saved_tensors[0])[1](g)[0], None


def same(f: Map) -> Map:
    return f


# Each transform, its reference, and how many orders of derivative it takes.
TRANSFORMS: dict[str, tuple[Callable[[Map], Map], Callable[[Map], Map], int]] = {
    "jvp": (lambda f: lambda x: jvp(f, (x,), (V,))[1], push_ref, 1),
    "linearize": (lambda f: lambda x: linearize(f, x)[1](V), push_ref, 1),
    "jacfwd": (
        lambda f: lambda x: ag.sum(jacfwd(f, chunk_size=3)(x) * V, axis=(2, 3)),
        push_ref,
        1,
    ),
    "jacrev": (lambda f: lambda x: ag.sum(jacrev(f)(x) * V, axis=(-1, -2)), push_ref, 1),
    "vjp": (lambda f: lambda x: vjp(f, x)[1](C)[0], pull_ref, 1),
    "grad": (lambda f: grad(lambda x: (f(x) * C).sum()), pull_ref, 1),
    "ag.grad": (imperative, pull_ref, 1),
    "per sample": (per_sample, per_sample_ref, 1),
    "around": (lambda f: lambda x: jvp(lambda y: f(x * y) + x, (W,), (V,))[1] + x, around_ref, 1),
    "within": (
        lambda f: lambda x: grad(lambda y: (f(x + y) * x * C).sum())(W),
        within_ref,
        1,
    ),
    "rows": (lambda f: vmap(lambda row: f(ag.stack([row, W[0]]))[0]), rows_ref, 0),
    "columns": (
        lambda f: vmap(lambda column: f(ag.stack([column, W[1]]))[1], -1, 1),
        columns_ref,
        0,
    ),
    "in chunks": (
        lambda f: vmap(lambda row: f(ag.stack([row, W[0]]))[0], chunk_size=1),
        rows_ref,
        0,
    ),
    "checkpoint": (checkpoint, same, 0),
    "custom": (lambda f: lambda x: Custom.apply(x, f), same, 0),
}


@pytest.mark.parametrize("name", MAPS)
def test_every_map_in_every_transform(name: str) -> None:
    x = np.array([[0.4, -0.7], [0.9, 0.3]])
    for transform, reference, _ in TRANSFORMS.values():
        found = transform(MAPS[name])(x)
        found = found.detach().array if isinstance(found, ag.Tensor) else found
        np.testing.assert_allclose(found, reference(MAPS[name])(x), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("seed", range(60))
def test_random_composition(seed: int) -> None:
    pick = random.Random(seed)
    function: Map = MAPS[pick.choice(list(MAPS))]
    second = MAPS[pick.choice(list(MAPS))]
    inner = function
    function = lambda x: second(0.5 * inner(x))  # noqa: E731
    expected, names, order = function, [], 0
    for _ in range(pick.randint(2, 4)):
        allowed = [n for n in TRANSFORMS if order + TRANSFORMS[n][2] <= 3]
        name = pick.choice(allowed)
        transform, reference, orders = TRANSFORMS[name]
        function, expected, order = transform(function), reference(expected), order + orders
        names.append(name)
    x = np.random.default_rng(seed).uniform(-0.8, 0.8, (2, 2))
    found = function(x)
    found = found.detach().array if isinstance(found, ag.Tensor) else found
    tolerance = 1e-7 * 30 ** max(order - 1, 0)
    np.testing.assert_allclose(
        found, expected(x), rtol=tolerance, atol=tolerance, err_msg=", ".join(names)
    )
