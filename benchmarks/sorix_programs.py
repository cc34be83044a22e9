"""Small programs of sorix, with sorix and with `arraygrad.compat.sorix`.

    pip install sorix pandas    # sorix needs Python 3.12
    python -m benchmarks.sorix_programs

Prints the time of each program in milliseconds, and the second time as a fraction of the first.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def chain(sorix: Any) -> Callable[[], Any]:
    """A gradient through 300 ops on a number."""
    x = sorix.tensor([0.5], requires_grad=True)

    def program() -> Any:
        y = x
        for _ in range(100):
            y = y * 0.9 + x - 0.1
        return sorix.grad(y, x)[0].numpy()

    return program


def network(sorix: Any) -> Callable[[], Any]:
    """A step of training of a small network."""
    sorix.manual_seed(0)
    x = sorix.tensor(np.ones((64, 8), np.float32))
    target = sorix.tensor(np.ones((64, 1), np.float32))
    first, second = sorix.nn.Linear(8, 32), sorix.nn.Linear(32, 1)
    optimizer = sorix.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-3)

    def program() -> Any:
        optimizer.zero_grad()
        loss = ((second(first(x).tanh()) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    return program


def image(sorix: Any) -> Callable[[], Any]:
    """A gradient through elementwise functions on a million numbers."""
    x = sorix.tensor(np.linspace(0.0, 1.0, 1_000_000), requires_grad=True)

    def program() -> Any:
        y = (x.tanh() * x + x.sigmoid() / (x * x + 1.0)).sum()
        return sorix.grad(y, x)[0].numpy()

    return program


def hessian(sorix: Any) -> Callable[[], Any]:
    """The diagonal of a Hessian: a gradient of a gradient."""
    x = sorix.tensor(np.linspace(0.1, 1.0, 50), requires_grad=True)

    def program() -> Any:
        (g,) = sorix.grad((x * x * x).sum(), x, create_graph=True)
        return sorix.grad(g.sum(), x)[0].numpy()

    return program


PROGRAMS = [chain, network, image, hessian]


def milliseconds(program: Callable[[], Any]) -> float:
    """The best of several runs, for about a second."""
    program()
    best, until = float("inf"), time.perf_counter() + 1.0
    while time.perf_counter() < until:
        start = time.perf_counter()
        program()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def main() -> None:
    theirs, ours = (importlib.import_module(n) for n in ("sorix", "arraygrad.compat.sorix"))
    print(f"{'program':10} {'sorix':>9} {'arraygrad':>9} {'fraction':>9}")
    for make in PROGRAMS:
        times = [milliseconds(make(module)) for module in (theirs, ours)]
        print(f"{make.__name__:10} {times[0]:9.3f} {times[1]:9.3f} {times[1] / times[0]:9.2f}")


if __name__ == "__main__":
    main()
