"""The time of this arraygrad as a fraction of another checkout's, workload by workload.

    python -m benchmarks.versus path/to/other/checkout

Each has a process of its own. They run one workload in turns, so that both see the same machine.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def jobs() -> dict[str, Callable[[], Callable[[], Any]]]:
    """For each workload, a function that prepares it for arraygrad alone."""
    from .losses import LOSSES
    from .systems import Arraygrad
    from .transforms import TRANSFORMS
    from .writing import WRITING

    found: dict[str, Callable[[], Callable[[], Any]]] = {}
    for name, loss in LOSSES.items():
        found[name] = lambda loss=loss: next(iter(loss().jobs([Arraygrad()]).values()))  # type: ignore[misc]
    for name, made in (TRANSFORMS | WRITING).items():
        found[name] = lambda made=made: next(iter(made().values()))  # type: ignore[misc]
    return found


def serve() -> None:
    """Run what is asked for on standard input, and print the seconds that it took."""
    known, ready = jobs(), {}
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name not in ready:
            ready.clear()
            ready[name] = known[name]()
            for _ in range(3):
                ready[name]()
        start = time.perf_counter()
        ready[name]()
        print(time.perf_counter() - start, flush=True)


class Checkout:
    """A process that runs the workloads with the arraygrad of a checkout."""

    def __init__(self, path: Path) -> None:
        environment = os.environ | {"PYTHONPATH": f"{path / 'src'}{os.pathsep}{ROOT}"}
        command = [sys.executable, "-m", "benchmarks.versus", "--serve"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(self, name: str) -> float:
        """The seconds that one run of a workload takes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versus", description=__doc__)
    parser.add_argument("other", nargs="?", type=Path, help="the other checkout")
    parser.add_argument("only", nargs="*", help="workloads whose name holds one of these")
    parser.add_argument("--seconds", type=float, default=4.0, help="per workload")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve()
        return
    if options.other is None or not (options.other / "src" / "arraygrad").is_dir():
        parser.error("say where the other checkout is: a folder with src/arraygrad in it")
    ours, theirs = Checkout(ROOT), Checkout(options.other.resolve())
    logs = []
    for name in jobs():
        if options.only and not any(o in name for o in options.only):
            continue
        times: list[tuple[float, float]] = []
        ours.run(name), theirs.run(name)
        end = time.perf_counter() + options.seconds
        while time.perf_counter() < end or len(times) < 7:
            times.append((ours.run(name), theirs.run(name)))
        ratio = statistics.median(a / b for a, b in times)
        best = min(a for a, _ in times) / min(b for _, b in times)
        logs.append(math.log(ratio))
        print(f"{name:40} {ratio:6.3f} (of the best times {best:.3f})", flush=True)
    if logs:
        print(f"{'geometric mean':40} {math.exp(sum(logs) / len(logs)):6.3f}")


if __name__ == "__main__":
    main()
