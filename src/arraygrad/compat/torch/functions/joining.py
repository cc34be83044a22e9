"""Tensors split into parts, and joined."""

from __future__ import annotations

import builtins
import functools
import itertools
from typing import Any

from .... import ops
from ....arrays.creation import asarray
from ....core.array import Array
from ....nn.common import OptionError
from ..dtypes import promote
from ..publish import function
from .axes import check_axes, checked

# The names of `torch` that are made here.
__all__ = [
    "block_diag", "cat", "chunk", "column_stack", "concat", "concatenate", "dsplit", "dstack",
    "hsplit", "hstack", "meshgrid", "row_stack", "split", "split_with_sizes", "stack",
    "tensor_split", "unbind", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "vsplit",
    "vstack",
]  # fmt: skip


@function(parts=True)
def unbind(input: Any, dim: int = 0) -> Any:
    """All slices along an axis."""
    axis = checked(dim, input.ndim)
    if input.ndim == 1:  # PyTorch's items are views
        return tuple(ops.getitem(input, (i, ...)) for i in range(input.shape[0]))
    return tuple(ops.unstack(input, axis=axis))


@function(parts=True)
def split(
    input: Any, split_size: Any = None, dim: int = 0, *, split_size_or_sections: Any = None
) -> Any:
    """Pieces of a length, or of several lengths, along an axis."""
    split_size = split_size if split_size_or_sections is None else split_size_or_sections
    axis = checked(dim, input.ndim)
    length = input.shape[axis]
    if isinstance(split_size, int):
        if split_size < 0 or (split_size == 0 and length):
            raise RuntimeError(f"split(): the length of pieces must be positive, not {split_size}")
        count = builtins.max(1, -(-length // split_size)) if length else 1
        split_size = [builtins.min(split_size, length - i * split_size) for i in range(count)]
    elif builtins.sum(split_size) != length:
        raise RuntimeError(f"split(): {list(split_size)} does not sum up to {length}")
    ends = list(itertools.accumulate(split_size))
    lead = (slice(None),) * axis
    return tuple(
        input[(*lead, slice(end - size, end))] for size, end in zip(split_size, ends, strict=True)
    )


unsafe_split = function(split.__wrapped__, name="unsafe_split")


@function(parts=True)
def split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> Any:
    """Pieces of given lengths along an axis."""
    return split.__wrapped__(input, list(split_sizes), dim)


unsafe_split_with_sizes = function(split_with_sizes.__wrapped__, name="unsafe_split_with_sizes")


@function
def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    """Pieces between given places, or that many pieces, along an axis."""
    if isinstance(indices_or_sections, Array):
        indices_or_sections = asarray(indices_or_sections).tolist()
    return tuple(ops.array_split(input, indices_or_sections, axis=dim))


@function(parts=True)
def chunk(input: Any, chunks: int, dim: int = 0) -> Any:
    """At most that many pieces along an axis."""
    axis = checked(dim, input.ndim)
    if chunks < 1:
        raise RuntimeError(f"chunk() makes at least one piece, not {chunks}")
    return split.__wrapped__(input, builtins.max(1, -(-input.shape[axis] // chunks)), axis)


unsafe_chunk = function(chunk.__wrapped__, name="unsafe_chunk")


def _split(name: str, least: int, axis: int) -> Any:
    def made(input: Any, indices_or_sections: Any) -> Any:
        check_axes(f"torch.{name}", input, least)
        return tuple(ops.split(input, indices_or_sections, axis=builtins.min(axis, input.ndim - 1)))

    return function(made, name=name, doc=f"Pieces along the axis {axis}.")


hsplit, vsplit, dsplit = _split("hsplit", 1, 1), _split("vsplit", 2, 0), _split("dsplit", 3, 2)


def _one_dtype(tensors: Any) -> list[Any]:
    """Tensors of the dtype that all fit into."""
    if isinstance(tensors, Array):
        raise TypeError("expected a sequence of tensors, not one Tensor")
    if not len(tensors):
        raise RuntimeError("expected a non-empty list of Tensors")
    for part in tensors:
        if not isinstance(part, Array):
            raise TypeError(f"expected tensors, not {type(part).__name__}")
    dtypes = [part.dtype for part in tensors]
    wanted = functools.reduce(promote, dtypes)
    return [
        p if own == wanted else ops.astype(p, wanted)
        for p, own in zip(tensors, dtypes, strict=True)
    ]


@function(method=False)
def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors one after the other along an axis."""
    if isinstance(tensors, list | tuple) and not tensors:
        raise OptionError("expected a non-empty list of Tensors")
    parts = _one_dtype(tensors)
    counts = {p.ndim for p in parts}
    if 0 in counts:
        raise RuntimeError("cat(): a zero-dimensional tensor cannot be concatenated: use stack()")
    if counts != {1}:  # as in PyTorch, empty vectors fit everything
        parts = [p for p in parts if p.shape != (0,)] or parts[:1]
    return ops.concat(parts, axis=dim)


concat = concatenate = cat
stack = function(
    lambda tensors, dim=0: ops.stack(_one_dtype(tensors), axis=dim), name="stack", method=False
)
hstack = function(lambda tensors: ops.hstack(_one_dtype(tensors)), name="hstack", method=False)
vstack = function(lambda tensors: ops.vstack(_one_dtype(tensors)), name="vstack", method=False)
dstack = function(lambda tensors: ops.dstack(_one_dtype(tensors)), name="dstack", method=False)
column_stack = function(
    lambda tensors: ops.column_stack(_one_dtype(tensors)), name="column_stack", method=False
)
row_stack = vstack


@function(method=False)
def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """Coordinates of a grid."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    return tuple(ops.meshgrid(*given, indexing=indexing))


@function(method=False)
def block_diag(*tensors: Any) -> Any:
    """Matrices along the diagonal of a larger one."""
    parts = [ops.atleast_2d(p) for p in tensors]
    rows = []
    width = builtins.sum(p.shape[1] for p in parts)
    before = 0
    for part in parts:
        after = width - before - part.shape[1]
        rows.append(ops.pad(part, ((0, 0), (before, after))))
        before += part.shape[1]
    return ops.concat(rows, axis=0)
