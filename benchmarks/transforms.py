"""Transforms of functions: Hessians, Jacobians, products, per-sample gradients, checkpoints.

A workload gives, for each system, a function that does the whole job once. The first is
arraygrad; the others are its peers in this workload, as far as they are installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import arraygrad as ag

try:
    import torch
except ImportError:
    torch = None

Job = Callable[[], Any]
Jobs = dict[str, Job]


def _normal(*shape: int, seed: int = 0) -> Any:
    """Random float32 numbers, the same in every run."""
    values = np.random.default_rng(seed).standard_normal(shape) / np.sqrt(shape[0])
    return values.astype(np.float32)


def _with_torch(jobs: Jobs, make: Callable[[], Job]) -> Jobs:
    """The jobs, and torch's if it is installed."""
    if torch is not None:
        torch.set_num_threads(2)
        jobs["torch"] = make()
    return jobs


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def rosenbrock_hessian() -> Jobs:
    """The Hessian of the 50-dimensional Rosenbrock function."""
    x = np.random.default_rng(0).random(50)
    ours = ag.func.hessian(rosenbrock)

    def theirs() -> Job:
        point, hessian = torch.tensor(x), torch.func.hessian(rosenbrock)
        return lambda: hessian(point)

    return _with_torch({"arraygrad": lambda: ours(x)}, theirs)


def sparse_hessian(size: int) -> Jobs:
    """The tridiagonal Hessian of the Rosenbrock function, whole: pattern, colours and products.

    Its peers are a single product with the Hessian, and the same with the pattern known.
    """
    x = np.random.default_rng(0).random(size)
    whole = ag.func.hessian(rosenbrock, sparse=True)
    pattern = ag.func.sparsity(rosenbrock, x, kind="hessian")
    known = ag.func.hessian(rosenbrock, sparse=True, sparsity=pattern)
    return {
        "arraygrad": lambda: whole(x),
        "one product": lambda: ag.func.hvp(rosenbrock, (x,), (x,)),
        "a known pattern": lambda: known(x),
    }


def sparse_beside_dense() -> Jobs:
    """The same for 500 variables, beside the dense Hessian."""
    x = np.random.default_rng(0).random(500)
    sparse, dense = ag.func.hessian(rosenbrock, sparse=True), ag.func.hessian(rosenbrock)

    def theirs() -> Job:
        point, hessian = torch.tensor(x), torch.func.hessian(rosenbrock)
        return lambda: hessian(point)

    return _with_torch({"arraygrad": lambda: sparse(x), "dense": lambda: dense(x)}, theirs)


def batched_vjp() -> Jobs:
    """The Jacobian of a two-layer net with 256 outputs, by `is_grads_batched`."""
    first, second, x = _normal(256, 256), _normal(256, 256, seed=1), _normal(256, seed=2)
    basis = np.eye(256, dtype=np.float32)

    def ours() -> Any:
        point = ag.tensor(x, requires_grad=True)
        out = ag.tanh(point @ first) @ second
        return ag.grad(out, point, basis, is_grads_batched=True)

    def loop() -> Any:
        point = ag.tensor(x, requires_grad=True)
        out = ag.tanh(point @ first) @ second
        return [ag.grad(out, point, row, retain_graph=True) for row in basis]

    def theirs() -> Job:
        a, b, seeds = torch.tensor(first), torch.tensor(second), torch.tensor(basis)

        def job() -> Any:
            point = torch.tensor(x, requires_grad=True)
            out = torch.tanh(point @ a) @ b
            return torch.autograd.grad(out, point, seeds, is_grads_batched=True)

        return job

    return _with_torch({"arraygrad": ours, "a loop over rows": loop}, theirs)


class _Classifier:
    """A net with one hidden layer and the cross-entropy of its output, for both systems."""

    def __init__(self, inputs: int, hidden: int, classes: int, count: int) -> None:
        self.parameters = [
            _normal(inputs, hidden),
            np.zeros(hidden, np.float32),
            _normal(hidden, classes, seed=1),
            np.zeros(classes, np.float32),
        ]
        self.data = _normal(count, inputs, seed=2) * np.float32(np.sqrt(count))
        labels = np.random.default_rng(3).integers(0, classes, count)
        self.targets = np.eye(classes, dtype=np.float32)[labels]

    @staticmethod
    def loss(xp: Any, parameters: Any, data: Any, targets: Any) -> Any:
        w, b, v, c = parameters
        z = xp.tanh(data @ w + b) @ v + c
        log_softmax = torch.log_softmax if xp is torch else ag.special.log_softmax
        return -(log_softmax(z, -1) * targets).sum()


def hessian_vector_product() -> Jobs:
    """The product of a net's Hessian with a vector: 784-256-10, 64 examples."""
    net = _Classifier(784, 256, 10, 64)
    vector = [np.full_like(p, 0.1) for p in net.parameters]

    def ours() -> Any:
        def loss(parameters: Any) -> Any:
            return net.loss(ag, parameters, net.data, net.targets)

        return ag.func.hvp(loss, (net.parameters,), (vector,))

    def theirs() -> Job:
        data, targets = torch.tensor(net.data), torch.tensor(net.targets)
        tangent = [torch.tensor(v) for v in vector]

        def job() -> Any:
            parameters = [torch.tensor(p, requires_grad=True) for p in net.parameters]
            loss = net.loss(torch, parameters, data, targets)
            gradient = torch.autograd.grad(loss, parameters, create_graph=True)
            return torch.autograd.grad(gradient, parameters, tangent)

        return job

    return _with_torch({"arraygrad": ours}, theirs)


def per_sample_gradients() -> Jobs:
    """The gradient of a net's loss for each of 256 examples by itself, by vmap over grad."""
    net = _Classifier(64, 128, 10, 256)

    def loss(xp: Any) -> Callable[..., Any]:
        return lambda p, x, y: net.loss(xp, p, x, y)

    ours = ag.func.vmap(ag.func.grad(loss(ag)), in_axes=(None, 0, 0))

    def theirs() -> Job:
        each = torch.func.vmap(torch.func.grad(loss(torch)), in_dims=(None, 0, 0))
        parameters = [torch.tensor(p) for p in net.parameters]
        data, targets = torch.tensor(net.data), torch.tensor(net.targets)
        return lambda: each(parameters, data, targets)

    return _with_torch({"arraygrad": lambda: ours(net.parameters, net.data, net.targets)}, theirs)


def forward_mode() -> Jobs:
    """`jvp` of a chain of 100 small ops, beside recording the same chain for reverse mode."""
    y = np.full(4, 0.5)

    def function(y: Any) -> Any:
        z = y
        for _ in range(50):
            z = z * y + y
        return z

    return {
        "arraygrad": lambda: ag.func.jvp(function, (y,), (y,)),
        "recording": lambda: function(ag.tensor(y, requires_grad=True)),
    }


def checkpointing(length: int = 64, size: int = 384) -> Jobs:
    """A chain of n layers in √n checkpoints, beside the same chain that stores everything."""
    start, x = _normal(size, size), _normal(size, size, seed=1)

    def layers(x: Any, weights: Any, count: int) -> Any:
        for _ in range(count):
            x = ag.tanh(x @ weights)
        return x

    def job(segments: int) -> Job:
        step = ag.func.checkpoint(layers) if segments > 1 else layers

        def run() -> Any:
            weights, y = ag.tensor(start, requires_grad=True), x
            for _ in range(segments):
                y = step(y, weights, length // segments)
            return ag.grad(y.sum(), weights)

        return run

    return {"arraygrad": job(math.isqrt(length)), "storing": job(1)}


def physics_loss() -> Jobs:
    """The gradient of a loss of second derivatives: Poisson's equation at 1,024 points."""
    parameters = [
        _normal(2, 64),
        np.zeros(64, np.float32),
        _normal(64, 64, seed=1),
        np.zeros(64, np.float32),
        _normal(64, 1, seed=2),
    ]
    points = np.random.default_rng(3).random((1024, 2)).astype(np.float32)

    def loss(xp: Any, grad: Callable[..., Any], parameters: Any, x: Any) -> Any:
        a, b, c, d, e = parameters
        u = xp.tanh(xp.tanh(x @ a + b) @ c + d) @ e
        slope = grad(u.sum(), x)
        laplacian = sum(grad(slope[:, i].sum(), x)[:, i] for i in range(2))
        return ((laplacian - xp.sin(x[:, 0])) ** 2).mean()

    def ours() -> Any:
        leaves = [ag.tensor(p, requires_grad=True) for p in parameters]
        x = ag.tensor(points, requires_grad=True)
        return ag.grad(loss(ag, lambda y, x: ag.grad(y, x, create_graph=True), leaves, x), leaves)

    def theirs() -> Job:
        def job() -> Any:
            leaves = [torch.tensor(p, requires_grad=True) for p in parameters]
            x = torch.tensor(points, requires_grad=True)
            value = loss(
                torch, lambda y, x: torch.autograd.grad(y, x, create_graph=True)[0], leaves, x
            )
            return torch.autograd.grad(value, leaves)

        return job

    return _with_torch({"arraygrad": ours}, theirs)


TRANSFORMS: dict[str, Callable[[], Jobs]] = {
    "Hessian of Rosenbrock-50": rosenbrock_hessian,
    "sparse Hessian, n = 10,000": lambda: sparse_hessian(10_000),
    "sparse Hessian, n = 500": sparse_beside_dense,
    "Jacobian by batched cotangents": batched_vjp,
    "Hessian-vector product": hessian_vector_product,
    "per-sample gradients": per_sample_gradients,
    "physics loss, 1,024 points": physics_loss,
    "forward mode": forward_mode,
    "checkpointing": checkpointing,
}
