"""Single functions of SciPy with gradients: time as a multiple of SciPy's own, and memory.

Run by ``python -m benchmarks.scientific_functions``. A line shows the time for the value and the
gradient by all arguments as a multiple of SciPy's time for the value alone, and the most that it
should be. It is the time of the processor, with one thread, so that other programs do not count.
The last lines show memory.
"""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg

import arraygrad as ag
from arraygrad import scipy as differentiable
from arraygrad.scipy import integrate, optimize

from .scientific import Job, lotka_volterra, one_thread, robertson

_rng = np.random.default_rng(0)


def spline() -> tuple[Job, Job]:
    """A cubic spline through 1,000 points, at 1,000 others, by values and points."""
    x = np.linspace(0, 1, 1000)
    y, at = np.sin(9 * x), np.sort(_rng.uniform(0, 1, 1000))

    def total(y: Any, at: Any, module: Any = differentiable) -> Any:
        return module.interpolate.CubicSpline(x, y)(at).sum()

    both = ag.func.grad(total, argnums=(0, 1))
    return lambda: total(y, at, scipy), lambda: both(y, at)


def recursive_filter() -> tuple[Job, Job]:
    """`lfilter` of 100,000 samples, by both sets of coefficients and the signal."""
    b, a = scipy.signal.butter(4, 0.2)
    x = _rng.standard_normal(100_000)

    def total(b: Any, a: Any, x: Any, module: Any = differentiable) -> Any:
        return module.signal.lfilter(b, a, x).sum()

    both = ag.func.grad(total, argnums=(0, 1, 2))
    return lambda: total(b, a, x, scipy), lambda: both(b, a, x)


def laplacian() -> tuple[Job, Job]:
    """`spsolve` with the 5-point Laplacian of 100,000 unknowns, by its elements and by b."""
    n = 316
    one = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    unit = scipy.sparse.eye_array(n)
    matrix = scipy.sparse.csc_array(scipy.sparse.kron(one, unit) + scipy.sparse.kron(unit, one))
    b = _rng.standard_normal(n * n)

    def total(data: Any, b: Any, module: Any = differentiable) -> Any:
        made = module.sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
        return module.sparse.linalg.spsolve(made, b).sum()

    both = ag.func.grad(total, argnums=(0, 1))
    return lambda: total(matrix.data, b, scipy), lambda: both(matrix.data, b)


def exponential(n: int) -> tuple[Job, Job]:
    """`expm` of a matrix with n rows."""
    a = _rng.standard_normal((n, n)) / np.sqrt(n)

    def total(a: Any, module: Any = differentiable) -> Any:
        return module.linalg.expm(a).sum()

    gradient = ag.func.grad(total)
    return lambda: total(a, scipy), lambda: gradient(a)


def bfgs() -> tuple[Job, Job]:
    """The minimum of Rosenbrock's function of ten variables by BFGS, by its parameters."""

    def rosenbrock(x: Any, p: Any) -> Any:
        return (p[0] * (x[1:] - x[:-1] ** 2) ** 2 + (p[1] - x[:-1]) ** 2).sum()

    def total(p: Any, module: Any = differentiable) -> Any:
        found = module.optimize.minimize(rosenbrock, np.zeros(10), args=(p,), method="BFGS")
        return (found.x**2).sum()

    gradient, p = ag.func.grad(total), np.array([100.0, 1.0])
    return lambda: total(p, scipy), lambda: gradient(p)


def fixed_point() -> tuple[Job, Job]:
    """A fixed point with 100,000 unknowns."""
    n = 100_000
    source = _rng.uniform(0.5, 1.5, n)

    def mapped(x: Any, source: Any) -> Any:
        return 0.5 * np.tanh(np.roll(x, 1) + 0.3 * x) + source

    def total(source: Any, module: Any = differentiable) -> Any:
        found = module.optimize.fixed_point(mapped, np.zeros(n), args=(source,), method="iteration")
        return (found**2).sum()

    gradient = ag.func.grad(total)
    return lambda: total(source, scipy), lambda: gradient(source)


def small_system(workload: Any) -> tuple[Job, Job]:
    """A differential equation of `benchmarks.scientific`, without the other libraries."""
    made = workload(peers=False)
    return made.value, made.gradients["arraygrad"]


# The most that value and gradient should take, in times of SciPy's value.
WORKLOADS: dict[str, tuple[Any, float]] = {
    "CubicSpline, 1,000 points": (spline, 4),
    "lfilter, 100,000 samples": (recursive_filter, 4),
    "spsolve, 100,000 unknowns": (laplacian, 4),
    "expm, 20 rows": (lambda: exponential(20), 3),
    "expm, 60 rows": (lambda: exponential(60), 3),
    "expm, 300 rows": (lambda: exponential(300), 3),
    "BFGS, 10 variables": (bfgs, 3),
    "RK45, 2 variables": (lambda: small_system(lotka_volterra), 4),
    "Radau, 3 variables": (lambda: small_system(robertson), 4),
    "fixed_point, 100,000 unknowns": (fixed_point, np.inf),
}


# --- memory --------------------------------------------------------------------------------------


def _peak(job: Job) -> int:
    job()  # what is kept between calls
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def bytes_of_long_run(n: int, steps: int = 10_000) -> int:
    """The memory of the gradient of many steps of RK45."""

    def end(rate: Any) -> Any:
        found = integrate.solve_ivp(
            lambda t, y: -rate * y, (0.0, 1.0), np.ones(n), t_eval=[1.0], max_step=1.0 / steps
        )
        return found.y[:, -1].sum()

    gradient = ag.func.grad(end)
    return _peak(lambda: gradient(np.array(0.5)))


def vectors_of_fixed_point() -> list[tuple[int, float]]:
    """How many vectors are alive at most in the gradient of a fixed point, for some sizes."""

    def total(source: Any) -> Any:
        found = optimize.fixed_point(
            lambda x: 0.5 * np.tanh(np.roll(x, 1) + 0.3 * x) + source,
            np.zeros(source.shape),
            method="iteration",
        )
        return (found**2).sum()

    gradient = ag.func.grad(total)
    return [(n, _peak(lambda: gradient(np.ones(n))) / (8 * n)) for n in (10_000, 100_000)]  # noqa: B023


def _seconds(job: Job) -> float:
    start = time.thread_time()
    job()
    return time.thread_time() - start


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all workloads and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scientific_functions", description=__doc__
    )
    parser.add_argument("only", nargs="*", help="workloads whose name holds one of these")
    parser.add_argument("--seconds", type=float, default=3.0, help="per workload")
    options = parser.parse_args(arguments)

    def is_chosen(name: str) -> bool:
        return not options.only or any(o in name for o in options.only)

    with one_thread():
        for name, (make, most) in WORKLOADS.items():
            if not is_chosen(name):
                continue
            value, gradient = make()
            value(), gradient()
            ratios: list[float] = []
            spent = 0.0
            while spent < options.seconds or len(ratios) < 5:
                base, own = _seconds(value), _seconds(gradient)
                ratios.append(own / base)
                spent += base + own
            bar = "" if most == np.inf else f", should be at most {most:g}"
            print(f"{name:32} {statistics.median(ratios):6.2f} of SciPy's value{bar}", flush=True)
    if is_chosen("memory"):
        for n in (1000, 100, 8):  # some megabytes may be used in any case
            found = bytes_of_long_run(n)
            bar = f", should be at most {4 * 100}" if n == 1000 else ""
            count, size = found / (8 * n), found / 1e6
            print(f"memory of 10,000 steps, {n:,} numbers: {size:.1f} MB, {count:,.0f} states{bar}")
        for n, count in vectors_of_fixed_point():
            print(f"memory of a fixed point with {n:,} unknowns: {count:.0f} vectors")


if __name__ == "__main__":
    main()
