"""Rows of a matrix that indices name, and sums, means and maxima of bags of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops
from ....arrays.creation import asarray
from ....core.array import Array, plain
from ..autograd import no_grad
from ..functions.axes import are_known, not_from_the_end
from ..handles import Tensor
from ..publish import ArgumentError, function


@function(method=False)
def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """A one at the place of each class, and zeros."""
    if tensor.dtype.kind not in "iu":
        raise RuntimeError(f"one_hot is for an integer dtype, not {tensor.dtype}")
    if not are_known(tensor):
        if num_classes < 0:
            raise RuntimeError("num_classes must be given under vmap, and to compile a function")
        count = num_classes
    else:
        values = np.asarray(plain(tensor))
        if not values.size and num_classes <= 0:
            raise RuntimeError("num_classes must be given for a tensor without elements")
        count = int(values.max(initial=-1)) + 1 if num_classes < 0 else num_classes
        if values.size and (values.min() < 0 or values.max() >= count):
            raise RuntimeError(f"Class values must be from 0 to num_classes - 1, {count - 1}")
    return ops.astype(ops.equal(ops.expand_dims(tensor, -1), np.arange(count)), np.int64)


def _checked(index: Any, rows: int) -> Any:
    """The index of some rows, if it is one."""
    if index.dtype.kind not in "iu":
        raise RuntimeError(f"input must be indices of an integer dtype, not {index.dtype}")
    if not are_known(index):
        return not_from_the_end(index, rows)
    values = np.asarray(plain(index))
    if values.size and (values.min() < 0 or values.max() >= rows):
        raise IndexError(f"index out of range: the weight has {rows} rows")
    return index


def _rows(weight: Any, index: Any, padding_idx: Any, scale_grad_by_freq: bool) -> Any:
    """The rows; the derivative leaves out a row, or is divided by how often a row is read."""
    flat = ops.reshape(_checked(index, weight.shape[0]), (-1,))
    out = ops.reshape(ops.take(weight, flat, axis=0), (*index.shape, weight.shape[1]))
    constant = out.detach() if isinstance(out, Array) else out
    if scale_grad_by_freq:
        often = ops.sum(ops.astype(ops.equal(ops.expand_dims(flat, 1), flat), out.dtype), axis=1)
        often = ops.reshape(often, (*index.shape, 1))
        out = constant + (out - constant) / often
    if padding_idx is not None:
        out = ops.where(ops.expand_dims(ops.equal(index, padding_idx), -1), constant, out)
    return out


def _padding(padding_idx: int | None, rows: int) -> int | None:
    """The row for padding, counted from the front."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx}")
    return padding_idx % rows


@no_grad()
def _shorten(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale down, in place, the rows that will be read and are longer than a norm."""
    used = input.reshape(-1).unique()
    rows = weight.detach()[used]
    size = rows.norm(norm_type, dim=1, keepdim=True)
    weight[used] = rows * (max_norm / (size + 1e-7)).where(size > max_norm, 1.0)


def _refuse_sparse(sparse: bool) -> None:
    if sparse:
        raise NotImplementedError("sparse=True is not supported: gradients are dense")


_read = function(_rows, name="embedding", method=False)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of a matrix that an index names."""
    _refuse_sparse(sparse)
    if weight.ndim != 2:
        raise RuntimeError(f"weight must be a matrix, not of shape {tuple(weight.shape)}")
    row = _padding(padding_idx, weight.shape[0])
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return _read(weight, input, row, scale_grad_by_freq)


# --- bags ---


def _bags(count: int, offsets: Any, include_last_offset: bool) -> tuple[Any, Any]:
    """The places of the members of each bag as a matrix, and which of them are there."""
    starts = np.asarray(plain(offsets)).reshape(-1)
    if not len(starts) and include_last_offset:
        raise RuntimeError("offsets must not be empty with include_last_offset=True")
    if len(starts) and starts[0]:
        raise ArgumentError(f"offsets[0] has to be 0, but is {starts[0]}")
    ends = starts[1:] if include_last_offset else np.append(starts[1:], count)
    starts = starts[:-1] if include_last_offset else starts
    if (ends < starts).any() or ends.max(initial=0) > count:
        raise RuntimeError(f"offsets must grow, up to {count} at most, but are {starts.tolist()}")
    place = starts[:, None] + np.arange((ends - starts).max(initial=0))
    there = place < ends[:, None]
    return np.where(there, place, 0), there


@function(name="embedding_bag", method=False)
def _bagged(
    weight: Any,
    index: Any,
    offsets: Any,
    mode: str,
    factors: Any,
    include_last_offset: bool,
    padding_idx: Any,
    scale_grad_by_freq: bool,
) -> Any:
    """The sum, mean or maximum of the rows in each bag."""
    rows = _rows(weight, index, padding_idx, scale_grad_by_freq)
    there: Any = ops.not_equal(index, -1 if padding_idx is None else padding_idx)
    if offsets is not None:
        place, inside = _bags(index.shape[0], offsets, include_last_offset)
        if not index.shape[0]:  # all bags are empty
            return asarray(ops.zeros_like(weight, shape=(len(place), weight.shape[1])))
        shape = place.shape
        flat = place.reshape(-1)
        rows = ops.reshape(ops.take(rows, flat, axis=0), (*shape, weight.shape[1]))
        there = ops.reshape(ops.take(there, flat, axis=0), shape) & inside
        if factors is not None:
            factors = ops.reshape(ops.take(factors, flat, axis=0), shape)
    if factors is not None:
        rows = rows * ops.expand_dims(factors, 2)
    mask = ops.expand_dims(there, 2)
    if mode == "max":
        some = ops.any(mask, axis=1)
        low = ops.where(mask, rows, -np.inf) if rows.shape[1] else ops.zeros_like(rows)
        if not rows.shape[1]:
            return ops.sum(low, axis=1)
        first = ops.expand_dims(ops.argmax(low, axis=1), 1)
        found = ops.take_along_axis(rows, first, axis=1)
        return ops.where(some, ops.squeeze(found, axis=1), 0)
    total = ops.sum(ops.where(mask, rows, 0), axis=1)
    if mode == "sum":
        return total
    number = ops.astype(ops.sum(ops.astype(there, np.int64), axis=1), weight.dtype)
    return total / ops.expand_dims(ops.where(number > 0, number, 1), 1)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or maximum of the rows that each bag of indices names."""
    _refuse_sparse(sparse)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, not {mode!r}")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(f"per_sample_weights is for mode='sum', not for {mode!r}")
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError("per_sample_weights must have the shape of input")
    if scale_grad_by_freq and mode == "max":
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if input.ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got {input.ndim} axes")
    if (offsets is None) == (input.ndim == 1):
        raise ValueError("offsets has to be given for an input of one axis, and only for that")
    row = _padding(padding_idx, weight.shape[0])
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return _bagged(
        weight,
        input,
        offsets,
        mode,
        per_sample_weights,
        include_last_offset,
        row,
        scale_grad_by_freq,
    )
