"""The same programs with `torch` and with `arraygrad.compat.torch`: `python -m benchmarks.facade`.

Programs of many small ops, as in custom loops: there, the time is that of the library, not of the
arithmetic. The two take turns, with one thread each, and the medians of the processor's time are
compared.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

Program = Callable[[Any], Callable[[], Any]]


def rosenbrock(torch: Any) -> Callable[[], Any]:
    """A step of gradient descent on a function of ten variables."""
    x = torch.linspace(-1, 1, 10).requires_grad_()

    def run() -> Any:
        y = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        (g,) = torch.autograd.grad(y, x)
        with torch.no_grad():
            x.sub_(1e-4 * g)
        return y

    return run


def network(torch: Any) -> Callable[[], Any]:
    """A step of training of a small network."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.ones(32, 8), torch.ones(32, 1)

    def run() -> Any:
        optimiser.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimiser.step()
        return loss

    return run


def recurrence(torch: Any) -> Callable[[], Any]:
    """A recurrence of a hundred steps, and its gradient."""
    w = torch.full((8, 8), 0.1).requires_grad_()
    start = torch.ones(8)

    def run() -> Any:
        h = start
        for _ in range(100):
            h = torch.tanh(w @ h + start)
        return torch.autograd.grad(h.sum(), w)

    return run


def own_function(torch: Any) -> Callable[[], Any]:
    """Twenty calls of a function with its own derivative."""

    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x = torch.full((4,), 0.1).requires_grad_()

    def run() -> Any:
        y = x
        for _ in range(20):
            y = Square.apply(y) + x
        return torch.autograd.grad(y.sum(), x)

    return run


def written(torch: Any) -> Callable[[], Any]:
    """An array that is filled element by element, and its gradient."""
    x = torch.ones(20).requires_grad_()

    def run() -> Any:
        out = torch.zeros(20)
        for i in range(20):
            out[i] = x[i] * x[i - 1]
        return torch.autograd.grad(out.sum(), x)

    return run


PROGRAMS: list[Program] = [rosenbrock, network, recurrence, own_function, written]


def seconds(run: Callable[[], Any], repeat: int) -> float:
    """The time of one call."""
    start = time.process_time()
    for _ in range(repeat):
        run()
    return (time.process_time() - start) / repeat


def compare(program: Program, rounds: int = 15) -> tuple[float, float]:
    """The times with arraygrad and with PyTorch, in microseconds."""
    import torch

    import arraygrad.compat.torch

    torch.set_num_threads(1)
    runs = [program(arraygrad.compat.torch), program(torch)]
    for run in runs:
        run()
    repeat = max(1, int(0.01 / seconds(runs[0], 1)))
    times = [[seconds(run, repeat) for run in runs] for _ in range(rounds)]
    ours, theirs = (statistics.median(column) * 1e6 for column in zip(*times, strict=True))
    return ours, theirs


def main() -> None:
    """Print a table."""
    print(f"{'program':>14} {'compat.torch':>13} {'torch':>10} {'ratio':>6}")
    for program in PROGRAMS:
        ours, theirs = compare(program)
        print(f"{program.__name__:>14} {ours:>10.0f} µs {theirs:>7.0f} µs {ours / theirs:>6.2f}")


if __name__ == "__main__":
    main()
