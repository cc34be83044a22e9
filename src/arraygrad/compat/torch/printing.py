"""How a tensor prints: as in PyTorch."""

from __future__ import annotations

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
    return f"tensor({', '.join(inside)})"


# What `set_printoptions` sets.
OPTIONS: dict[str, Any] = {
    "precision": 4,
    "threshold": 1000,
    "edgeitems": 3,
    "linewidth": 80,
    "sci_mode": None,
}


def _values(array: Any) -> str:
    chosen = {name: OPTIONS[name] for name in ("threshold", "edgeitems")}
    options: dict[str, Any] = {"separator": ", ", "prefix": "tensor(", **chosen}
    options["max_line_width"], digits = OPTIONS["linewidth"], OPTIONS["precision"]
    if array.dtype.kind == "b":
        width = 4 if array.all() else 5
        options["formatter"] = {"bool": lambda v: f"{v!s:>{width}}"}
    if array.dtype.kind in "fc" and array.size:
        finite = array[np.isfinite(array)]
        finite = np.abs(np.concatenate([finite.real, finite.imag]))
        whole = bool((finite == np.round(finite)).all())
        nonzero = finite[finite > 0]
        large = nonzero.size and (nonzero.max() >= 1e8 or nonzero.max() / nonzero.min() >= 1000)
        usual = nonzero.size and ((large and not whole) or nonzero.min() < 1e-4)
        if usual if OPTIONS["sci_mode"] is None else OPTIONS["sci_mode"]:
            options["formatter"] = {"float_kind": lambda v: f"{v:.{digits}e}"}
        elif whole:
            options["floatmode"] = "maxprec"
        else:
            options.update(precision=digits, floatmode="fixed", suppress_small=True)
    return np.array2string(array, **options)
