"""Reductions for MLX. MLX's own hang on empty arrays, so empty arrays are reduced here."""

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx


def _reduction(name: str, of_nothing: Any) -> Any:
    """MLX's reduction `name`, which for arrays without elements returns `of_nothing`."""
    function = getattr(mx, name)

    def reduce(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
        if x.size:
            return function(x, axis=axis, keepdims=keepdims)
        axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        reduced = {a % x.ndim for a in axes}
        shape = [1 if i in reduced else n for i, n in enumerate(x.shape)]
        if not keepdims:
            shape = [n for i, n in enumerate(shape) if i not in reduced]
        return mx.full(shape, of_nothing, function(mx.ones((1,), x.dtype)).dtype)

    return reduce


sum, prod, mean = _reduction("sum", 0), _reduction("prod", 1), _reduction("mean", math.nan)
all, any = _reduction("all", True), _reduction("any", False)
# If there are no elements to compare, the result has no elements either: the value is not used.
max, min = _reduction("max", 0), _reduction("min", 0)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Any:
    """How many elements are not zero."""
    return sum((x != 0).astype(mx.int64), axis=axis, keepdims=keepdims)
