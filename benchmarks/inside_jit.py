"""`ag.grad` inside `jax.jit`, beside `jax.grad` inside `jax.jit`: the same losses, the same XLA.

Run by ``python -m benchmarks.inside_jit``. The two take turns, and the figure is the median of the
ratios of neighbouring runs, which a busy machine disturbs least.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import arraygrad as ag

Loss = Callable[[Any, Any], Any]


def network(xp: Any) -> Loss:
    """Two layers of 256, over a batch of 512."""

    def loss(w: Any, data: Any) -> Any:
        hidden = xp.tanh(xp.matmul(data, w[0]))
        return xp.mean(xp.square(xp.matmul(hidden, w[1])))

    return loss


def logistic(xp: Any) -> Loss:
    """Logistic regression of 20,000 rows by 100 columns."""

    def loss(w: Any, data: Any) -> Any:
        return xp.mean(xp.logaddexp(0.0 * data[:, 0], xp.matmul(data, w[0][:, 0])))

    return loss


def chain(xp: Any) -> Loss:
    """Thirty elementwise steps over a million numbers, which XLA can make one pass of."""

    def loss(w: Any, data: Any) -> Any:
        x = w[0]
        for _ in range(10):
            x = xp.sin(x) * 0.9 + data
        return xp.sum(x)

    return loss


def problems() -> dict[str, tuple[Callable[[Any], Loss], list[Any], Any]]:
    """Each loss, its parameters and its data."""
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return jnp.asarray(rng.standard_normal(shape).astype(np.float32) * 0.1)

    return {
        "network": (network, [draw(256, 256), draw(256, 256)], draw(512, 256)),
        "logistic regression": (logistic, [draw(100, 1)], draw(20_000, 100)),
        "chain of elementwise steps": (chain, [draw(1000, 1000)], draw(1000, 1000)),
    }


def with_arraygrad(loss: Loss) -> Any:
    """The compiled function of our sweep."""

    def gradient(w: list[Any], data: Any) -> list[Any]:
        leaves = [ag.tensor(part, requires_grad=True) for part in w]
        return [g.array for g in ag.grad(loss(leaves, data), leaves)]

    return jax.jit(gradient)


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    """How long one run takes."""
    start = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    return time.perf_counter() - start


def main(repeats: int = 60) -> dict[str, tuple[float, float]]:
    """Print, and return, the ratio of times of each problem: to run, and to trace and compile."""
    ratios = {}
    print(f"{'':30} {'run':>6} {'trace and compile':>18}   (ag.grad / jax.grad)")
    for name, (make, w, data) in problems().items():
        ours, theirs = with_arraygrad(make(ag)), jax.jit(jax.grad(make(jnp)))
        first = seconds(ours, w, data) / seconds(theirs, w, data)
        for mine, other in zip(ours(w, data), theirs(w, data), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-5)
        runs = [seconds(ours, w, data) / seconds(theirs, w, data) for _ in range(repeats)]
        ratios[name] = statistics.median(runs), first
        print(f"{name:30} {ratios[name][0]:6.2f} {first:18.2f}")
    return ratios


if __name__ == "__main__":
    main()
