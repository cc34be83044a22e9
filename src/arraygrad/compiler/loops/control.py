"""Loops and choices while a function is compiled: each becomes one value of the program."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ...func.loops import WRITER
from .choosing import cond
from .repeating import while_loop
from .scan_writing import scan

# Writes down loops and choices; `func.loops` calls it instead of running them.
_WRITTEN = SimpleNamespace(scan=scan, while_loop=while_loop, cond=cond)


def writing_loops(function: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """A function whose loops are written down."""

    def run(leaves: list[Any]) -> Any:
        token = WRITER.set(_WRITTEN)
        try:
            return function(leaves)
        finally:
            WRITER.reset(token)

    return run
