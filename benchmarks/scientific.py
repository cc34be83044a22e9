"""SciPy's solvers with derivatives, beside torchdiffeq, diffrax and jaxopt at equal tolerances.

Run by ``python -m benchmarks.scientific``. The systems take turns. A line shows the time for the
value and the gradient as a multiple of SciPy's own time for the value alone, and how far the
gradient is from one with much smaller tolerances. diffrax and jaxopt run under `jax.jit`, compiled
before; their first call is shown apart. Every system has one thread: SciPy and NumPy have a pool of
threads each, which take the processors from each other, and SciPy's time would say little.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate
import scipy.optimize

import arraygrad as ag
from arraygrad.scipy import integrate, optimize

Job = Callable[[], Any]


class Workload(NamedTuple):
    """SciPy's value, and the gradient by each system; `exact` is the gradient to compare with."""

    value: Job
    gradients: dict[str, Job]
    exact: Any


def _with_peers(gradients: dict[str, Job], peers: dict[str, Callable[[], Job]]) -> dict[str, Job]:
    for name, make in peers.items():
        try:
            gradients[name] = make()
        except ImportError:
            continue
    return gradients


# --- ordinary differential equations -------------------------------------------------------------


def _equations(
    rates: Callable[..., Any],
    start: Any,
    end: float,
    p: Any,
    rtol: float,
    method: str,
    theirs: str,
    peers: bool = True,
) -> Workload:
    """The gradient of the sum of squares of the last state, by the parameters.

    `rates(y, p, xp)` gives the derivative of the state; `theirs` is the method's name in diffrax.
    """
    atol = rtol * 1e-3

    def ours(p: Any, module: Any, rtol: float = rtol) -> Any:
        options: dict[str, Any] = {"method": method, "rtol": rtol, "atol": rtol * 1e-3}
        options["t_eval"] = [end]
        solution = module.solve_ivp(lambda t, y: rates(y, p, np), (0.0, end), start, **options)
        return (solution.y[:, -1] ** 2).sum()

    def torchdiffeq() -> Job:
        import torch
        from torchdiffeq import odeint

        torch.set_num_threads(1)
        y0, times = torch.tensor(start), torch.tensor([0.0, end], dtype=torch.float64)

        def gradient() -> Any:
            q = torch.tensor(p, requires_grad=True)
            y = odeint(
                lambda t, y: rates(y, q, torch), y0, times, rtol=rtol, atol=atol, method="dopri5"
            )
            return torch.autograd.grad((y[-1] ** 2).sum(), q)[0].numpy()

        return gradient

    def diffrax() -> Job:
        import diffrax
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        solver = getattr(diffrax, theirs)()

        def loss(q: Any) -> Any:
            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(lambda t, y, args: rates(y, args, jnp)),
                solver, 0.0, end, None, jnp.asarray(start), args=q, max_steps=100_000,
                stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol),
            )  # fmt: skip
            return (solution.ys[-1] ** 2).sum()

        gradient = jax.jit(jax.grad(loss))
        return lambda: np.asarray(gradient(jnp.asarray(p)))

    others = {"diffrax": diffrax} if peers else {}
    if peers and method in ("RK45", "DOP853"):  # torchdiffeq has no method for stiff equations
        others = {"torchdiffeq": torchdiffeq, **others}
    own = ag.func.grad(lambda p: ours(p, integrate))
    exact = ag.func.grad(lambda p: ours(p, integrate, max(rtol * 1e-3, 1e-12)))(p)
    return Workload(
        lambda: ours(p, scipy.integrate), _with_peers({"arraygrad": lambda: own(p)}, others), exact
    )


def lotka_volterra(peers: bool = True) -> Workload:
    """Prey and hunters, RK45."""

    def rates(y: Any, p: Any, xp: Any) -> Any:
        meetings = y[0] * y[1]
        return xp.stack([p[0] * y[0] - p[1] * meetings, p[2] * meetings - p[3] * y[1]])

    start, p = np.array([1.5, 1.0]), np.array([1.1, 0.6, 0.5, 0.9])
    return _equations(rates, start, 12.0, p, 1e-8, "RK45", "Dopri5", peers)


def robertson(peers: bool = True) -> Workload:
    """A stiff chemical reaction, Radau."""

    def rates(y: Any, p: Any, xp: Any) -> Any:
        slow, fast, middle = p[0] * y[0], p[1] * y[1] ** 2, p[2] * y[1] * y[2]
        return xp.stack([middle - slow, slow - middle - fast, fast])

    start, p = np.array([1.0, 0.0, 0.0]), np.array([0.04, 3e7, 1e4])
    return _equations(rates, start, 100.0, p, 1e-6, "Radau", "Kvaerno5", peers)


def heat_equation() -> Workload:
    """The heat equation on 1,000 points, its conductivity and source, RK45."""
    n = 1000
    start = np.sin(np.linspace(0, 3 * np.pi, n)) ** 2

    def rates(y: Any, p: Any, xp: Any) -> Any:
        flow = y[1:] - y[:-1]
        inside = p[0] * (flow[1:] - flow[:-1]) - p[1] * y[1:-1]
        ends = 0 * y[:1]
        return (
            xp.concatenate([ends, inside, ends])
            if xp is not np
            else np.concat([ends, inside, ends])
        )

    return _equations(rates, start, 20.0, np.array([0.8, 0.02]), 1e-6, "RK45", "Dopri5")


# --- implicit functions --------------------------------------------------------------------------


def ridge() -> Workload:
    """How the optimum of a ridge regression with 1,000 parameters depends on its penalty."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((1500, 1000)), rng.standard_normal(1500)
    penalty = np.array(30.0)

    def objective(w: Any, penalty: Any) -> Any:
        residual = x @ w - y
        return 0.5 * (residual @ residual) + 0.5 * penalty * (w @ w)

    def slope(w: Any, penalty: Any) -> Any:
        return x.T @ (x @ w - y) + penalty * w

    def ours(penalty: Any, module: Any) -> Any:
        found = module.minimize(
            objective, np.zeros(1000), args=(penalty,), jac=slope, method="L-BFGS-B",
            options={"gtol": 1e-8, "ftol": 1e-16, "maxiter": 1000},
        )  # fmt: skip
        return (found.x**2).sum()

    def jaxopt() -> Job:
        import jax
        import jax.numpy as jnp
        import jaxopt

        jax.config.update("jax_enable_x64", True)
        matrix, target = jnp.asarray(x), jnp.asarray(y)

        def objective(w: Any, penalty: Any) -> Any:
            residual = matrix @ w - target
            return 0.5 * (residual @ residual) + 0.5 * penalty * (w @ w)

        solver = jaxopt.LBFGS(objective, tol=1e-8, maxiter=1000)
        gradient = jax.jit(
            jax.grad(lambda p: (solver.run(jnp.zeros(1000), penalty=p).params ** 2).sum())
        )
        return lambda: np.asarray(gradient(jnp.asarray(30.0)))

    own = ag.func.grad(lambda p: ours(p, optimize))
    matrix = x.T @ x + penalty * np.eye(1000)
    w = np.linalg.solve(matrix, x.T @ y)
    exact = -2 * w @ np.linalg.solve(matrix, w)
    return Workload(
        lambda: ours(penalty, scipy.optimize),
        _with_peers({"arraygrad": lambda: own(penalty)}, {"jaxopt": jaxopt}),
        exact,
    )


WORKLOADS = {
    "Lotka-Volterra": lotka_volterra,
    "Robertson": robertson,
    "heat equation, 1,000 points": heat_equation,
    "ridge regression, 1,000 parameters": ridge,
}


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for each library that computes."""
    from threadpoolctl import threadpool_limits

    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    with threadpool_limits(1):
        yield


def seconds(job: Job) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all workloads and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scientific", description=__doc__)
    parser.add_argument("only", nargs="*", help="workloads whose name holds one of these")
    parser.add_argument("--seconds", type=float, default=8.0, help="per workload")
    options = parser.parse_args(arguments)
    with one_thread():
        _measure(options)


def _measure(options: Any) -> None:
    for name, make in WORKLOADS.items():
        if options.only and not any(o in name for o in options.only):
            continue
        value, gradients, exact = make()
        first = {system: seconds(job) for system, job in gradients.items()}
        value()
        times: dict[str, list[float]] = {system: [] for system in gradients}
        end = time.perf_counter() + options.seconds
        while time.perf_counter() < end or len(times["arraygrad"]) < 3:
            base = seconds(value)
            for system, job in gradients.items():
                times[system].append(seconds(job) / base)
        print(name)
        for system, ratios in times.items():
            error = np.max(np.abs(gradients[system]() - exact)) / np.max(np.abs(exact))
            print(
                f"    {system:12} {statistics.median(ratios):7.2f} of SciPy's value, "
                f"error {error:.0e}, first call {first[system]:.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
