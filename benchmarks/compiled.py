"""`ag.compile` beside `jax.jit` and PyTorch: values and gradients, taking turns.

``python -m benchmarks.compiled`` prints a table: our time, and our time divided by that of others.
``--memory`` measures peak memory instead, in processes of their own; ``--target haswell`` measures
code for AVX2. A workload is a function of a namespace and of arrays: all systems compute the same
formulas.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

# One thread each for NumPy's and SciPy's BLAS: their idle threads slow down the other systems.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import arraygrad as ag

Job = Callable[[], Any]
OURS, EAGER, JAX, TORCH = "compiled", "eager", "jax.jit", "PyTorch"
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
    z = centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5) * scale + shift
    return xp.sum(z / (1 + xp.exp(-1.702 * z)))


def _log_sum_exp(xp: Any, x: Any) -> Any:
    top = xp.max(x, axis=-1, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - top), axis=-1)) + top[..., 0]


def log_sum_exp(xp: Any, x: Any) -> Any:
    return xp.sum(_log_sum_exp(xp, x))


def logistic(xp: Any, w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return xp.mean(xp.logaddexp(0 * z, z) - y * z)


def perceptron(xp: Any, w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    z = xp.maximum(x @ w1 + b1, 0) @ w2 + b2
    return xp.mean(_log_sum_exp(xp, z) - xp.sum(z * y, axis=1))


def attention(xp: Any, q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.mT / 8
    e = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return xp.sum(e / xp.sum(e, axis=-1, keepdims=True) @ v)


def recurrent(xp: Any, a: Any, b: Any, c: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        return xp.tanh(x @ a + h @ b + c), None

    return xp.sum(xp.scan(step, 0 * (xs[0] @ a), xs)[0])


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


def heat_by_scan(xp: Any, x: Any) -> Any:
    def step(x: Any, _: Any) -> Any:
        return x + 0.1 * (xp.roll(x, 1, axis=0) + xp.roll(x, -1, axis=0) - 2 * x), None

    x, _ = xp.scan(step, x, None, length=100)
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

    y, _ = xp.scan(step, start, None, length=1000)
    return xp.sum(y * y)


def interpolation(xp: Any, y: Any, x: Any, points: Any) -> Any:
    """Between the values of a table."""
    i = xp.clip(xp.searchsorted(x, points) - 1, 0, x.shape[0] - 2)
    part = (points - x[i]) / (x[i + 1] - x[i])
    return xp.sum((y[i] * (1 - part) + y[i + 1] * part) ** 2)


def layers(xp: Any, x: Any, w1: Any, w2: Any) -> Any:
    return xp.tanh(w2 @ xp.tanh(w1 @ x))


@dataclass
class Workload:
    """What is computed of a function: value and gradient by the first `count` arrays; or others."""

    function: Callable[..., Any]
    arrays: tuple[Any, ...]
    count: int = 1
    what: str = "gradient"  # or "hessian", "jacobian"; "optimum" by SciPy


def _perceptron(samples: int) -> Workload:
    arrays = (_normal(784, 256) / 28, _normal(256), _normal(256, 10) / 16, _normal(10))
    labels = np.eye(10, dtype=np.float32)[_rng.integers(0, 10, samples)]
    return Workload(perceptron, (*arrays, _normal(samples, 784), labels), 4)


def _regression() -> Workload:
    x = _normal(200, 10, dtype=np.float64)
    noise = _normal(200, dtype=np.float64)
    labels = (x @ np.linspace(-1, 1, 10) + noise > 0).astype(np.float64)
    return Workload(logistic, (np.zeros(10), x, labels), what="optimum")


WORKLOADS: dict[str, Workload] = {
    "chain of 100 ops on 4 numbers": Workload(chain, (np.full(4, 1.01), np.full(4, 0.99))),
    "elementwise, 1M float32": Workload(elementwise, (_normal(1_000_000),)),
    "elementwise, 1M float64": Workload(elementwise, (_normal(1_000_000, dtype=np.float64),)),
    "layer norm and GELU": Workload(
        layer_norm, (_normal(512, 1024), _normal(1024), _normal(1024)), 3
    ),
    "log-sum-exp of rows": Workload(log_sum_exp, (_normal(4096, 1024),)),
    "logistic regression": Workload(
        logistic,
        (_normal(100) / 10, _normal(100_000, 100), (_rng.random(100_000) > 0.5).astype(np.float32)),
    ),
    "perceptron, 64 samples": _perceptron(64),
    "perceptron, 1024 samples": _perceptron(1024),
    "attention, 32 heads of 128 by 64": Workload(
        attention, tuple(_normal(8, 4, 128, 64) for _ in range(3)), 3
    ),
    "recurrent net, 50 steps": Workload(
        recurrent, (_normal(32, 64) / 10, _normal(64, 64) / 10, _normal(64), _normal(50, 16, 32)), 3
    ),
    "Lennard-Jones, 500 atoms": Workload(lennard_jones, (10 * _rng.random((500, 3)), np.eye(500))),
    "gather of 20,000 rows": Workload(
        gather, (_normal(10_000, 64), _rng.integers(0, 10_000, 20_000))
    ),
    "heat equation, 10 steps": Workload(heat, (_normal(1000, 1000),)),
    "heat equation, 100 steps by scan": Workload(heat_by_scan, (_normal(300, 300),)),
    "ODE, 1,000 steps by scan": Workload(
        pendulum, (np.array([1.0, 0.0]), np.array([9.81, 0.1])), 2
    ),
    "Hessian of Rosenbrock's function": Workload(
        rosenbrock, (np.linspace(-1, 1, 50),), what="hessian"
    ),
    "Jacobian of two layers of 256": Workload(
        layers, (_normal(256), _normal(256, 256) / 16, _normal(256, 256) / 16), what="jacobian"
    ),
    "regression by SciPy's optimiser": _regression(),
    "interpolation of 100,000 values": Workload(
        interpolation,
        (_normal(500), np.sort(_normal(500)), _rng.uniform(-2, 2, 100_000).astype(np.float32)),
    ),
}


# --- systems -------------------------------------------------------------------------------------


def _loop(step: Any, state: Any, xs: Any, length: int | None = None) -> Any:
    """A loop as users of PyTorch write it; it returns a pair as `scan` does."""
    for i in range(len(xs) if length is None else length):
        state, _ = step(state, None if xs is None else xs[i])
    return state, None


def _ours() -> SimpleNamespace:
    names = ("sum", "mean", "max", "exp", "log", "sqrt", "sin", "tanh", "maximum", "logaddexp")
    names += ("take", "roll", "stack", "clip", "searchsorted")
    return SimpleNamespace(**{name: getattr(ag, name) for name in names}, scan=ag.func.scan)


def _jax_names(jax: Any) -> SimpleNamespace:
    return SimpleNamespace(**vars(jax.numpy), scan=jax.lax.scan)


def _torch_names(torch: Any) -> SimpleNamespace:
    def largest(x: Any, *, axis: int, keepdims: bool) -> Any:
        return torch.amax(x, dim=axis, keepdim=keepdims)

    def larger(x: Any, least: Any) -> Any:
        return torch.clamp_min(x, least)

    def take(x: Any, indices: Any, *, axis: int) -> Any:
        return torch.index_select(x, axis, indices)

    def roll(x: Any, shift: int, *, axis: int) -> Any:
        return torch.roll(x, shift, axis)

    names = ("sum", "mean", "exp", "log", "sqrt", "sin", "tanh", "logaddexp", "stack", "clip")
    names += ("searchsorted",)
    return SimpleNamespace(
        **{name: getattr(torch, name) for name in names},
        max=largest,
        maximum=larger,
        take=take,
        roll=roll,
        scan=_loop,
    )


def _transformed(workload: Workload, names: Any, transforms: Any) -> Any:
    """The function that is timed, by the transforms of arraygrad or JAX."""
    function = workload.function

    def run(*given: Any) -> Any:
        return function(names, *given)

    if workload.what == "hessian":
        return transforms.hessian(run)
    if workload.what == "jacobian":
        return (transforms.jacrev if hasattr(transforms, "jacrev") else transforms.jacobian)(run)
    return transforms.value_and_grad(run, tuple(range(workload.count)))


def _by_torch(torch: Any, workload: Workload) -> Callable[..., Any]:
    names = _torch_names(torch)

    def run(*given: Any) -> Any:
        return workload.function(names, *given)

    if workload.what in ("hessian", "jacobian"):
        transform = torch.func.hessian if workload.what == "hessian" else torch.func.jacrev
        return transform(run)  # type: ignore[no-any-return]

    def value_and_grad(*given: Any) -> Any:
        leaves = [x.detach().requires_grad_() for x in given[: workload.count]]
        value = run(*leaves, *given[workload.count :])
        return value.detach(), torch.autograd.grad(value, leaves)

    return value_and_grad


def _optimised(value_and_grad: Callable[..., Any], arrays: Any) -> Callable[..., Any]:
    """Twenty steps of SciPy's optimiser."""
    from scipy.optimize import minimize

    def objective(w: Any) -> Any:
        value, (gradient,) = value_and_grad(w, *arrays[1:])
        return float(value), np.asarray(gradient)

    def run(*given: Any) -> Any:
        start = np.asarray(given[0])
        return minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 20}).x

    return run


def jobs(name: str) -> dict[str, tuple[Job, float]]:
    """For each system: a job that does the whole work, and how long its first run took."""
    return {system: job(name, system) for system in (OURS, EAGER, JAX, TORCH) if _is_there(system)}


def _is_there(system: str) -> bool:
    module = {JAX: "jax", TORCH: "torch"}.get(system, "arraygrad")
    return importlib.util.find_spec(module) is not None


def job(name: str, system: str) -> tuple[Job, float]:
    """The job of one system, and how long its first run took."""
    workload = WORKLOADS[name]
    arrays: Any = workload.arrays
    if system == JAX:
        import jax

        jax.config.update("jax_enable_x64", True)
        arrays = [jax.numpy.asarray(a) for a in arrays]
        compiled = jax.jit(_transformed(workload, _jax_names(jax), jax))

        def function(*given: Any) -> Any:
            return jax.block_until_ready(compiled(*given))

    elif system == TORCH:
        import torch

        arrays = [torch.from_numpy(np.array(a)) for a in arrays]
        by_torch = _by_torch(torch, workload)

        def function(*given: Any) -> Any:
            return by_torch(*(torch.as_tensor(x) for x in given))

    else:
        function = _transformed(workload, _ours(), ag.func)
        if system == OURS:
            function = ag.compile(function)
    if workload.what == "optimum":
        function = _optimised(function, arrays)
    start = time.perf_counter()
    function(*arrays)
    return lambda: function(*arrays), time.perf_counter() - start


# --- measuring -----------------------------------------------------------------------------------


def measured(job: Job, seconds: float) -> list[float]:
    """The times of a job."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return times


def times_of(name: str, seconds: float, rounds: int, best: bool) -> dict[str, tuple[float, float]]:
    """For each system, the time of a run and that of the first one."""
    found = jobs(name)
    times: dict[str, list[float]] = {system: [] for system in found}
    for _ in range(rounds):  # in turns
        for system, (run, _) in found.items():
            times[system] += measured(run, seconds)
    typical = min if best else statistics.median
    return {system: (typical(times[system]), found[system][1]) for system in found}


def _table(options: Any) -> None:
    ratios: dict[str, list[float]] = {}
    others = [system for system in (JAX, TORCH, EAGER) if _is_there(system)]
    head = [
        "",
        "compiled",
        *(f"of {system}'s time" for system in others),
        "first call, s",
        "jax.jit",
    ]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name in WORKLOADS:
        if options.only not in name:
            continue
        found = times_of(name, options.seconds, options.rounds, options.best)
        ours, first = found[OURS]
        line = [name, _duration(ours)]
        for system in others:
            ratio = ours / found[system][0]
            ratios.setdefault(system, []).append(ratio)
            line.append(f"{ratio:.2f}")
        line.append(f"{first:.2f}")
        if JAX in found:
            line.append(f"{found[JAX][1]:.2f}")
            ratios.setdefault("first", []).append(first / found[JAX][1])
        print(f"| {' | '.join(line)} |", flush=True)
    means = [_mean(ratios[system]) for system in others]
    last = _mean(ratios["first"]) if "first" in ratios else ""
    print(f"| geometric mean | | {' | '.join(means)} | {last} of jax.jit's | |")


def _mean(ratios: list[float]) -> str:
    return f"{math.exp(statistics.mean(map(math.log, ratios))):.2f}" if ratios else ""


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def _memory_table(options: Any) -> None:
    """Peak memory of a process that compiles and runs a workload, above that before it."""
    systems = [system for system in (OURS, JAX) if _is_there(system)]
    print(f"| | {' | '.join(systems)} |\n|{'---|' * (1 + len(systems))}")
    for name in WORKLOADS:
        if options.only in name:
            found = []
            for system in systems:
                command = [sys.executable, "-m", "benchmarks.compiled", "--alone", system]
                out = subprocess.run(
                    [*command, "--only", name], capture_output=True, text=True, check=True
                )
                found.append(f"{float(out.stdout) / 1e6:.0f} MB")
            print(f"| {name} | {' | '.join(found)} |", flush=True)


def _alone(system: str, name: str) -> None:
    """Print the bytes by which the peak memory of this process grows in five runs (on Linux)."""
    job("chain of 100 ops on 4 numbers", system)  # what has nothing to do with the workload
    before = _resident("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forget the peak
    run, _ = job(name, system)
    for _ in range(4):
        run()
    print(_resident("VmHWM") - before)


def _resident(what: str) -> int:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(what))
    return 1024 * int(line.split()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each job and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--best", action="store_true", help="compare the shortest times")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--target", help="the processor to make code for, as in haswell")
    parser.add_argument("--memory", action="store_true", help="measure peak memory")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.target:
        os.environ["ARRAYGRAD_TARGET"] = options.target
    if options.alone:
        _alone(options.alone, options.only)
    elif options.memory:
        _memory_table(options)
    else:
        _table(options)


if __name__ == "__main__":
    main()
