"""How long `import arraygrad` takes, in times of `import numpy`: python -m benchmarks.importing.

New processes take turns; what counts is their processor time. The least of many is what the import
itself takes.
"""

from __future__ import annotations

import os
import subprocess
import sys


def seconds(module: str) -> float:
    """The processor time of a process that imports a module."""
    before = os.times()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def ratio(repeats: int = 30) -> float:
    """The time of importing arraygrad over the time of importing NumPy."""
    times = [[seconds(module) for module in ("arraygrad", "numpy")] for _ in range(repeats)]
    ours, numpy = map(min, zip(*times, strict=True))
    return ours / numpy


if __name__ == "__main__":
    print(f"import arraygrad: {ratio():.2f} of import numpy")
