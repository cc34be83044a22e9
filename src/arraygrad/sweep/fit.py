"""Give a rule's result the shape and dtype of the input that it is the cotangent of."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import Any

from .. import ops
from ..core.nodes import Node
from ..errors import RuleError
from ..ops.reductions import _sum
from ..ops.shape import _reshape


def fit(part: Any, edge: Node, node: Node) -> Any:
    """A rule's result, summed over broadcast axes and cast to the dtype of the input."""
    if getattr(part, "shape", None) is None:
        raise RuleError(f"{node.name()} gave {type(part).__name__} where an array was expected")
    if part.shape != edge.shape:
        axes = broadcast_axes(tuple(part.shape), tuple(edge.shape))
        if axes is None:
            raise RuleError(
                f"{node.name()} gave a gradient of shape {tuple(part.shape)} for an input of "
                f"shape {tuple(edge.shape)}"
            )
        if axes:
            part = _sum(part, axis=axes, keepdims=False)
        if part.ndim != len(edge.shape):
            part = _reshape(part, shape=edge.shape)
    if part.dtype != edge.dtype:
        if is_complex(part.dtype) and not is_complex(edge.dtype):
            part = ops.real(part)
        part = ops.astype(part, edge.dtype, copy=False)
    return part


@functools.lru_cache(1024)
def broadcast_axes(shape: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """The axes along which `wanted` was broadcast to `shape`; None if it cannot have been."""
    extra = len(shape) - len(wanted)
    if extra < 0:
        return None
    # NaN stands for a length that is not yet computed, and fits any other.
    pairs = zip(shape[extra:], wanted, strict=True)
    if any(w not in (n, 1) and n == n and w == w for n, w in pairs):
        return None
    narrow = (i + extra for i, w in enumerate(wanted) if w == 1 and shape[i + extra] != 1)
    return (*range(extra), *narrow)


# One table for each type of dtype: dtypes of different libraries cannot always be compared.
_complex_dtypes: defaultdict[type, dict[Any, bool]] = defaultdict(dict)


def is_complex(dtype: Any) -> bool:
    """Whether a dtype, of any library, is complex."""
    known = _complex_dtypes[type(dtype)]
    found = known.get(dtype)
    if found is None:
        found = known[dtype] = "complex" in str(dtype)  # all libraries use this name
    return found
