"""Run a script that was written for PyTorch: ``python -m arraygrad.compat.torch script.py …``."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from .installing import install


def main() -> None:
    """Run the script whose name is the first argument; the others are its arguments."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m arraygrad.compat.torch script.py [argument ...]")
    del sys.argv[0]
    install()
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)  # as Python does for a script
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
