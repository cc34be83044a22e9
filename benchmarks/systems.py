"""The systems that are compared: for each, the functions the workloads are written with.

A workload's loss is a function of a system and of arrays, so all systems run the same formulas,
with what each offers for them.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Job = Callable[[], Any]
Loss = Callable[..., Any]


class System:
    """A system under its own name, with NumPy's names for its functions."""

    name = "numpy"
    module = "numpy"

    @classmethod
    def installed(cls) -> bool:
        """Whether the system can be imported here."""
        spec = importlib.util.find_spec(cls.module)
        return spec is not None and spec.origin is not None  # not just a folder of that name

    def __init__(self) -> None:
        self.xp: Any = importlib.import_module(self.module)

    def array(self, values: Any) -> Any:
        """NumPy values as the system's own constant."""
        return values

    def gradient(self, loss: Loss, parameters: Sequence[Any], *data: Any) -> Job:
        """A job that computes the gradients of ``loss(system, parameters, *data)``."""
        raise NotImplementedError

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self.xp.sum(x, axis=axis, keepdims=keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self.xp.mean(x, axis=axis, keepdims=keepdims)

    def var(self, x: Any, axis: Any) -> Any:
        return self.xp.var(x, axis=axis, keepdims=True)

    def swap(self, x: Any) -> Any:
        """The last two axes exchanged."""
        return self.xp.swapaxes(x, -1, -2)

    def softmax(self, x: Any) -> Any:
        """Along the last axis."""
        powers = self.xp.exp(x - self.xp.max(x, axis=-1, keepdims=True))
        return powers / self.sum(powers, axis=-1, keepdims=True)

    def log_softmax(self, x: Any) -> Any:
        """Along the last axis."""
        x = x - self.xp.max(x, axis=-1, keepdims=True)
        return x - self.xp.log(self.sum(self.xp.exp(x), axis=-1, keepdims=True))

    def sigmoid(self, x: Any) -> Any:
        return 1 / (1 + self.xp.exp(-x))

    def softplus(self, x: Any) -> Any:
        return self.xp.logaddexp(x, 0 * x)

    def erf(self, x: Any) -> Any:
        raise NotImplementedError

    def take(self, x: Any, rows: Any) -> Any:
        return x[rows]

    def solve(self, a: Any, b: Any) -> Any:
        return self.xp.linalg.solve(a, b)

    def cholesky(self, a: Any) -> Any:
        return self.xp.linalg.cholesky(a)

    def rfft(self, x: Any) -> Any:
        return self.xp.fft.rfft(x)

    def power(self, z: Any) -> Any:
        """The squared size of complex numbers."""
        return self.xp.abs(z) ** 2

    def __getattr__(self, name: str) -> Any:
        return getattr(self.xp, name)


class Arraygrad(System):
    name = "arraygrad"
    module = "arraygrad"

    def gradient(self, loss: Loss, parameters: Sequence[Any], *data: Any) -> Job:
        ag = self.xp

        def job() -> Any:
            leaves = [ag.tensor(p, requires_grad=True) for p in parameters]
            return ag.grad(loss(self, leaves, *data), leaves)

        return job

    def softmax(self, x: Any) -> Any:
        return self.xp.special.softmax(x, axis=-1)

    def log_softmax(self, x: Any) -> Any:
        return self.xp.special.log_softmax(x, axis=-1)

    def sigmoid(self, x: Any) -> Any:
        return self.xp.special.expit(x)

    def softplus(self, x: Any) -> Any:
        return self.xp.special.softplus(x)

    def erf(self, x: Any) -> Any:
        return self.xp.special.erf(x)

    def solve(self, a: Any, b: Any) -> Any:
        return self.xp.linalg.solve(a, b)


class Torch(System):
    name = "torch"
    module = "torch"

    def __init__(self) -> None:
        super().__init__()
        self.xp.set_num_threads(2)

    def array(self, values: Any) -> Any:
        return self.xp.tensor(values)

    def gradient(self, loss: Loss, parameters: Sequence[Any], *data: Any) -> Job:
        torch = self.xp
        constants = [torch.tensor(d) for d in data]

        def job() -> Any:
            leaves = [torch.tensor(p, requires_grad=True) for p in parameters]
            return torch.autograd.grad(loss(self, leaves, *constants), leaves)

        return job

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return x.sum() if axis is None else x.sum(axis, keepdim=keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return x.mean() if axis is None else x.mean(axis, keepdim=keepdims)

    def var(self, x: Any, axis: Any) -> Any:
        return x.var(axis, correction=0, keepdim=True)

    def softmax(self, x: Any) -> Any:
        return self.xp.softmax(x, -1)

    def log_softmax(self, x: Any) -> Any:
        return self.xp.log_softmax(x, -1)

    def sigmoid(self, x: Any) -> Any:
        return self.xp.sigmoid(x)

    def softplus(self, x: Any) -> Any:
        return self.xp.nn.functional.softplus(x)

    def erf(self, x: Any) -> Any:
        return self.xp.special.erf(x)


class Jax(System):
    name = "jax.jit"
    module = "jax"

    def __init__(self) -> None:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        super().__init__()
        self.jax = self.xp
        self.jax.config.update("jax_enable_x64", True)
        self.xp = importlib.import_module("jax.numpy")

    def array(self, values: Any) -> Any:
        return self.xp.asarray(values)

    def gradient(self, loss: Loss, parameters: Sequence[Any], *data: Any) -> Job:
        compiled = self.jax.jit(self.jax.grad(lambda p, *d: loss(self, p, *d)))
        leaves = [self.xp.asarray(p) for p in parameters]
        constants = [self.xp.asarray(d) for d in data]
        return lambda: self.jax.block_until_ready(compiled(leaves, *constants))

    def erf(self, x: Any) -> Any:
        return self.jax.scipy.special.erf(x)


class Hips(System):
    name = "HIPS autograd"
    module = "autograd"

    def __init__(self) -> None:
        super().__init__()
        self.autograd = self.xp
        self.xp = importlib.import_module("autograd.numpy")

    def gradient(self, loss: Loss, parameters: Sequence[Any], *data: Any) -> Job:
        gradient = self.autograd.grad(lambda p: loss(self, p, *data))
        leaves = list(parameters)
        return lambda: gradient(leaves)

    def erf(self, x: Any) -> Any:
        return importlib.import_module("autograd.scipy.special").erf(x)


SYSTEMS: list[type[System]] = [Arraygrad, Torch, Jax, Hips]


def installed() -> tuple[list[System], list[str]]:
    """The systems that are installed, arraygrad first, and the names of those that are not."""
    found = [system() for system in SYSTEMS if system.installed()]
    return found, [system.name for system in SYSTEMS if not system.installed()]


def normal(*shape: int, seed: int = 0, scale: float | None = None) -> Any:
    """Random float32 numbers, the same in every run, scaled for `shape[0]` inputs of a layer."""
    values = np.random.default_rng(seed).standard_normal(shape)
    return (values * (shape[0] ** -0.5 if scale is None else scale)).astype(np.float32)
