"""Complex numbers as pairs of real numbers, and back: views of the same memory.

`as_pairs` and `from_pairs` are transposes of each other. On arrays that hold no floating-point
numbers (masks of live elements, or numbers of places), a pair stands for its complex number: both
of its elements are where the number is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.kinds import Moves
from .define.library import declare


def _as_pairs(xp: Any, x: Any) -> Any:
    pairs = _of_numpy(x)[..., None]
    if x.dtype.kind == "c":
        return pairs.view(pairs.real.dtype)
    return np.broadcast_to(pairs, (*x.shape, 2))


def _from_pairs(xp: Any, x: Any) -> Any:
    x = _of_numpy(x)
    if x.dtype.kind != "f":
        return x[..., 0] | x[..., 1] if x.dtype.kind == "b" else x[..., 0]
    if x.strides[-1] != x.itemsize:
        x = np.ascontiguousarray(x)
    return x.view(np.result_type(x.dtype, np.complex64))[..., 0]


def _of_numpy(x: Any) -> Any:
    if not isinstance(x, np.ndarray | np.generic):
        raise NotImplementedError(
            f"views of complex numbers as pairs are for NumPy arrays, not for {type(x).__name__}"
        )
    return x


as_pairs = declare(
    "as_pairs",
    "x",
    compute=_as_pairs,
    vjp_x=lambda g: from_pairs(g),
    kind=Moves(shares=True),
    holomorphic=False,
)
from_pairs = declare(
    "from_pairs",
    "x",
    compute=_from_pairs,
    vjp_x=lambda g: as_pairs(g),
    kind=Moves(shares=True, adds=True),
    holomorphic=False,
)
