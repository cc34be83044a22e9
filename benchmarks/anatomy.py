"""Where the time of small ops goes: stage by stage, op by op, and as a flame graph.

Run ``python -m benchmarks.anatomy`` for the tables, in Markdown, and with ``--flame FILE`` for the
picture.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import arraygrad as ag
from arraygrad.sweep.engine import Sweep

from .systems import installed

Stack = tuple[str, ...]

OPS: dict[str, Callable[[Any, Any], Any]] = {
    "x + y": lambda xp, x: x + x,
    "x * y": lambda xp, x: x * x,
    "x * 2": lambda xp, x: x * 2.0,
    "x ** 2": lambda xp, x: x**2,
    "exp": lambda xp, x: xp.exp(x),
    "tanh": lambda xp, x: xp.tanh(x),
    "sum": lambda xp, x: xp.sum(x),
    "mean": lambda xp, x: xp.mean(x),
    "reshape": lambda xp, x: xp.reshape(x, (2, 2)),
    "x[1:]": lambda xp, x: x[1:],
    "x @ y": lambda xp, x: x @ x,
    "where": lambda xp, x: xp.where(x > 0.3, x, 0.0 * x),
    "stack": lambda xp, x: xp.stack([x, x]),
}


def stages(steps: int = 100, repeats: int = 300) -> dict[str, float]:
    """Seconds per op of a chain of multiply-adds: computing, recording, and the sweep's parts."""
    plain = np.linspace(0.1, 0.5, 4)
    leaf = ag.tensor(plain, requires_grad=True)

    def chain(y: Any) -> Any:
        z = y
        for _ in range(steps):
            z = z * y + y
        return z

    found: dict[str, float] = {}

    def timed(name: str, job: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = job()
        taken = (time.perf_counter() - start) / (2 * steps)
        found[name] = min(found.get(name, taken), taken)
        return result

    for _ in range(repeats):
        timed("NumPy alone", lambda: chain(plain))
        with ag.no_grad():
            timed("on tensors, not recorded", lambda: chain(leaf))
        out = timed("on tensors, recorded", lambda: chain(leaf))
        sweep = timed(
            "sweep: finding the nodes",
            lambda: Sweep([out._node], [leaf._node], ag.Tensor.level, False),  # noqa: B023
        )
        seeds = [(out._node, np.ones(4))]
        timed("sweep: running the rules", lambda: sweep.run(seeds))  # noqa: B023
        timed("sweep: letting go", sweep.release)
    return found


def per_op(repeats: int = 200, in_a_row: int = 20) -> dict[str, dict[str, float]]:
    """Seconds for each op on four float64 elements: NumPy's own, and with a call of grad."""
    values = np.linspace(0.1, 0.5, 4)
    systems = [system for system in installed()[0] if system.name in ("arraygrad", "torch")]
    table: dict[str, dict[str, float]] = {}
    for name, call in OPS.items():
        jobs: dict[str, Callable[[], Any]] = {"NumPy": lambda call=call: call(np, values)}  # type: ignore[misc]
        for system in systems:
            jobs[system.name] = _with_gradient(system, call, values)
        row = table[name] = dict.fromkeys(jobs, float("inf"))
        for _ in range(repeats):
            for label, job in jobs.items():
                start = time.perf_counter()
                for _ in range(in_a_row):
                    job()
                row[label] = min(row[label], (time.perf_counter() - start) / in_a_row)
    return table


def _with_gradient(system: Any, call: Callable[[Any, Any], Any], values: Any) -> Any:
    if system.name == "torch":
        torch = system.xp
        x = torch.tensor(values, requires_grad=True)
        seed = torch.ones(tuple(call(torch, x).shape), dtype=torch.float64)
        return lambda: torch.autograd.grad(call(torch, x), x, seed)
    leaf = ag.tensor(values, requires_grad=True)
    ones = np.ones(call(np, values).shape)
    return lambda: ag.grad(call(ag, leaf), leaf, ones)


# --- flame graph ---------------------------------------------------------------------------------


def sample(job: Callable[[], Any], seconds: float) -> Counter[Stack]:
    """How often each stack of Python functions was seen while `job` ran again and again."""
    seen: Counter[Stack] = Counter()
    main, done = threading.get_ident(), threading.Event()

    def watch() -> None:
        while not done.wait(0.0005):
            frame, stack = sys._current_frames().get(main), []
            while frame is not None and frame.f_code is not job.__code__:
                stack.append(_label(frame.f_code))
                frame = frame.f_back
            if frame is not None:
                seen[tuple(reversed(stack))] += 1

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)  # so that the samples are taken when they should be
    thread = threading.Thread(target=watch)
    thread.start()
    end = time.perf_counter() + seconds
    try:
        while time.perf_counter() < end:
            job()
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(switch)
    return seen


def _label(code: Any) -> str:
    return f"{Path(code.co_filename).stem}.{code.co_qualname.rpartition('<locals>.')[2]}"


def flame(seen: Counter[Stack], path: Path) -> None:
    """Draw stacks as a flame graph: width is time, and callers are below what they call."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    total = sum(seen.values())
    depth = max(map(len, seen))
    figure, axes = plt.subplots(figsize=(11, 0.42 * depth + 0.6), layout="constrained")

    def draw(stacks: Counter[Stack], left: float, level: int) -> None:
        groups: dict[str, Counter[Stack]] = {}
        for stack, count in stacks.items():
            if stack:
                groups.setdefault(stack[0], Counter())[stack[1:]] += count
        for name, inner in sorted(groups.items()):
            width = sum(inner.values()) / total
            shade = plt.cm.YlOrRd(0.15 + 0.5 * (hash_of(name) % 97) / 97)
            axes.barh(level, width, left=left, height=0.95, color=shade, edgecolor="white")
            room = int(width * 170)
            if room >= 4:
                text = name if len(name) <= room else name[: room - 1] + "…"
                axes.text(left + width / 2, level, text, ha="center", va="center", fontsize=7)
            draw(inner, left, level + 1)
            left += width

    draw(seen, 0.0, 0)
    axes.set(xlim=(0, 1), ylim=(-0.5, depth - 0.5), yticks=[], xlabel="share of the time")
    figure.savefig(path, dpi=110)


def hash_of(name: str) -> int:
    """The same for a name in every run, which `hash` is not."""
    return sum(map(ord, name))


def _print_table(rows: dict[str, dict[str, float]]) -> None:
    """Print seconds as microseconds, in Markdown."""
    labels = list(next(iter(rows.values())))
    print(f"| | {' | '.join(labels)} |\n|---{'|---' * len(labels)}|")
    for name, row in rows.items():
        print(f"| {name} | {' | '.join(f'{1e6 * seconds:.2f}' for seconds in row.values())} |")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, and draw the picture if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.anatomy", description=__doc__)
    parser.add_argument("--flame", type=Path, help="draw a flame graph of the chain into this file")
    parser.add_argument("--seconds", type=float, default=10.0, help="of sampling for the picture")
    options = parser.parse_args(arguments)

    print("A chain of `z = z * y + y` on four elements, in microseconds per op:\n")
    _print_table({name: {"µs": seconds} for name, seconds in stages().items()})
    print(
        "\nOne op on four elements, in microseconds: NumPy's own call, then the op with a call of "
        "`grad`.\n"
    )
    _print_table({f"`{name}`": row for name, row in per_op().items()})
    if options.flame:
        leaf = ag.tensor(np.linspace(0.1, 0.5, 4), requires_grad=True)

        def job() -> Any:
            z = leaf
            for _ in range(100):
                z = z * leaf + leaf
            return ag.grad(ag.sum(z), leaf)

        flame(sample(job, options.seconds), options.flame)


if __name__ == "__main__":
    main()
