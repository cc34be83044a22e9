"""Tables, lines of code, times and sizes, as text for a terminal and as HTML for Jupyter."""

from __future__ import annotations

import html
import linecache
import os
from collections.abc import Sequence
from typing import Any

from numpy import isfinite, ndarray

from ..backends import backend_of
from ..core.array import plain

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


def tensor_html(tensor: Any) -> str:
    """A tensor for Jupyter: its values, its shape and size, and how large its gradient is.

    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> print(tensor_html(x))
    <pre>tensor([1., 2.], requires_grad=True)</pre>
    <small>(2,) float64, 16 bytes; gradient 2 … 4</small>
    """
    about = f"{tuple(tensor.shape)} {tensor.dtype}, {size_text(tensor.nbytes)}"
    gradient = tensor.grad if tensor.is_leaf else None
    if gradient is not None and type(gradient.array) is ndarray:  # nothing is computed to show it
        about += f"; gradient {range_text(gradient)}"
    return f"<pre>{html.escape(repr(tensor))}</pre>\n<small>{html.escape(about)}</small>"


def result_html(result: Any) -> str:
    """What a solver of SciPy returned, for Jupyter: its entries; of a trajectory, a picture, too.

    >>> result_html({"success": True, "x": [1.0]})
    '<table><caption>dict</caption><tr>...<tr><td>x</td><td>[1.0]</td></tr></table>'
    """
    rows = [(str(name), _short(value)) for name, value in result.items() if value is not None]
    table = html_table(type(result).__name__, ("entry", "value"), rows)
    return _picture(result["t"], result["y"]) + table if {"t", "y"} <= {*result} else table


def _short(value: Any) -> str:
    """A value in a line: of a large array, its type and range."""
    if not hasattr(value, "dtype") or value.size <= 8:
        return " ".join(repr(value).split())
    return f"{tuple(value.shape)} {value.dtype}: {range_text(value)}"


def _picture(t: Any, y: Any, width: int = 400, height: int = 200) -> str:
    """The first twenty states over time, as a picture without axes; "" if there are no numbers."""
    t, y = (backend_of(plain(x)).to_numpy(plain(x)) for x in (t, y))
    if y.ndim != 2 or y.dtype.kind != "f" or y.size < 2 or not isfinite(y).all():
        return ""
    x = (t - t.min()) / (float(t.max() - t.min()) or 1.0) * width
    y = (y.max() - y[:20]) / (float(y.max() - y.min()) or 1.0) * height
    lines = "".join(
        f'<polyline fill="none" stroke="hsl({137 * i % 360} 70% 45%)" points="'
        + " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, row, strict=True))
        + '"/>'
        for i, row in enumerate(y)
    )
    return f'<svg width="{width}" height="{height}">{lines}</svg>'


def range_text(array: Any) -> str:
    """The value of a number, or the smallest and the largest value of an array; "" if not real."""
    values = backend_of(plain(array)).to_numpy(plain(array))
    if values.size == 0 or values.dtype.kind not in "biuf":
        return ""
    low, high = values.min(), values.max()
    return f"{low:.4g}" if low == high else f"{low:.4g} … {high:.4g}"
