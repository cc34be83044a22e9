"""Run the workloads and print a table of ratios; see --help."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from arraygrad.__main__ import versions

from .losses import LOSSES
from .memory import MEMORY, peaks
from .systems import installed
from .transforms import TRANSFORMS, checkpointing
from .writing import WRITING

Jobs = dict[str, Callable[[], Any]]
Table = dict[str, dict[str, list[float]]]  # of each workload and peer: low, median, high


def measure(jobs: Jobs, seconds: float) -> dict[str, list[float]]:
    """The time of each job, run in turns until `seconds` have passed."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or min(map(len, times.values())) < 7:
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return times


def import_times(repeats: int) -> dict[str, list[float]]:
    """The time to import arraygrad (with NumPy), and NumPy alone, each in a new process."""
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


def traced_peaks(jobs: Jobs) -> dict[str, list[float]]:
    """The peak memory of jobs of arraygrad alone, as Python traces it."""
    found = {}
    for name, job in jobs.items():
        tracemalloc.start()
        job()
        found[name] = [float(tracemalloc.get_traced_memory()[1])]
        tracemalloc.stop()
    return found


def ratios(seen: dict[str, list[float]]) -> dict[str, list[float]]:
    """Of each peer: the ratio of medians, between the quartiles of the ratios of single turns."""
    (_, ours), *others = seen.items()
    table = {}
    for peer, theirs in others:
        paired = sorted(a / b for a, b in zip(ours, theirs, strict=False))
        low, high = paired[len(paired) // 4], paired[3 * len(paired) // 4]
        table[peer] = [low, statistics.median(ours) / statistics.median(theirs), high]
    return table


def lines(name: str, row: dict[str, list[float]], old: dict[str, list[float]]) -> str:
    """A workload's lines of the table."""
    if not row:
        return f"{name:34} (no peer is installed)"
    texts = []
    for peer, (low, ratio, high) in row.items():
        before = f"   was {old[peer][1]:.2f}" if peer in old else ""
        texts.append(f"{name:34} {ratio:6.2f} of {peer:16} ({low:.2f} to {high:.2f}){before}")
    return "\n".join(texts)


def geometric_means(table: Table) -> dict[str, float]:
    """The mean ratio of times to each of the systems, over all workloads."""
    found: dict[str, list[float]] = {}
    for name, row in table.items():
        if "memory" in name:
            continue
        for peer, (_, ratio, _) in row.items():
            found.setdefault(peer, []).append(math.log(ratio))
    return {peer: math.exp(sum(r) / len(r)) for peer, r in found.items() if len(r) > 3}


def markdown(table: Table) -> str:
    """The table as it stands in the docs: a row for each workload, a column for each system."""
    peers = [peer for row in table.values() for peer in row]
    systems = [peer for peer in dict.fromkeys(peers) if peers.count(peer) > 5]
    text = ["| | " + " | ".join([*systems, "others"]) + " |", "|---|" + "---|" * (len(systems) + 1)]
    for name, row in table.items():
        cells = {p: f"{ratio:.2f} ({low:.2f}–{high:.2f})" for p, (low, ratio, high) in row.items()}
        others = ", ".join(f"{cells[p]} of {p}" for p in row if p not in systems)
        text.append(
            f"| {name} | " + " | ".join([*(cells.get(p, "") for p in systems), others]) + " |"
        )
    means = geometric_means(table)
    means_of = [f"{means[p]:.2f}" if p in means else "" for p in systems]
    text.append("| geometric mean of times | " + " | ".join(means_of) + " | |")
    return "\n".join([*text, "", f"On {machine()}."]) + "\n"


def machine() -> str:
    """The processor, its cores and the versions that the times belong to."""
    with contextlib.suppress(OSError):
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        if found:
            return f"{found[1]} with {os.cpu_count()} cores: {versions()}"
    return f"{platform.machine()} with {os.cpu_count()} cores: {versions()}"


def plot(table: Table, path: Path) -> None:
    """Bars of the ratios to torch, on a logarithmic scale."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    rows = {name: row["torch"][1] for name, row in table.items() if "torch" in row}
    figure, axes = plt.subplots(figsize=(8, 0.35 * len(rows) + 1.2), layout="constrained")
    colours = ["tab:green" if r <= 1 else "tab:orange" for r in rows.values()]
    axes.barh(list(rows), list(rows.values()), color=colours)
    axes.set(xscale="log", xlabel="time of arraygrad / time of torch (less is better)")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    figure.savefig(path, dpi=120)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("only", nargs="*", help="workloads whose name holds one of these")
    parser.add_argument("--seconds", type=float, default=4.0, help="per workload")
    parser.add_argument("--json", type=Path, help="write the ratios to this file")
    parser.add_argument("--markdown", type=Path, help="write them as a table for the docs")
    parser.add_argument("--plot", type=Path, help="draw the ratios to torch into this file")
    parser.add_argument("--compare", type=Path, help="show what they were in this JSON file")
    options = parser.parse_args(arguments)
    old: Table = json.loads(options.compare.read_text()) if options.compare else {}

    systems, missing = installed()
    steps: dict[str, Callable[[], dict[str, list[float]]]] = {}
    for name, loss in LOSSES.items():
        # Compiling a long chain takes jax longer than all the rest together.
        chosen = [s for s in systems if s.name != "jax.jit" or "50,000" not in name]
        steps[name] = lambda loss=loss, chosen=chosen: measure(  # type: ignore[misc]
            loss().jobs(chosen), options.seconds
        )
    for name, jobs in (TRANSFORMS | WRITING).items():
        steps[name] = lambda jobs=jobs: measure(jobs(), options.seconds)  # type: ignore[misc]
    steps["import"] = lambda: import_times(25)
    for length in (64, 256, 1024):  # that of one is as the square root of the other's
        steps[f"peak memory: {length} checkpointed"] = lambda length=length: traced_peaks(  # type: ignore[misc]
            checkpointing(length, 64)
        )
    if Path("/proc/self/clear_refs").exists():  # where the peak can be measured
        for name in MEMORY:
            steps[name] = lambda name=name: peaks(name)  # type: ignore[misc]
    if options.only:
        steps = {n: s for n, s in steps.items() if any(o in n for o in options.only)}

    print("time of arraygrad as a fraction of each peer's, in this run")
    print(f"not installed, and left out: {', '.join(missing)}\n" if missing else "")
    table: Table = {}
    for turn, (name, step) in enumerate(steps.items()):
        if sys.stderr.isatty():
            print(f"\r[{turn + 1}/{len(steps)}] {name:40}\r", end="", file=sys.stderr, flush=True)
        table[name] = ratios(step())
        print(lines(name, table[name], old.get(name, {})), flush=True)
    for peer, mean in geometric_means(table).items():
        print(f"{'geometric mean':34} {mean:6.2f} of {peer}")
    if options.json:
        options.json.write_text(json.dumps(table, indent=1))
    if options.markdown:
        options.markdown.write_text(markdown(table))
    if options.plot:
        plot(table, options.plot)


if __name__ == "__main__":
    main()
