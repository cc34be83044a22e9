"""A user's program, whose types mypy and pyright must see in strict mode, and which runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import arraygrad as ag
from arraygrad.autograd import Function, FunctionCtx, graph
from arraygrad.compat import torch

Parameters = dict[str, ag.Tensor]
Floats = NDArray[np.float64]

# --- data, and a model ---------------------------------------------------------------------------

rng = np.random.default_rng(0)
data = rng.standard_normal((20, 3))
labels: Floats = np.where(data[:, 0] > 0, 1.0, 0.0)
parameters: Parameters = {
    "weights": ag.zeros(3).requires_grad_(),
    "offset": ag.tensor(0.0, requires_grad=True),
}


def predict(p: Parameters, x: Floats) -> ag.Tensor:
    logits = x @ p["weights"] + p["offset"]
    return 1 / (1 + ag.exp(-logits))


def loss(p: Parameters, x: Floats, *, penalty: float = 0.1) -> ag.Tensor:
    found = ag.clip(predict(p, x), 1e-6, 1 - 1e-6)
    each = -(labels * ag.log(found) + (1 - labels) * ag.log(1 - found))
    return each.mean() + penalty * (p["weights"] ** 2).sum()


def train(steps: int = 20) -> Iterator[float]:
    for _ in range(steps):
        value = loss(parameters, data)
        gradient = ag.grad(value, parameters)
        assert_type(gradient, dict[str, ag.Tensor])
        with ag.no_grad():
            for name, parameter in parameters.items():
                parameter -= 0.5 * gradient[name]
        yield value.item()


history = list(train())
assert history[-1] < history[0]

# --- tensors -------------------------------------------------------------------------------------

x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
a: Floats = x.detach().numpy()
assert_type(x, ag.Tensor)
assert_type(x.shape, tuple[int, ...])
assert_type(x.grad, ag.Tensor | None)
assert_type(x.detach().numpy(), NDArray[Any])
assert_type(x + 1, ag.Tensor)
assert_type(2.0**x, ag.Tensor)
assert_type(a @ x, ag.Tensor)
assert_type(a * x, ag.Tensor)
assert_type(x == 1, ag.Tensor)
assert_type(x[0, :], ag.Tensor)
assert_type(x.T, ag.Tensor)
assert_type(list(x), list[ag.Tensor])
assert_type(x.sum(axis=0, keepdims=True), ag.Tensor)
assert_type(x.reshape(4), ag.Tensor)
assert_type(float(x.sum().detach()), float)

y = x.clone()
y[0] = 0.0
y += 1
y *= a
y.clip_(0, 5).sin_()
assert_type(y, ag.Tensor)

# --- functions: a tensor gives a tensor, an array an array ---------------------------------------

assert_type(ag.sin(x), ag.Tensor)
assert_type(ag.sin(a), NDArray[Any])
assert_type(ag.sum(x, axis=(0, 1)), ag.Tensor)
assert_type(ag.sum(a, axis=0), NDArray[Any])
assert_type(ag.maximum(x, 0.0), ag.Tensor)
assert_type(ag.maximum(a, x), ag.Tensor)
assert_type(ag.less(a, 1), NDArray[Any])
assert_type(ag.where(x > 2, x, 0.0), ag.Tensor)
assert_type(ag.concat([x, x], axis=1), ag.Tensor)
assert_type(ag.stack([x, a]), ag.Tensor)
assert_type(ag.stack([a, a]), NDArray[Any])
assert_type(ag.einsum("ij,j->i", a, x[0]), ag.Tensor)
assert_type(ag.einsum(x, [0, 1], x, [1, ...]), ag.Tensor)
assert_type(ag.unstack(x), tuple[ag.Tensor, ...])
assert_type(ag.arange(3, dtype=ag.float32), ag.Tensor)
assert_type(ag.asarray(a), ag.Tensor)
assert_type(ag.linalg.solve(x, a), ag.Tensor)
assert_type(ag.linalg.svd(x).U, ag.Tensor)
assert_type(ag.linalg.slogdet(x).logabsdet, ag.Tensor)
assert_type(ag.linalg.vector_norm(a, axis=1), NDArray[Any])
assert_type(ag.fft.rfft(x), ag.Tensor)
assert_type(ag.special.logsumexp(x, axis=1), ag.Tensor)
assert_type(ag.special.erf(a), NDArray[Any])
assert_type(ag.nn.relu(x), ag.Tensor)
assert_type(ag.nn.layer_norm(a, a.shape[-1]), NDArray[Any])
assert_type(ag.nn.mse_loss(x, x, reduction="sum"), ag.Tensor)
assert_type(ag.pi, float)
assert_type(ag.is_grad_enabled(), bool)

# --- gradients -----------------------------------------------------------------------------------

z = (x * x).sum()
assert_type(ag.grad(z, x, create_graph=True), ag.Tensor)
assert_type(ag.grad(z, [x, z], retain_graph=True), tuple[ag.Tensor, ...])
assert_type(ag.grad(z, x, retain_graph=True, allow_unused=True), ag.Tensor | None)
assert_type(ag.grad(z, graph.get_gradient_edge(x), retain_graph=True), ag.Tensor)
t = torch.tensor([1.0, 2.0], requires_grad=True)
assert_type(torch.autograd.grad((t * t).sum(), t), tuple[torch.Tensor, ...])
seen: list[tuple[int, ...]] = []


def watch(gradient: ag.Tensor) -> None:
    seen.append(gradient.shape)


with x.register_hook(watch):
    z.backward()
assert x.grad is not None
assert seen == [(2, 2)]


class Cube(Function):
    @staticmethod
    def forward(x: ag.Tensor, scale: float) -> ag.Tensor:
        return scale * x**3

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[ag.Tensor, float], output: ag.Tensor) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.scale = inputs[1]

    @staticmethod
    def backward(ctx: FunctionCtx, g: ag.Tensor) -> tuple[ag.Tensor, None]:
        (x,) = ctx.saved_tensors
        assert_type(x, ag.Tensor)
        return g * ctx.scale * 3 * x**2, None


cubed: ag.Tensor = Cube.apply(x, 2.0)
assert ag.testing.gradcheck(lambda t: Cube.apply(t, 2.0), x)


@ag.no_grad
def score(p: Parameters, *, digits: int = 2) -> float:
    return round(float(ag.mean((predict(p, data) > 0.5) == labels)), digits)


@ag.enable_grad()
def slope(t: ag.Tensor) -> ag.Tensor:
    return ag.grad(ag.tanh(t), t)


assert_type(score(parameters, digits=3), float)
assert_type(slope(ag.tensor(1.0, requires_grad=True)), ag.Tensor)

# --- transforms ----------------------------------------------------------------------------------


def energy(position: ag.Tensor, stiffness: float = 1.0) -> ag.Tensor:
    return stiffness * (position**2).sum() / 2


assert_type(ag.func.grad(energy)(x, stiffness=2.0), ag.Tensor)
assert_type(ag.func.grad(energy)(a, 2.0), NDArray[Any])
cubes: ag.Tensor = ag.func.grad(lambda t: (t**3).sum())(x)
assert_type(ag.func.value_and_grad(loss)(parameters, data), tuple[ag.Tensor, Parameters])
assert_type(ag.func.hessian(energy)(x), ag.Tensor)
assert_type(ag.func.vmap(energy, in_axes=(0, None))(x, 2.0), ag.Tensor)
assert_type(ag.func.vmap(ag.func.grad(energy))(x), ag.Tensor)
assert_type(ag.func.jvp(energy, (x,), (a,)), tuple[ag.Tensor, ag.Tensor])
value, pull = ag.func.vjp(ag.multiply, x, x)
assert_type(pull(a), tuple[ag.Tensor, ag.Tensor])
assert_type(ag.func.checkpoint(energy)(x), ag.Tensor)

# --- solvers -------------------------------------------------------------------------------------

found = ag.optimize.minimize(energy, a, progress=False)
assert_type(found.success, bool)
assert_type(found.message, str)
