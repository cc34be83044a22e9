"""Shapes and dtypes of what a function returns, without its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import upward


class ShapeDtype:
    """What is known of an array without its values."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = tuple(shape), dtype

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, ShapeDtype)
        return same and (self.shape, self.dtype) == (other.shape, other.dtype)  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ShapeDtype({self.shape}, {self.dtype})"


def eval_shape(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of what a function returns, as a structure of `ShapeDtype`.

    The function is traced, as by `compile`: nothing is computed, and no memory is taken.

    Parameters
    ----------
    function : callable
        A function that can be compiled.
    *args, **kwargs : any structures
        Its arguments. An array may be anything that has a shape and a NumPy dtype.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> row = ag.func.eval_shape(lambda x: ag.sum(x, axis=0), np.ones((2, 3)))
    >>> row
    ShapeDtype((3,), float64)
    >>> ag.func.eval_shape(lambda x: {"square": ag.linalg.outer(x, x)}, row)
    {'square': ShapeDtype((3, 3), float64)}
    """
    return upward.shapes_of(function, args, kwargs)
