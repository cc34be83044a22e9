"""`ctc_loss`: the loss of sequences whose alignment with the input is not known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops
from ....arrays.batched import Batched
from ....core.array import plain
from ..publish import function
from .reducing import checked_reduction, reduced

_IMPOSSIBLE = -1e30  # the logarithm of a probability of zero; infinities would make NaNs


def _lengths(given: Any) -> Any:
    return np.asarray(plain(given)).reshape(-1).astype(np.int64)


def _rows_of_targets(targets: Any, lengths: Any) -> Any:
    """Targets as a matrix with a row for each sample, from one or from all in a row."""
    values = np.asarray(plain(targets))
    longest = int(lengths.max(initial=0))
    if values.ndim == 1:
        if values.size != lengths.sum():
            raise RuntimeError(
                f"targets has {values.size} elements, but target_lengths add up to {lengths.sum()}"
            )
        start = np.cumsum(lengths) - lengths
        place = start[:, None] + np.arange(longest)
        values = np.append(values, 0)[np.minimum(place, values.size)]
    elif longest > values.shape[1]:
        raise RuntimeError(
            f"target_lengths must be at most {values.shape[1]}, but one is {longest}"
        )
    return values[:, :longest]


@function(method=False)
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Minus the logarithm of the probability of a sequence, summed over all its alignments.

    The gradient is the derivative by `log_probs`. PyTorch adds `exp(log_probs)` to it: that makes
    no difference after `log_softmax`, where the gradients by its input are the same.
    """
    how = checked_reduction(reduction)
    single = log_probs.ndim == 2
    x = ops.expand_dims(log_probs, 1) if single else log_probs
    steps, samples, classes = x.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be one of the {classes} classes, not {blank}")
    durations, sizes = _lengths(input_lengths), _lengths(target_lengths)
    if len(durations) != samples or len(sizes) != samples:
        raise RuntimeError(f"input_lengths and target_lengths must have {samples} elements")
    if durations.max(initial=0) > steps or min(durations.min(), sizes.min(), 0) < 0:
        raise RuntimeError(f"input_lengths must be from 0 to {steps}, not {durations.tolist()}")
    if isinstance(targets, Batched):
        raise RuntimeError("ctc_loss cannot be mapped over targets: map over log_probs, or loop")
    if targets.ndim == 1 and single:
        targets = ops.expand_dims(targets, 0)
    labels = _rows_of_targets(targets, sizes)
    # Blanks between all labels, before and after them.
    path = np.full((samples, 2 * labels.shape[1] + 1), blank, np.int64)
    path[:, 1::2] = np.where(np.arange(labels.shape[1]) < sizes[:, None], labels, blank)
    if path.min(initial=0) < 0 or path.max(initial=0) >= classes:
        raise RuntimeError(f"targets must be classes from 0 to {classes - 1}")
    places = path.shape[1]
    skips = np.zeros(path.shape, bool)  # a blank between two different labels can be left out
    skips[:, 2:] = (path[:, 2:] != blank) & (path[:, 2:] != path[:, :-2])
    index = np.broadcast_to(path, (steps, *path.shape))
    logs = ops.take_along_axis(x, index, axis=2)
    logs = ops.where(logs < _IMPOSSIBLE, _IMPOSSIBLE, logs)
    # Before the first step, no label was read.
    state: Any = np.where(np.arange(places) == 0, 0.0, _IMPOSSIBLE).astype(x.dtype)
    state = np.broadcast_to(state, path.shape)
    outside = np.full((samples, 2), _IMPOSSIBLE, x.dtype)
    for t in range(steps):
        if t:
            before = ops.concat([outside, state], axis=1)
            moved = ops.where(skips, before[:, :-2], _IMPOSSIBLE)
            new = ops.logaddexp(ops.logaddexp(state, before[:, 1:-1]), moved) + logs[t]
        else:
            new = ops.where(np.arange(places) < 2, logs[0], _IMPOSSIBLE)
        state = ops.where((t < durations)[:, None], new, state)
    end = 2 * sizes[:, None]
    last = ops.take_along_axis(state, end, axis=1)
    label = ops.take_along_axis(state, np.maximum(end - 1, 0), axis=1)
    label = ops.where(end > 0, label, _IMPOSSIBLE)
    loss = -ops.reshape(ops.logaddexp(last, label), (samples,))
    never = loss > -0.5 * _IMPOSSIBLE
    if zero_infinity:
        loss = ops.where(never, 0, loss)
    else:
        loss = loss * ops.astype(ops.where(never, math.inf, 1.0), x.dtype)
    if how == "mean":
        return ops.mean(loss / np.maximum(sizes, 1).astype(x.dtype))
    return reduced(loss[0] if single else loss, how)
