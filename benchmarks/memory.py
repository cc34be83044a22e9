"""Peak memory of a workload's gradient, each system in a process of its own.

What counts is what the system as a whole takes from the operating system while the job runs, beyond
what it had before: Python's objects, arrays, and what its libraries hold back. These are loaded by
then, as the same job has been done at the smallest size. The workloads are larger than those that
are timed, so that reserves do not decide.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .losses import Workload, attention, chain, net
from .systems import Arraygrad, System, Torch

MEMORY: dict[str, tuple[Callable[[int], Workload], int]] = {
    "peak memory: net, batch 8192": (net, 8192),
    "peak memory: attention, 64 × 4 heads": (attention, 64),
    "peak memory: chain of 50,000": (chain, 50_000),
}
_COMPARED = (Arraygrad, Torch)


def peaks(name: str, repeats: int = 3) -> dict[str, list[float]]:
    """The peak of each system, in bytes, several times."""
    found: dict[str, list[float]] = {}
    systems = [system.name for system in _COMPARED if system.installed()]
    for _ in range(repeats):
        for system in systems:
            command = [sys.executable, "-m", "benchmarks.memory", name, system]
            run = subprocess.run(command, capture_output=True, check=True)
            found.setdefault(system, []).append(float(run.stdout))
    return found


def _status(field: str) -> int:
    """A figure of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the operating system does not tell {field}")


def _peak(workload: Callable[[int], Workload], size: int, system: System) -> int:
    workload(1).jobs([system])[system.name]()  # loads what it needs
    job = workload(size).jobs([system])[system.name]
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of what came before
    before = _status("VmRSS")
    job()
    return _status("VmHWM") - before


if __name__ == "__main__":
    name, wanted = sys.argv[1:]
    (chosen,) = [system for system in _COMPARED if system.name == wanted]
    print(_peak(*MEMORY[name], chosen()))
