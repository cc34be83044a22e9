"""How a tensor prints: as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays.batched import Batched
from ...arrays.dual import Dual
from ...arrays.tensor import Tensor as Native
from ...core.array import Array
from .dtypes import default_for, numpy_of
from .handles import Tensor, wrap


def described(tensor: Tensor, *, tensor_contents: Any = None) -> str:
    """A tensor as text."""
    array = tensor._t
    inner = getattr(array, "_array", None)
    if isinstance(array, Batched):
        return f"BatchedTensor(lvl={int(array.level)}, bdim=0, value={described(wrap(inner))})"
    if isinstance(array, Native) and array.level >= 1:
        return f"GradTrackingTensor(lvl={int(array.level)}, value={described(wrap(inner))})"
    while isinstance(array, Native):
        array = array.array
    if isinstance(array, Dual):
        values = array.primal
        while isinstance(values, Native):
            values = values.array
        inside = [_values(np.asarray(values))] if not isinstance(values, Array) else ["..."]
    elif isinstance(array, Array):
        inside = [f"<{type(array).__name__} array of shape {tuple(array.shape)}>"]
    else:
        inside = [_values(np.asarray(array))]
        if not array.size and array.shape != (0,):
            inside.append(f"size={tuple(array.shape)}")
    own = numpy_of(tensor.dtype)
    usual = own in map(default_for, "bifc")
    if not usual or (not tensor.numel() and own.kind != "f"):
        inside.append(f"dtype={tensor.dtype}")
    if isinstance(array, Dual):
        inside.append(f"tangent={described(wrap(array.tangent))}")
    if not tensor.is_leaf:
        inside.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        inside.append("requires_grad=True")
    text = "tensor(" + inside[0]
    length = len(text) - text.rfind("\n") + 1  # of its last line
    for part in inside[1:]:
        fits = length + len(part) + 2 <= OPTIONS["linewidth"]
        text += f", {part}" if fits else f",\n{' ' * _INDENT}{part}"
        length = (length + 2 if fits else _INDENT) + len(part)
    return text + ")"


_INDENT = len("tensor(")


# What `set_printoptions` sets, by the profiles that it knows.
PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
OPTIONS = {**PROFILES["default"], "sci_mode": None}


def _values(array: Any) -> str:
    """The elements of an array, as text."""
    is_short = array.size > OPTIONS["threshold"]
    shown = _shown(array) if is_short else array
    text: Callable[[Any], str]
    if array.dtype.kind == "c":
        (real, left), (imag, right) = map(_format_of, (shown.real, shown.imag))

        def of_two(value: Any) -> str:
            sign = "" if value.imag < 0 else "+"
            return f"{real(value.real)}{sign}{imag(value.imag).lstrip()}j"

        text, width = of_two, left + right + 1
    else:
        text, width = _format_of(shown)
    return _nested(array, _INDENT, text, width, is_short) if array.size else "[]"


def _nested(array: Any, indent: int, text: Callable[[Any], str], width: int, is_short: bool) -> str:
    """The elements in brackets, `indent` characters from the left; dots for those in between."""
    if array.ndim == 0:
        return text(array.item())
    edge, count = OPTIONS["edgeitems"], len(array)
    leaves_out = is_short and count > 2 * edge
    places = [*range(edge), *range(count - edge, count)] if leaves_out else range(count)
    items = [_nested(array[i], indent + 1, text, width, is_short) for i in places]
    if leaves_out:
        items.insert(edge, " ..." if array.ndim == 1 else "...")
    begin = " " * (indent + 1)
    if array.ndim > 1:
        between = "\n" * (array.ndim - 1)
        return "[" + f",{between}{begin}".join(items) + "]"
    most = max(1, (OPTIONS["linewidth"] - indent) // (width + 2))
    lines = [", ".join(items[i : i + most]) for i in range(0, len(items), most)]
    return "[" + f",\n{begin}".join(lines) + "]"


def _shown(array: Any) -> Any:
    """The elements that are printed: those at the ends of long axes."""
    edge = OPTIONS["edgeitems"]
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            ends = [*range(edge), *range(length - edge, length)]
            array = np.take(array, ends, axis=axis)
    return array


def _format_of(values: Any) -> tuple[Callable[[Any], str], int]:
    """How to print each of some real numbers, all in one form; and how wide the widest one is."""
    if values.dtype.kind in "biu":
        width = max((len(str(v)) for v in values.reshape(-1).tolist()), default=1)
        return lambda value: str(value).rjust(width), width
    digits, scientific = OPTIONS["precision"], OPTIONS["sci_mode"]
    values = np.asarray(values, np.float64)  # short floats cannot be compared with 1e8
    values = values[np.isfinite(values) & (values != 0)]  # the width is theirs
    sizes = np.abs(values)
    whole = bool((values == np.ceil(values)).all())
    if scientific is None and sizes.size:
        low, high = sizes.min(), sizes.max()
        scientific = high > 1e8 or high > 1000 * low or (low < 1e-4 and not whole)

    def text(value: float) -> str:
        if scientific:
            return f"{value:.{digits}e}"
        if not whole:
            return f"{value:.{digits}f}"
        return f"{value:.0f}" + ("." if math.isfinite(value) else "")

    width = max([1, *map(len, map(text, values.tolist()))])
    return lambda value: text(value).rjust(width), width
