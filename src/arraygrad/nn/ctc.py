"""`ctc_loss`: the loss of sequences whose alignment with the input is not known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops
from ..arrays.batched import Batched
from ..core.array import plain
from ..func import scan
from ..ops.define.signatures import one_array
from .common import constant, narrow, shape_of, wide
from .reducing import checked_reduction, reduced

__all__ = ["ctc_loss"]

_IMPOSSIBLE = -1e30  # the logarithm of a probability of zero; infinities would make NaNs


def _lengths(given: Any, name: str, samples: int) -> Any:
    found = np.asarray(plain(given)).reshape(-1).astype(np.int64)
    if len(found) != samples:
        raise ValueError(f"{name} must have {samples} elements, not {len(found)}")
    return found


def _rows_of_targets(targets: Any, lengths: Any) -> Any:
    """Targets as a matrix with a row for each sample, from one or from all in a row."""
    values = np.asarray(plain(targets))
    longest = int(lengths.max(initial=0))
    if values.ndim == 1:
        if values.size != lengths.sum():
            raise ValueError(
                f"targets has {values.size} elements, but target_lengths add up to {lengths.sum()}"
            )
        start = np.cumsum(lengths) - lengths
        place = start[:, None] + np.arange(longest)
        values = np.append(values, 0)[np.minimum(place, values.size)]
    elif longest > values.shape[1]:
        raise ValueError(f"target_lengths must be at most {values.shape[1]}, but one is {longest}")
    return values[:, :longest]


@one_array
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

    Parameters
    ----------
    log_probs : array, (steps, samples, classes) or (steps, classes)
        The logarithms of the probabilities of the classes at each time.
    targets : integers, (samples, longest) or all in a row
        The classes of each sequence, without blanks.
    input_lengths, target_lengths : integers, (samples,)
        How many steps and classes of each sample count.
    blank : int
        The class that separates equal neighbours.
    reduction : "mean", "sum" or "none"
        The mean is that of the losses divided by `target_lengths`.
    zero_infinity : bool
        Whether the loss of a sequence that does not fit is zero, and not infinite.

    Examples
    --------
    >>> import arraygrad as ag
    >>> log_probs = ag.nn.log_softmax(ag.zeros((5, 1, 3)))
    >>> ag.nn.ctc_loss(log_probs, ag.tensor([[1, 2]]), ag.tensor([5]), ag.tensor([2]))
    tensor(0.96885669)
    """
    how = checked_reduction(reduction)
    if log_probs.ndim not in (2, 3):
        raise ValueError(f"log_probs must have 2 or 3 axes, not shape {shape_of(log_probs)}")
    single = log_probs.ndim == 2
    x = wide(ops.expand_dims(log_probs, 1) if single else log_probs)
    steps, samples, classes = x.shape
    if not 0 <= blank < classes:
        raise ValueError(f"blank must be one of the {classes} classes, not {blank}")
    durations = _lengths(input_lengths, "input_lengths", samples)
    sizes = _lengths(target_lengths, "target_lengths", samples)
    if durations.max(initial=0) > steps or min(durations.min(), sizes.min(), 0) < 0:
        raise ValueError(f"input_lengths must be from 0 to {steps}, not {durations.tolist()}")
    if isinstance(targets, Batched):
        raise ValueError("ctc_loss cannot be mapped over targets: map over log_probs, or loop")
    if targets.ndim == 1 and single:
        targets = targets[None]
    labels = _rows_of_targets(targets, sizes)
    # Blanks between all labels, before and after them.
    path = np.full((samples, 2 * labels.shape[1] + 1), blank, np.int64)
    path[:, 1::2] = np.where(np.arange(labels.shape[1]) < sizes[:, None], labels, blank)
    if path.min(initial=0) < 0 or path.max(initial=0) >= classes:
        raise ValueError(f"targets must be classes from 0 to {classes - 1}")
    last_state = _after_all_steps(x, path, blank, durations)
    end = 2 * sizes[:, None]
    last = ops.take_along_axis(last_state, end, axis=1)
    label = ops.take_along_axis(last_state, np.maximum(end - 1, 0), axis=1)
    label = ops.where(constant(end > 0, x), label, _IMPOSSIBLE)
    loss = -ops.reshape(ops.logaddexp(last, label), (samples,))
    never = loss > -0.5 * _IMPOSSIBLE
    loss = ops.where(never, 0, loss)
    if not zero_infinity:
        loss = ops.where(never, math.inf, loss)
    if how == "mean":
        loss = loss / ops.astype(constant(np.maximum(sizes, 1), x), x.dtype)
    elif single:
        loss = loss[0]
    return narrow(reduced(loss, how), log_probs)


def _after_all_steps(x: Any, path: Any, blank: int, durations: Any) -> Any:
    """The logarithms of the probabilities to be at each place of the path after all steps."""
    steps, samples = x.shape[:2]
    skips = np.zeros(path.shape, np.bool_)  # a blank between two different labels can be left out
    skips[:, 2:] = (path[:, 2:] != blank) & (path[:, 2:] != path[:, :-2])
    logs = ops.take_along_axis(x, np.broadcast_to(path, (steps, *path.shape)), axis=2)
    logs = ops.where(logs < _IMPOSSIBLE, _IMPOSSIBLE, logs)
    alive = constant(np.arange(steps)[:, None, None] < durations[:, None], x)
    may_skip, first_two = constant(skips, x), constant(np.arange(path.shape[1]) < 2, x)
    outside = ops.astype(constant(np.full((samples, 2), _IMPOSSIBLE), x), x.dtype)

    def step(state: Any, at: Any) -> tuple[Any, None]:
        now, goes_on = at
        before = ops.concat([outside, state], axis=1)
        moved = ops.where(may_skip, before[:, :-2], _IMPOSSIBLE)
        new = ops.logaddexp(ops.logaddexp(state, before[:, 1:-1]), moved) + now
        return ops.where(goes_on, new, state), None

    # Before the first step, no label was read.
    start = np.where(np.arange(path.shape[1]) == 0, 0.0, _IMPOSSIBLE)
    state = ops.astype(constant(np.broadcast_to(start, path.shape), x), x.dtype)
    if not steps:
        return state
    first = ops.where(first_two, logs[0, ...], _IMPOSSIBLE)
    state = ops.where(alive[0, ...], first, state)
    return scan(step, state, (logs[1:, ...], alive[1:, ...]))[0] if steps > 1 else state
