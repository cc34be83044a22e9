"""Tables, lines of code, times and sizes, as text for a terminal and as HTML for Jupyter."""

from __future__ import annotations

import html
import linecache
import os
from collections.abc import Sequence
from typing import Any

WIDEST = 60  # characters of the first column


def time_text(seconds: float) -> str:
    """A time with its unit.

    >>> time_text(0.0123)
    '12.3 ms'
    """
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e6:.3g} µs"


def size_text(count: float) -> str:
    """A number of bytes with its unit.

    >>> size_text(320_000)
    '320 kB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.3g} {unit}" if count < 1000 else f"{count:.0f} {unit}"


def line_text(code: Any, place: int) -> str:
    """The file, number and text of the line of an instruction, given its place in a code object."""
    found = (n for a, b, n in code.co_lines() if a <= place < b and n is not None)
    number = next(found, code.co_firstlineno)
    text = linecache.getline(code.co_filename, number).strip()
    return f"{os.path.basename(code.co_filename)}:{number}  {text}".rstrip()


def text_table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal. Columns of numbers are flush right; a long first column is cut."""
    cut = [
        [c if i or len(c) <= WIDEST else c[: WIDEST - 1] + "…" for i, c in enumerate(row)]
        for row in (names, *rows)
    ]
    columns = []
    for column in zip(*cut, strict=True):
        is_number = all(not cell or cell[0].isdigit() for cell in column[1:])
        width = max(map(len, column))
        columns.append([c.rjust(width) if is_number else c.ljust(width) for c in column])
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    return "\n".join([title, lines[0], "-" * len(lines[0]), *lines[1:]])


def html_table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for Jupyter."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><caption>{html.escape(title)}</caption>{line(names, 'th')}{body}</table>"
