"""Transforms composed at random over random functions, against nested finite differences."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import numbered, over

import arraygrad as ag
from arraygrad.func import checkpoint, grad, hessian, hvp, jacfwd, jacrev, jvp, linearize, vjp, vmap

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
    "write": lambda x: written(x) * x,
    "mask": lambda x: masked(x) + x,
    "loop": lambda x: recurrent(x),
    "structure": lambda x: structured(x),
    "index arrays": lambda x: x[np.array([[0, 1], [1, 0]]), np.array([[1, 1], [0, 0]])] * x,
    "sort": lambda x: ag.sort(x * x + 2 * x, axis=0) * W + x,
    "argsort": lambda x: ag.take_along_axis(x, ag.argsort(x, axis=1), axis=1) * ag.sin(x),
    "inv": lambda x: ag.linalg.inv(definite(x)) * x,
    "solve": lambda x: ag.linalg.solve(definite(x), x) * x[0],
    "det": lambda x: ag.linalg.slogdet(definite(x))[1] * x + 0.1 * ag.linalg.det(x) * W,
    "cholesky": lambda x: ag.linalg.cholesky(definite(x)),
    "eigh": lambda x: ag.linalg.eigvalsh(definite(x) + np.diag([0.0, 3.0])) * x * 0.3,
    "qr": lambda x: ag.linalg.qr(definite(x))[1],
    "fft": lambda x: ag.real(ag.fft.fft(x, axis=0) * ag.fft.ifft(x * 1j, axis=1)),
    "rfft": lambda x: ag.fft.irfft(ag.fft.rfft(x * x, n=4) * (1 + 0.5j), n=4)[:, :2],
    "complex matrix": lambda x: ag.imag(ag.linalg.inv(definite(x) + 1j * W)),
    "softmax": lambda x: ag.special.softmax(2 * x, axis=0) * ag.special.log_softmax(x, axis=1),
    "moments": lambda x: ag.var(x, axis=1, keepdims=True) * x + ag.std(x + 3 * V, axis=0),
    "products": lambda x: ag.stack([x @ x[0], x[1] @ x]) + 0.3 * ag.outer(x[0], ag.sin(x[1])),
    "step": lambda x: (ag.floor(3 * x) + 2) * x,
}


def definite(x: Any) -> Any:
    return x @ x.T + 2 * np.eye(2)


def written(x: Any) -> Any:
    y = x * 1.0
    y[0, 1] = x[1, 0] ** 2
    y[1] *= 1.5
    y[:, 0] += ag.sin(x[:, 1])
    y.T[0] -= x[0] * x[1]
    return y


def masked(x: Any) -> Any:
    y = x * 1.0
    y[W > 0] = ag.exp(x[W > 0])
    return y


def recurrent(x: Any) -> Any:
    states = [0.5 * x[0]]
    for row in x:
        states.append(ag.tanh(states[-1] @ W + row))
    return ag.stack(states[1:])


def structured(x: Any) -> Any:
    def products(p: Any) -> Any:
        return {"s": p["a"] * p["b"][0], "t": p["b"][1]}

    found = checkpoint(products)({"a": x[0], "b": [x[1], (x * x).sum()]})
    return ag.stack([found["s"], found["s"] * found["t"]])


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


class Pushed(Custom):
    """The same with a forward rule of its own."""

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: Any) -> Any:
        return jvp(ctx.f, (ctx.saved_tensors[0],), (tangent,))[1]


class Mapped(Custom):
    """The same with a batching rule of its own."""

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, f: Map) -> Any:
        return vmap(f, in_axes=in_dims[0])(x), 0


def same(f: Map) -> Map:
    return f


def second_ref(f: Map) -> Map:
    return push_ref(pull_ref(f))


def loss(f: Map) -> Map:
    return lambda x: (f(x) * C).sum()


def structures(f: Map) -> Map:
    def gradient(x: Any) -> Any:
        def of_parts(p: Any) -> Any:
            y = ag.stack([p["a"], p["b"][0]])
            return loss(f)(y), {"value": f(y)}

        found, aux = grad(of_parts, has_aux=True)({"a": x[0], "b": (x[1],)})
        return ag.stack([found["a"], found["b"][0]]) + 0 * aux["value"]

    return gradient


def elements(f: Map) -> Map:
    return vmap(vmap(lambda element: f(element * V)[0, 1]))


def elements_ref(f: Map) -> Map:
    return lambda x: np.array([[f(element * V)[0, 1] for element in row] for row in x])


def axes(f: Map) -> Map:
    mapped = vmap(
        lambda p, k, *, s: {"o": (k * f(ag.stack([p["a"], p["b"][0]]))[0] + s,)},
        in_axes=({"a": -1, "b": [None]}, None),
        out_axes={"o": -1},
    )
    return lambda x: mapped({"a": x, "b": [W[1]]}, 2.0, s=np.ones(2))["o"][0]


def axes_ref(f: Map) -> Map:
    return lambda x: np.stack([2 * f(np.stack([c, W[1]]))[0] + 1 for c in x.T], axis=-1)


def outward(f: Map) -> Map:
    """Inside `vmap`, with respect to a tensor from outside."""

    def gradient(x: Any) -> Any:
        ours = isinstance(x, ag.Tensor) and x.requires_grad
        with ag.enable_grad():
            leaf = x.clone() if ours else ag.tensor(x, requires_grad=True)
            found = vmap(lambda k: ag.grad(loss(f)(k * leaf), leaf, create_graph=True))(V[0])
            return found.sum(axis=0)

    return gradient


def outward_ref(f: Map) -> Map:
    return lambda x: sum(slopes_transposed(lambda y, k=k: f(k * y), x, C) for k in V[0])


def batched(f: Map) -> Map:
    def gradient(x: Any) -> Any:
        ours = isinstance(x, ag.Tensor) and x.requires_grad
        with ag.enable_grad():
            leaf = x.clone() if ours else ag.tensor(x, requires_grad=True)
            seeds = np.stack([W, C])
            return ag.grad(f(leaf), leaf, seeds, is_grads_batched=True, create_graph=True)[1]

    return gradient


def twice(f: Map) -> Map:
    def slope_of(x: Any) -> Any:
        push = linearize(f, x)[1]
        return push(V + W) - vmap(push)(np.stack([V, W]))[1]

    return slope_of


def light(f: Map) -> Map:
    return ag.func.custom(vjp=lambda g, x: vjp(f, x)[1](g)[0])(lambda x: f(x))


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
    "hessian": (lambda f: lambda x: ag.sum(hessian(loss(f))(x) * V, axis=(2, 3)), second_ref, 2),
    "hvp": (lambda f: lambda x: hvp(loss(f), (x,), (V,)), second_ref, 2),
    "structures": (structures, pull_ref, 1),
    "pulls": (lambda f: lambda x: vmap(vjp(f, x)[1])(np.stack([C, W]))[0][0], pull_ref, 1),
    "batched": (batched, pull_ref, 1),
    "pushes": (twice, push_ref, 1),
    "outward": (outward, outward_ref, 1),
    "elements": (elements, elements_ref, 0),
    "axes": (axes, axes_ref, 0),
    "light": (light, same, 0),
    "pushed": (lambda f: lambda x: Pushed.apply(x, f), same, 0),
    "mapped": (lambda f: lambda x: Mapped.apply(x, f), same, 0),
    "checkpoints": (
        lambda f: checkpoint(lambda x: 1.0 * checkpoint(f)(x)),
        same,
        0,
    ),
    "checkpoint": (checkpoint, same, 0),
    "custom": (lambda f: lambda x: Custom.apply(x, f), same, 0),
}


def agree(found: Any, expected: Map, x: Any, order: int, names: list[str]) -> None:
    tolerance = 1e-7 * 30 ** max(order - 1, 0)
    found = found.detach().array if isinstance(found, ag.Tensor) else found
    np.testing.assert_allclose(
        found, expected(x), rtol=tolerance, atol=tolerance, err_msg=", ".join(names)
    )


@pytest.mark.parametrize("name", MAPS)
def test_every_map_in_some_transforms(name: str) -> None:
    x = np.array([[0.4, -0.7], [0.85, 0.3]])
    for chosen in random.Random(name).sample(list(TRANSFORMS), 9):
        transform, reference, order = TRANSFORMS[chosen]
        agree(transform(MAPS[name])(x), reference(MAPS[name]), x, order, [name, chosen])


@pytest.mark.parametrize("name", TRANSFORMS)
def test_every_transform_of_some_maps(name: str) -> None:
    x = np.array([[0.4, -0.7], [0.85, 0.3]])
    transform, reference, order = TRANSFORMS[name]
    for chosen in random.Random(name).sample(list(MAPS), 5):
        agree(transform(MAPS[chosen])(x), reference(MAPS[chosen]), x, order, [chosen, name])


# Finite differences of finite differences are no good near a kink.
SMOOTH = [name for name in MAPS if name not in ("sort", "argsort", "step")]

# What `outward` differentiates there must not be recorded by another `ag.grad` inside.
IMPERATIVE = {"ag.grad", "batched", "outward"}


@over("seed", numbered(60), first=3)
def test_random_composition(seed: int) -> None:
    pick = random.Random(seed)
    function: Map = MAPS[pick.choice(SMOOTH)]
    second = MAPS[pick.choice(SMOOTH)]
    inner = function
    function = lambda x: second(0.5 * inner(x))  # noqa: E731
    expected, names, order = function, [], 0
    for _ in range(pick.randint(2, 4)):
        allowed = [n for n in TRANSFORMS if order + TRANSFORMS[n][2] <= 3]
        if IMPERATIVE.intersection(names):
            allowed = [n for n in allowed if n != "outward"]
        name = pick.choice(allowed)
        transform, reference, orders = TRANSFORMS[name]
        function, expected, order = transform(function), reference(expected), order + orders
        names.append(name)
    x = np.random.default_rng(seed).uniform(-0.8, 0.8, (2, 2))
    agree(function(x), expected, x, order, names)
