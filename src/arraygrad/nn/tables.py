"""Rows of a matrix that indices name, and sums, means and maxima of bags of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..arrays.batched import Batched
from ..backends import backend_of
from ..core.array import plain
from ..core.indices import HOLE
from ..ops.define.signatures import one_array, two_arrays
from ..ops.indexing import _index_add
from .common import (
    OptionError,
    UnsupportedError,
    at_least,
    check_arrays,
    checked_index,
    constant,
    filled,
    fixed,
    kind,
    known,
    one_of,
    shape_of,
)

__all__ = ["embedding", "embedding_bag", "one_hot"]


@one_array
def one_hot(input: Any, num_classes: int = -1) -> Any:
    """A one at the place of each class, and zeros, as integers.

    Without `num_classes`, the largest class is the last one.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.one_hot(ag.asarray([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    if kind(input) != "i":
        raise ValueError(f"input must have an integer dtype, not {input.dtype}")
    at_least(-1, num_classes=(num_classes,))
    values = known(input)
    if num_classes < 0:
        if values is None or not values.size:
            raise ValueError(
                "num_classes must be given, unless the classes are known: it is needed for no "
                "classes, in a compiled function, and for other libraries than NumPy"
            )
        num_classes = int(values.max()) + 1
    if values is not None and values.size and not 0 <= values.min() <= values.max() < num_classes:
        raise ValueError(f"Class values must be from 0 to num_classes - 1, {num_classes - 1}")
    places = constant(np.arange(num_classes), input)
    return ops.astype(ops.equal(ops.expand_dims(input, -1), places), backend_of(input).dtype(int))


def _row(padding_idx: int | None, rows: int) -> int | None:
    """The row for padding, counted from the front."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise ValueError(f"Padding_idx must be within num_embeddings: {padding_idx}")
    return padding_idx % rows


def _rows(weight: Any, index: Any, padding_idx: Any, scale_grad_by_freq: bool) -> Any:
    """The rows; the derivative leaves out a row, or is divided by how often a row is read."""
    if weight.ndim != 2:
        raise ValueError(f"weight must be a matrix, not of shape {shape_of(weight)}")
    flat = ops.reshape(checked_index(index, weight.shape[0], "input", "rows"), (-1,))
    out = ops.reshape(ops.take(weight, flat, axis=0), (*index.shape, weight.shape[1]))
    if scale_grad_by_freq:
        ones = filled(weight, shape_of(flat), 1)
        often = _index_add(ones, flat, template=(HOLE,), shape=(weight.shape[0],))
        often = ops.reshape(ops.take(often, flat, axis=0), (*index.shape, 1))
        out = fixed(out) + (out - fixed(out)) / often
    if padding_idx is not None:
        out = ops.where(ops.expand_dims(ops.equal(index, padding_idx), -1), fixed(out), out)
    return out


@two_arrays
def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, scale_grad_by_freq: bool = False
) -> Any:
    """The rows of a matrix that an index names.

    Parameters
    ----------
    input : array of integers
    weight : array, (rows, features)
    padding_idx : int, optional
        A row that has no gradient.
    scale_grad_by_freq : bool
        Whether the gradient of a row is divided by the number of times that it is read.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.embedding(ag.asarray([[1, 1]]), ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[[3., 4.],
             [3., 4.]]])
    """
    return _rows(weight, input, _row(padding_idx, weight.shape[0]), scale_grad_by_freq)


def _bags(count: int, offsets: Any, include_last_offset: bool) -> tuple[Any, Any]:
    """The places of the members of each bag as a matrix, and which of them are there."""
    if isinstance(offsets, Batched):
        raise ValueError("offsets must be the same for all members of a batch")
    starts = np.asarray(plain(offsets)).reshape(-1)
    if not len(starts) and include_last_offset:
        raise ValueError("offsets must not be empty with include_last_offset=True")
    if len(starts) and starts[0]:
        raise OptionError(f"offsets[0] has to be 0, but is {starts[0]}")
    ends = starts[1:] if include_last_offset else np.append(starts[1:], count)
    starts = starts[:-1] if include_last_offset else starts
    if (ends < starts).any() or ends.max(initial=0) > count:
        raise ValueError(f"offsets must grow, up to {count} at most, but are {starts.tolist()}")
    place = starts[:, None] + np.arange((ends - starts).max(initial=0))
    there = place < ends[:, None]
    return np.where(there, place, 0), there


@two_arrays
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or maximum of the rows that each bag of indices names.

    Parameters
    ----------
    input : array of integers, (bags, members) or (members of all bags,)
    weight : array, (rows, features)
    offsets : array of integers, optional
        Where each bag starts, for an input of one axis.
    scale_grad_by_freq, padding_idx
        As in `embedding`. A row for padding does not count as a member.
    mode : "sum", "mean" or "max"
    per_sample_weights : array of the shape of `input`, optional
        Factors of the rows, for "sum".
    include_last_offset : bool
        Whether the last of `offsets` is the end of the last bag.

    Returns
    -------
    array, (bags, features)

    Examples
    --------
    >>> import arraygrad as ag
    >>> table = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ag.nn.embedding_bag(ag.tensor([[0, 1]]), table)
    tensor([[2., 3.]])
    """
    one_of("mode", mode, ("sum", "mean", "max"), OptionError)
    factors = per_sample_weights
    check_arrays(offsets=offsets, per_sample_weights=factors)
    if factors is not None and mode != "sum":
        raise UnsupportedError(f"per_sample_weights is for mode='sum', not for {mode!r}")
    if factors is not None and shape_of(factors) != shape_of(input):
        raise OptionError("per_sample_weights must have the shape of input")
    if scale_grad_by_freq and mode == "max":
        raise OptionError("max mode does not support scaling the gradient by the frequency")
    if input.ndim not in (1, 2):
        raise OptionError(f"input has to be 1D or 2D Tensor, but got {input.ndim} axes")
    if (offsets is None) == (input.ndim == 1):
        raise OptionError("offsets has to be given for an input of one axis, and only for that")
    row = _row(padding_idx, weight.shape[0])
    rows = _rows(weight, input, row, scale_grad_by_freq)
    there: Any = ops.not_equal(input, -1 if row is None else row)
    if offsets is not None:
        place, inside = _bags(input.shape[0], offsets, include_last_offset)
        if not input.shape[0]:  # all bags are empty
            return ops.matmul(filled(weight, (len(place), weight.shape[0]), 0), weight)
        shape, flat = place.shape, place.reshape(-1)
        rows = ops.reshape(ops.take(rows, flat, axis=0), (*shape, weight.shape[1]))
        there = ops.reshape(ops.take(there, flat, axis=0), shape) & constant(inside, rows)
        if factors is not None:
            factors = ops.reshape(ops.take(factors, flat, axis=0), shape)
    if factors is not None:
        rows = rows * ops.expand_dims(factors, 2)
    mask = ops.expand_dims(there, 2)
    if mode == "max" and rows.shape[1]:
        first = ops.argmax(ops.where(mask, fixed(rows), -np.inf), axis=1)
        found = ops.take_along_axis(rows, ops.expand_dims(first, 1), axis=1)
        return ops.where(ops.any(mask, axis=1), ops.squeeze(found, axis=1), 0)
    total = ops.sum(ops.where(mask, rows, 0), axis=1)
    if mode != "mean":
        return total
    number = ops.sum(ops.astype(there, weight.dtype), axis=1)
    return total / ops.expand_dims(ops.where(number > 0, number, 1), 1)
