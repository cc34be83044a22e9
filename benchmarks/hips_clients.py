"""Programs written for HIPS autograd, on `arraygrad.compat.hips` and on autograd itself.

Run by ``python -m benchmarks.hips_clients``. Each of the two runs in a process of its own, as
`install` takes autograd's place. They take turns, and the figure is the median of the ratios of
neighbouring runs, which a busy machine disturbs least.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Job = Callable[[], Any]


def lstm() -> Job:
    """The gradient of a long short-term memory network: 60 strings of 30 letters, 40 cells."""
    import autograd.numpy as anp
    from autograd import grad
    from autograd.scipy.special import logsumexp

    rng = np.random.default_rng(0)
    letters, cells, steps, strings = 128, 40, 30, 60
    inputs = np.eye(letters)[rng.integers(letters, size=(steps, strings))]

    def normal(*shape: int) -> Any:
        return 0.01 * rng.standard_normal(shape)

    gates = {name: normal(letters + cells + 1, cells) for name in ("change", "forget", "in", "out")}
    parameters = gates | {"predict": normal(cells + 1, letters), "start": normal(2, 1, cells)}

    def layer(weights: Any, *arrays: Any) -> Any:
        rows = (*arrays, np.ones((arrays[0].shape[0], 1)))
        return anp.dot(anp.hstack(rows), weights)

    def sigmoid(x: Any) -> Any:
        return 0.5 * (anp.tanh(x) + 1.0)

    def loss(p: Any) -> Any:
        hidden, cell = (anp.repeat(p["start"][i], strings, axis=0) for i in (0, 1))
        total = 0.0
        for x in inputs:
            logits = layer(p["predict"], hidden)
            total += anp.sum((logits - logsumexp(logits, axis=1, keepdims=True)) * x)
            change = anp.tanh(layer(p["change"], x, hidden))
            forget, enter, leave = (
                sigmoid(layer(p[n], x, hidden)) for n in ("forget", "in", "out")
            )
            cell = cell * forget + enter * change
            hidden = leave * anp.tanh(cell)
        return -total / (steps * strings)

    gradient = grad(loss)
    return lambda: gradient(parameters)["predict"]


def weibull() -> Job:
    """A Weibull fit by lifelines, with three covariates."""
    import pandas
    from lifelines import WeibullAFTFitter

    rng = np.random.default_rng(0)
    data = pandas.DataFrame(rng.standard_normal((200, 3)), columns=["a", "b", "c"])
    data["time"] = rng.weibull(2.0, 200) * np.exp(0.3 * data["a"] - 0.2 * data["c"])
    data["seen"] = rng.random(200) < 0.8
    return lambda: WeibullAFTFitter().fit(data, "time", "seen").params_.to_numpy()


def trust_region() -> Job:
    """The dominant subspace of a matrix, by pymanopt's trust regions on the Stiefel manifold."""
    import autograd.numpy as anp
    import pymanopt
    from pymanopt.manifolds import Stiefel
    from pymanopt.optimizers import TrustRegions

    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((30, 30))
    matrix = matrix + matrix.T
    manifold = Stiefel(30, 4)
    start = np.linalg.qr(rng.standard_normal((30, 4)))[0]

    @pymanopt.function.autograd(manifold)
    def cost(point: Any) -> Any:
        return -anp.trace(anp.dot(anp.dot(point.T, matrix), point))

    problem = pymanopt.Problem(manifold, cost)

    def solve() -> Any:
        np.random.seed(0)  # noqa: NPY002  (which pymanopt draws from)
        found = TrustRegions(verbosity=0).run(problem, initial_point=start)
        return np.linalg.eigvalsh(found.point.T @ matrix @ found.point)

    return solve


PROGRAMS: dict[str, tuple[Callable[[], Job], tuple[str, ...]]] = {
    "HIPS's example lstm": (lstm, ()),
    "lifelines, Weibull fit": (weibull, ("lifelines",)),
    "pymanopt, trust regions": (trust_region, ("pymanopt",)),
}


def available() -> list[str]:
    """The programs whose packages are installed."""
    found = importlib.util.find_spec
    return [name for name, (_, needs) in PROGRAMS.items() if all(map(found, needs))]


def work(system: str, name: str) -> None:
    """Run a program once for each line of the input, and print the time it took."""
    if system == "arraygrad":
        from arraygrad.compat import hips

        hips.install()
    answers = os.fdopen(os.dup(1), "w")
    with contextlib.redirect_stdout(sys.stderr):
        job = PROGRAMS[name][0]()
        job()
        for _ in sys.stdin:
            begin = time.perf_counter()
            result = job()
            took = time.perf_counter() - begin
            print(took, float(np.abs(np.asarray(result)).sum()), file=answers, flush=True)


class Worker:
    """A process that runs one program with one of the systems."""

    def __init__(self, system: str, name: str) -> None:
        command = [sys.executable, "-W", "ignore", "-m", __spec__.name, "--work", system, name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self) -> tuple[float, float]:
        """The time that a run took, and a number that stands for its result."""
        given, answers = self._process.stdin, self._process.stdout
        assert given is not None
        assert answers is not None
        given.write("go\n")
        given.flush()
        took, result = map(float, answers.readline().split())
        return took, result

    def stop(self) -> None:
        self._process.communicate()


def compare(name: str, seconds: float) -> tuple[float, float, float]:
    """The median ratio of the times, and the median time of each, in milliseconds."""
    ours, theirs = (Worker(system, name) for system in ("arraygrad", "autograd"))
    pairs = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(pairs) < 5:
        (a, mine), (b, expected) = ours.run(), theirs.run()
        np.testing.assert_allclose(mine, expected, rtol=1e-4)
        pairs.append((a, b))
    ours.stop()
    theirs.stop()
    of_ours, of_theirs = (1e3 * statistics.median(column) for column in zip(*pairs, strict=True))
    return statistics.median(a / b for a, b in pairs), of_ours, of_theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each program")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work)
        return
    print("| program | arraygrad, ms | autograd, ms | ratio |\n|---|---|---|---|")
    for name in available():
        ratio, ours, theirs = compare(name, options.seconds)
        print(f"| {name} | {ours:.1f} | {theirs:.1f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
