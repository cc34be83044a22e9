"""`ag.compile` beside `jax.jit`: values and gradients, taking turns. Run as a module; see --help.

A workload is a function of a namespace and of arrays. All systems run the same formulas.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import arraygrad as ag

Job = Callable[[], Any]
_rng = np.random.default_rng(0)


def _normal(*shape: int, dtype: Any = np.float32) -> Any:
    return _rng.standard_normal(shape).astype(dtype)


def chain(xp: Any, x: Any, y: Any) -> Any:
    for _ in range(50):
        x = x * y + y
    return xp.sum(x)


def elementwise(xp: Any, x: Any) -> Any:
    return xp.sum(xp.tanh(x) / (1 + xp.exp(-x)) + xp.exp(-x * x))


def layer_norm(xp: Any, x: Any, scale: Any, shift: Any) -> Any:
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    z = centred / xp.sqrt(xp.var(x, axis=-1, keepdims=True) + 1e-5) * scale + shift
    return xp.sum(z / (1 + xp.exp(-1.702 * z)))


def log_sum_exp(xp: Any, x: Any) -> Any:
    top = xp.max(x, axis=1, keepdims=True)
    return xp.sum(xp.log(xp.sum(xp.exp(x - top), axis=1)) + top[:, 0])


def logistic(xp: Any, w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return xp.mean(xp.logaddexp(0 * z, z) - y * z)


def perceptron(xp: Any, w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    z = xp.maximum(x @ w1 + b1, 0) @ w2 + b2
    return -xp.mean(xp.sum(z * y, axis=1) - xp.log(xp.sum(xp.exp(z), axis=1)))


def lennard_jones(xp: Any, x: Any, eye: Any) -> Any:
    d = x[:, None, :] - x[None, :, :]
    power = 1 / (xp.sum(d * d, axis=-1) + eye) ** 3
    return 2 * xp.sum((power * power - power) * (1 - eye))


def gather(xp: Any, table: Any, indices: Any) -> Any:
    return xp.sum(xp.take(table, indices, axis=0) ** 2)


def heat(xp: Any, x: Any) -> Any:
    for _ in range(10):
        x = x + 0.1 * (xp.roll(x, 1, axis=0) + xp.roll(x, -1, axis=0) - 2 * x)
    return xp.sum(x * x)


def rosenbrock(xp: Any, x: Any) -> Any:
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def _scan(xp: Any) -> Any:
    """The loop of a library."""
    if xp is ag:
        return ag.func.scan
    import jax

    return jax.lax.scan


def heat_by_scan(xp: Any, x: Any) -> Any:
    def step(x: Any, _: Any) -> Any:
        return x + 0.1 * (xp.roll(x, 1, axis=0) + xp.roll(x, -1, axis=0) - 2 * x), None

    x, _ = _scan(xp)(step, x, None, length=100)
    return xp.sum(x * x)


def pendulum(xp: Any, start: Any, constants: Any) -> Any:
    """A thousand steps of Runge and Kutta's method."""
    h = 0.01

    def field(y: Any) -> Any:
        return xp.stack([y[1], -constants[0] * xp.sin(y[0]) - constants[1] * y[1]])

    def step(y: Any, _: Any) -> Any:
        k1 = field(y)
        k2 = field(y + h / 2 * k1)
        k3 = field(y + h / 2 * k2)
        k4 = field(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    y, _ = _scan(xp)(step, start, None, length=1000)
    return xp.sum(y * y)


def recurrent_net(xp: Any, w: Any, u: Any, b: Any, xs: Any, start: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        return xp.tanh(x @ w + h @ u + b), None

    h, _ = _scan(xp)(step, start, xs)
    return xp.sum(h * h)


# For each workload: the function, its arrays, and how many of them to differentiate by; none for a
# Hessian.
WORKLOADS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {
    "chain of 100 ops on 4 numbers": (chain, (np.full(4, 1.01), np.full(4, 0.99)), 1),
    "elementwise, 1M float32": (elementwise, (_normal(1_000_000),), 1),
    "elementwise, 1M float64": (elementwise, (_normal(1_000_000, dtype=np.float64),), 1),
    "layer norm and GELU": (layer_norm, (_normal(512, 1024), _normal(1024), _normal(1024)), 3),
    "log-sum-exp of rows": (log_sum_exp, (_normal(4096, 1024),), 1),
    "logistic regression": (logistic, (_normal(100), _normal(100_000, 100), _normal(100_000)), 1),
    "perceptron, 64 samples": (
        perceptron,
        (_normal(784, 256) / 28, _normal(256), _normal(256, 10) / 16, _normal(10))
        + (_normal(64, 784), np.eye(10, dtype=np.float32)[_rng.integers(0, 10, 64)]),
        4,
    ),
    "Lennard-Jones, 500 atoms": (lennard_jones, (10 * _rng.random((500, 3)), np.eye(500)), 1),
    "gather of 20,000 rows": (gather, (_normal(10_000, 64), _rng.integers(0, 10_000, 20_000)), 1),
    "heat equation, 10 steps": (heat, (_normal(1000, 1000),), 1),
    "heat equation, 100 steps by scan": (heat_by_scan, (_normal(300, 300),), 1),
    "ODE, 1,000 steps by scan": (pendulum, (np.array([1.0, 0.0]), np.array([9.81, 0.1])), 2),
    "recurrent net by scan": (
        recurrent_net,
        (_normal(64, 128) / 8, _normal(128, 128) / 12, _normal(128))
        + (_normal(50, 32, 64), _normal(32, 128)),
        3,
    ),
    "Hessian of Rosenbrock's function": (rosenbrock, (np.linspace(-1, 1, 50),), 0),
}


def jobs(name: str) -> dict[str, tuple[Job, float]]:
    """For each system: a job that does the whole work, and how long its first run took."""
    function, arrays, count = WORKLOADS[name]
    places = tuple(range(count))

    def of(xp: Any, transforms: Any) -> Any:
        def run(*given: Any) -> Any:
            return function(xp, *given)

        return transforms.value_and_grad(run, places) if count else transforms.hessian(run)

    eager = of(ag, ag.func)
    found = {"arraygrad, compiled": _started(ag.compile(eager), arrays)}
    found["arraygrad, eager"] = _started(eager, arrays)
    if importlib.util.find_spec("jax") is not None:
        import jax

        jax.config.update("jax_enable_x64", True)
        given = [jax.numpy.asarray(a) for a in arrays]
        compiled = jax.jit(of(jax.numpy, jax))
        found["jax.jit"] = _started(lambda *a: jax.block_until_ready(compiled(*a)), given)
    return found


def _started(function: Callable[..., Any], arrays: Any) -> tuple[Job, float]:
    start = time.perf_counter()
    function(*arrays)
    return lambda: function(*arrays), time.perf_counter() - start


def measured(job: Job, seconds: float) -> float:
    """The median time of a job."""
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each job and round")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    options = parser.parse_args()
    for name in WORKLOADS:
        if options.only not in name:
            continue
        found = jobs(name)
        best = dict.fromkeys(found, float("inf"))
        for _ in range(3):  # in turns
            for system, (job, _) in found.items():
                best[system] = min(best[system], measured(job, options.seconds))
        ours = best["arraygrad, compiled"]
        line = (
            f"{name:34s} {ours * 1e6:10.1f} µs, first call {found['arraygrad, compiled'][1]:.2f} s"
        )
        for system, seconds in best.items():
            if system != "arraygrad, compiled":
                first = found[system][1]
                line += (
                    f" | {system}: {ours / seconds:.2f} of its time, its first call {first:.2f} s"
                )
        print(line, flush=True)


if __name__ == "__main__":
    main()
