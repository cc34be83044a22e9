"""Run the workloads and print a table of ratios."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

from .workloads import WORKLOADS


def measure(jobs: dict[str, Callable[[], Any]], seconds: float) -> dict[str, list[float]]:
    """The time of each job, run in turns until `seconds` have passed."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or min(map(len, times.values())) < 3:
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return times


def import_times(repeats: int) -> dict[str, list[float]]:
    """The time to import NumPy alone, and arraygrad (with NumPy), each in a new process."""
    times: dict[str, list[float]] = {"arraygrad": [], "numpy": []}
    # An installed package has its bytecode; the first round writes it where it is missing.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(repeats + 1):
        for module, seen in times.items():
            code = f"import time; t = time.perf_counter(); import {module}; "
            code += "print(time.perf_counter() - t)"
            command = [sys.executable, "-c", code]
            run = subprocess.run(command, capture_output=True, check=True, env=environment)
            if turn:
                seen.append(float(run.stdout))
    return times


def memory_row(name: str, jobs: dict[str, Callable[[], Any]]) -> str:
    """One line of the table: the ratio of peak memory."""
    peaks = []
    for job in jobs.values():
        tracemalloc.start()
        job()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return f"{name + ', peak memory':34} {peaks[0] / peaks[1]:6.2f} of {list(jobs)[1]}"


def row(name: str, times: dict[str, list[float]]) -> str:
    """One line of the table: the ratio of medians, with the spread between quartiles."""
    (_, ours), *others = times.items()
    if not others:
        return f"{name:34} {statistics.median(ours) * 1e3:9.3f} ms   (no peer installed)"
    lines = []
    for peer, theirs in others:
        paired = sorted(a / b for a, b in zip(ours, theirs, strict=False))
        low, high = paired[len(paired) // 4], paired[3 * len(paired) // 4]
        ratio = statistics.median(ours) / statistics.median(theirs)
        lines.append(f"{name:34} {ratio:6.2f} of {peer:16} ({low:.2f} to {high:.2f})")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="per workload")
    options = parser.parse_args(arguments)
    print("time of arraygrad as a fraction of each peer's, in this run\n")
    for name, make in WORKLOADS.items():
        print(row(name, measure(make(), options.seconds)), flush=True)
    print(row("import", import_times(9)))
    print(memory_row("checkpointing", WORKLOADS["checkpointing"]()))


if __name__ == "__main__":
    main()
