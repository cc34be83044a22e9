"""How far long work has come: a bar if tqdm is installed, else lines on the error stream."""

from __future__ import annotations

import math
import sys
import time
from typing import Any


class Progress:
    """Shows a number that grows, and a text, ten times in a second at most."""

    def __init__(self, name: str, unit: str, total: float | None = None) -> None:
        self._name = name
        self._unit = unit
        self._shown = -math.inf
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        # Without the rate, which says nothing of a time that is integrated over.
        form = None if total is None else "{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}"
        self._bar = tqdm(desc=name, unit=f" {unit}s", total=total, bar_format=form)

    def show(self, count: float, text: str, is_last: bool = False) -> None:
        """Show where the work is, unless this was just shown."""
        if not is_last and time.monotonic() - self._shown < 0.1:
            return
        self._shown = time.monotonic()
        if self._bar is None:
            number = f"{self._unit} {count:5d}" if isinstance(count, int) else self._name
            sys.stderr.write(f"{number}  {text}\n")
        else:
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(count - self._bar.n)

    def close(self, message: str) -> None:
        """Say how the work has ended."""
        if self._bar is not None:
            self._bar.close()
        sys.stderr.write(f"{message}\n")
