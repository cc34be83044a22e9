"""From R's numbers to Python's: dimensions and sizes count from one, and may arrive as floats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ... import ops
from ...arrays.tensor import Tensor
from ..arguments import single_precision_tensor

FLOAT, LONG, COMPLEX = map(np.dtype, (np.float32, np.int64, np.complex64))
_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_OF_NUMBERS = {"b": np.dtype(bool), "i": LONG, "f": FLOAT, "c": COMPLEX}


def whole(value: Any, name: str) -> int:
    """A whole number: R's numbers are floats unless written `1L`."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if value != int(value):
        raise ValueError(f"{name} must be a whole number, not {value}")
    return int(value)


def sizes(given: Iterable[Any]) -> tuple[int, ...]:
    """The lengths of axes, given as `3, 4` or as `c(3, 4)`."""
    flat: list[Any] = []
    for size in given:
        if isinstance(size, Iterable):
            flat.extend(size)
        else:
            flat.append(size)
    return tuple(whole(size, "size") for size in flat)


def axis(dim: Any, ndim: int, name: str = "dim") -> int:
    """The axis, counted from zero, of a dimension that counts from one, or back from -1."""
    found = whole(dim, name)
    if found == 0 or not -ndim <= found <= ndim:
        raise IndexError(
            f"{name} must be from 1 to {ndim} or from -{ndim} to -1 for a tensor with {ndim} "
            f"dimensions, not {found}"
            if ndim
            else f"a tensor without dimensions has no {name} {found}"
        )
    return found - 1 if found > 0 else found + ndim


def axes(dim: Any, ndim: int) -> int | tuple[int, ...] | None:
    """The axes of one dimension, of several, or None for all."""
    if dim is None:
        return None
    if isinstance(dim, Iterable):
        return tuple(axis(d, ndim) for d in dim)
    return axis(dim, ndim)


def dtype_of(dtype: Any) -> Any:
    """The dtype that R names by a string."""
    return np.dtype(dtype) if isinstance(dtype, str) else dtype


def floating(x: Any) -> Any:
    """Whole numbers and logicals as single precision, for functions that have no whole results."""
    return ops.astype(x, FLOAT) if x.dtype.kind in "biu" else x


def promoted(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands as libtorch takes them together.

    A number, or a tensor without dimensions, does not change the precision of a tensor; it can
    only make whole numbers real, or real numbers complex.
    """
    a, b = (_operand(v) for v in (x, y))
    wanted = _together(a, b)
    return tuple(  # type: ignore[return-value]
        ops.astype(v, wanted) if isinstance(v, Tensor) and v.dtype != wanted else v for v in (a, b)
    )


def _operand(value: Any) -> Any:
    if isinstance(value, Tensor | bool | int | float | complex):
        return value
    made = single_precision_tensor(value, None, None, False)
    return ops.astype(made, FLOAT) if made.dtype == np.float64 else made


def _together(a: Any, b: Any) -> np.dtype[Any]:
    """The common dtype: of the operands of the highest kind, those with dimensions decide."""
    described = [
        (v.dtype, 2 if v.ndim else 1)
        if isinstance(v, Tensor)
        else (_OF_NUMBERS[np.asarray(v).dtype.kind], 0)
        for v in (a, b)
    ]
    highest = max(_ORDER[dtype.kind] for dtype, _ in described)
    strongest = max(rank for _, rank in described)
    deciding = [d for d, rank in described if rank == strongest and _ORDER[d.kind] == highest]
    if not deciding:
        deciding = [d for d, _ in described if _ORDER[d.kind] == highest]
    return np.result_type(*deciding)
