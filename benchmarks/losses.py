"""First derivatives of one function of many arrays: the losses that all systems differentiate.

Each workload is a loss, its parameters and its data; `by_hand` has the gradient as a person would
write it with NumPy, for some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .systems import Job, System, normal

s2 = np.float32(2**-0.5)


class Workload(NamedTuple):
    """A loss ``loss(system, parameters, *data)`` and what to call it with."""

    loss: Callable[..., Any]
    parameters: Sequence[Any]
    data: Sequence[Any] = ()
    by_hand: Callable[..., Any] | None = None

    def jobs(self, systems: list[System]) -> dict[str, Job]:
        """The gradient as a job for each system."""
        jobs = {s.name: s.gradient(self.loss, self.parameters, *self.data) for s in systems}
        if self.by_hand is not None:
            by_hand = self.by_hand
            jobs["NumPy by hand"] = lambda: by_hand(*self.parameters, *self.data)
        return jobs


# --- many small ops ------------------------------------------------------------------------------


def chain(steps: int) -> Workload:
    """`z = z * y + y` on four float64 elements."""

    def loss(system: System, parameters: Any) -> Any:
        (y,) = parameters
        z = y
        for _ in range(steps):
            z = z * y + y
        return system.sum(z)

    def by_hand(y: Any) -> Any:
        values = [y]
        for _ in range(steps):
            values.append(values[-1] * y + y)
        g = np.ones_like(y)
        total = np.zeros_like(y)
        for z in values[-2::-1]:
            total += g
            total += g * z
            g = g * y
        return total + g

    return Workload(loss, [np.full(4, 0.5)], (), by_hand)


def recurrent() -> Workload:
    """50 steps of a recurrent net: 32 sequences, 64 units."""

    def loss(system: System, parameters: Any, x: Any) -> Any:
        w, u, b = parameters
        h = x[0] @ w * 0
        for t in range(50):
            h = system.tanh(x[t] @ w + h @ u + b)
        return system.sum(h * h)

    return Workload(
        loss,
        [normal(32, 64), normal(64, 64, seed=1), np.zeros(64, np.float32)],
        [normal(50, 32, 32, seed=2, scale=1.0)],
    )


# --- large elementwise ---------------------------------------------------------------------------


def elementwise() -> Workload:
    """`tanh(x) * sigmoid(x) + exp(x)` on a million elements."""

    def loss(system: System, parameters: Any) -> Any:
        (x,) = parameters
        return system.sum(system.tanh(x) * system.sigmoid(x) + system.exp(x))

    def by_hand(x: Any) -> Any:
        t, s, e = np.tanh(x), 1 / (1 + np.exp(-x)), np.exp(x)
        _ = (t * s + e).sum()
        return (1 - t * t) * s + t * (s * (1 - s)) + e

    return Workload(loss, [normal(1_000_000, scale=1.0)], (), by_hand)


def bias() -> Workload:
    """A bias broadcast over 4096 rows of 1024, and back."""

    def loss(system: System, parameters: Any, x: Any) -> Any:
        (b,) = parameters
        y = x + b
        return system.sum(y * y)

    def by_hand(b: Any, x: Any) -> Any:
        y = x + b
        _ = (y * y).sum()
        return (2 * y).sum(axis=0)

    return Workload(loss, [normal(1024, scale=1.0)], [normal(4096, 1024, scale=1.0)], by_hand)


def norm_gelu() -> Workload:
    """Layer normalisation and GELU, 512 by 1024."""

    def loss(system: System, parameters: Any, x: Any) -> Any:
        scale, shift = parameters
        y = (x - system.mean(x, -1, True)) / system.sqrt(system.var(x, -1) + 1e-5)
        y = y * scale + shift
        return system.sum(0.5 * y * (1 + system.erf(y * s2)))

    ones, zeros = np.ones(1024, np.float32), np.zeros(1024, np.float32)
    return Workload(loss, [ones, zeros], [normal(512, 1024, scale=1.0)])


# --- products ------------------------------------------------------------------------------------


def net(count: int) -> Workload:
    """A net 784-256-10 with cross-entropy."""

    def loss(system: System, parameters: Any, x: Any, targets: Any) -> Any:
        w, b, v, c = parameters
        z = system.tanh(x @ w + b) @ v + c
        return -system.sum(system.log_softmax(z) * targets) / count

    def by_hand(w: Any, b: Any, v: Any, c: Any, x: Any, targets: Any) -> Any:
        h = np.tanh(x @ w + b)
        z = h @ v + c
        z = z - z.max(axis=-1, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=-1, keepdims=True)
        _ = -((z - np.log(total)) * targets).sum() / count
        dz = (e / total - targets) / np.float32(count)
        dh = (dz @ v.T) * (1 - h * h)
        return x.T @ dh, dh.sum(axis=0), h.T @ dz, dz.sum(axis=0)

    labels = np.random.default_rng(3).integers(0, 10, count)
    parameters = [
        normal(784, 256),
        np.zeros(256, np.float32),
        normal(256, 10, seed=1),
        np.zeros(10, np.float32),
    ]
    data = [normal(count, 784, seed=2, scale=1.0), np.eye(10, dtype=np.float32)[labels]]
    return Workload(loss, parameters, data, by_hand)


def attention(count: int = 8) -> Workload:
    """Softmax attention: `count` by 4 heads, 128 positions, 64 features."""

    def loss(system: System, parameters: Any) -> Any:
        q, k, v = parameters
        weights = system.softmax(q @ system.swap(k) * 0.125)
        return system.sum((weights @ v) ** 2)

    def by_hand(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.swapaxes(-1, -2) * np.float32(0.125)
        p = np.exp(scores - scores.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        out = p @ v
        _ = (out**2).sum()
        dout = 2 * out
        dp = dout @ v.swapaxes(-1, -2)
        ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) * np.float32(0.125)
        return ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ dout

    shape = (count, 4, 128, 64)
    return Workload(loss, [normal(*shape, seed=i, scale=1.0) for i in range(3)], (), by_hand)


def logistic() -> Workload:
    """Logistic regression on 100,000 examples of 100 features."""

    def loss(system: System, parameters: Any, x: Any, y: Any) -> Any:
        (w,) = parameters
        z = x @ w
        return system.sum(system.softplus(z) - y * z)

    def by_hand(w: Any, x: Any, y: Any) -> Any:
        z = x @ w
        e = np.exp(-np.abs(z))
        _ = (np.log1p(e) + np.maximum(z, 0) - y * z).sum()
        return (1 / (1 + np.exp(-z)) - y) @ x

    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 100_000).astype(np.float32)
    return Workload(loss, [normal(100)], [normal(100_000, 100, scale=1.0), labels], by_hand)


def gather() -> Workload:
    """20,000 rows of 64, with repeats, out of a table of 10,000."""

    def loss(system: System, parameters: Any, rows: Any, targets: Any) -> Any:
        (table,) = parameters
        difference = system.take(table, rows) - targets
        return system.sum(difference * difference)

    rows = np.random.default_rng(0).integers(0, 10_000, 20_000)
    return Workload(
        loss, [normal(10_000, 64, scale=1.0)], [rows, normal(20_000, 64, seed=1, scale=1.0)]
    )


# --- linear algebra and Fourier transforms -------------------------------------------------------


def solving() -> Workload:
    """A linear system and a Cholesky factor of 256 by 256, float64."""

    def loss(system: System, parameters: Any) -> Any:
        a, b = parameters
        x = system.solve(a, b)
        factor = system.cholesky(a @ system.swap(a) + system.array(np.eye(256)))
        return system.sum(x * x) + system.sum(factor)

    a = normal(256, 256).astype(np.float64) + 2 * np.eye(256)
    return Workload(loss, [a, normal(256, 8, seed=1).astype(np.float64)])


def fourier() -> Workload:
    """The power spectrum of 2**18 numbers, weighted."""

    def loss(system: System, parameters: Any, weights: Any) -> Any:
        (x,) = parameters
        return system.sum(system.power(system.rfft(x)) * weights)

    n = 2**18
    return Workload(loss, [normal(n, scale=1.0)], [np.linspace(0, 1, n // 2 + 1, dtype=np.float32)])


LOSSES: dict[str, Callable[[], Workload]] = {
    "chain of 100 multiply-adds": lambda: chain(100),
    "chain of 50,000 multiply-adds": lambda: chain(50_000),
    "recurrent net, 50 steps": recurrent,
    "elementwise, 1M": elementwise,
    "bias, 4096 × 1024": bias,
    "layer norm and GELU": norm_gelu,
    "net, batch 64": lambda: net(64),
    "net, batch 1024": lambda: net(1024),
    "attention": attention,
    "logistic regression": logistic,
    "gather, 20,000 rows": gather,
    "solve and Cholesky, 256": solving,
    "Fourier transform, 2^18": fourier,
}
