"""Loops and choices while a function is compiled: each becomes one value of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...func.loops import WRITER
from .choosing import cond
from .repeating import while_loop
from .scan_writing import scan


class LoopWriter:
    """Writes down loops and choices; `func.loops` calls it instead of running them."""

    scan = staticmethod(scan)
    while_loop = staticmethod(while_loop)
    cond = staticmethod(cond)


def writing_loops(function: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """A function whose loops are written down."""

    def run(leaves: list[Any]) -> Any:
        token = WRITER.set(LoopWriter())
        try:
            return function(leaves)
        finally:
            WRITER.reset(token)

    return run
