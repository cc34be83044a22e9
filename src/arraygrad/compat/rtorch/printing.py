"""Tensors in print, as torch for R prints them: the values, then the type and the shape.

>>> from arraygrad.compat.rtorch import printed, torch_tensor
>>> print(printed(torch_tensor([[1.5, -20.0], [0.25, 3.0]])))
torch_tensor
  1.5000 -20.0000
  0.2500   3.0000
[ CPUFloatType{2,2} ]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays.tensor import Tensor
from ...autograd import no_grad
from ...interop.torch_files import TYPE_NAMES

_WIDTH = 80


def printed(tensor: Tensor | None, n: int = 30) -> str:
    """The text of a tensor. Of more than `n` lines of values only `n` are given, unless -1."""
    if tensor is None:
        return "torch_tensor\n[ Tensor (undefined) ]"
    with no_grad():
        values = np.asarray(tensor.detach().numpy())
    lines = _lines(values, n + 1 if n >= 0 else None)
    if 0 <= n < len(lines):
        lines[n:] = ["... [the output was truncated (use n=-1 to disable)]"]
    shape = ",".join(map(str, values.shape))
    end = f"[ CPU{TYPE_NAMES[values.dtype.name]}Type{{{shape}}} ]"
    if tensor.grad_fn is not None:
        end += f"[ grad_fn = <{tensor.grad_fn.name()}> ]"
    elif tensor.requires_grad:
        end += "[ requires_grad = TRUE ]"
    return "\n".join(["torch_tensor", *lines, end])


def type_name(dtype: Any) -> str:
    """Libtorch's name of a dtype, as in `torch_Float`."""
    return TYPE_NAMES[np.dtype(dtype).name]


def _lines(values: Any, limit: int | None) -> list[str]:
    """The lines of the values; no more than `limit` of them have to be there."""
    if values.size == 0:
        return []
    if values.ndim == 0:
        return [_number(values[()])]
    if values.ndim == 1:
        scale, text = _format(values)
        return _scale(scale) + [text(v) for v in values[:limit]]
    if values.ndim == 2:
        return _matrix(values, "", limit)
    lines: list[str] = []
    # The first index runs fastest.
    for reverse in np.ndindex(*values.shape[-3::-1]):
        if limit is not None and len(lines) >= limit:
            break
        index = reverse[::-1]
        lines += [""] if lines else []
        lines += [f"({','.join(str(i + 1) for i in index)},.,.) = "]
        lines += _matrix(values[index], " ", limit)
    return lines


def _matrix(values: Any, indent: str, limit: int | None) -> list[str]:
    """The rows of a matrix, in several blocks of columns if they are too wide for a line."""
    scale, text = _format(values)
    across = max(1, (_WIDTH - len(indent)) // (len(text(values[0, 0])) + 1))
    columns = values.shape[1]
    lines: list[str] = []
    for first in range(0, columns, across):
        last = min(first + across, columns)
        if across < columns:
            lines += [""] if first else []
            lines += [f"{indent}Columns {first + 1} to {last}"]
        lines += [indent + line for line in _scale(scale)]
        lines += [indent + " ".join(map(text, row[first:last])) for row in values[:limit]]
        if limit is not None and len(lines) >= limit:
            break
    return lines


def _scale(scale: float) -> list[str]:
    return [] if scale == 1 else [f"{scale:g} *"]


def _format(values: Any) -> tuple[float, Callable[[Any], str]]:
    """A common factor of the numbers, and a function that prints a number in a common width."""
    if values.dtype.kind == "c":
        texts = [_number(v) for v in values.ravel()]
        width = max(map(len, texts)) + 1
        return 1.0, lambda v: _number(v).rjust(width)
    sizes = np.abs(values[np.isfinite(values)].astype(np.float64))
    whole = bool(np.all(sizes == np.ceil(sizes)))
    least, most = (_digits(f(sizes)) if sizes.size else 1 for f in (np.min, np.max))
    if whole and (most <= 9 or values.dtype.kind != "f"):
        return 1.0, lambda v: _number(v).rjust(most + 1)
    if whole or most - least > 4:
        width = 12 if max(abs(most), abs(least)) > 99 else 11
        return 1.0, lambda v: f"{v:.4e}".rjust(width)
    if most > 5 or most < 0:
        scale = 10.0 ** (most - 1)
        return scale, lambda v: f"{v / scale:.4f}".rjust(7)
    width = most + 6 if most else 7
    return 1.0, lambda v: f"{v:.4f}".rjust(width)


def _digits(size: float) -> int:
    """How many digits a number has before its point; negative for zeros after it."""
    return int(np.floor(np.log10(size))) + 1 if size else 1


def _number(value: Any) -> str:
    """One number by itself, in as few digits as it needs, up to six."""
    if isinstance(value, complex | np.complexfloating):
        return f"{value.real:g}{value.imag:+g}i"
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(int(value))
    return f"{value:.0f}" if value == np.floor(value) and abs(value) < 1e9 else f"{value:g}"
