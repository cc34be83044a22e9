"""Losses of classes: a right class, a share of each class, or several right ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops, special
from ....core.array import plain
from ..functions.axes import are_known, not_from_the_end
from ..publish import ArgumentError, function
from .reducing import above_zero, checked_reduction, like, loss_function, reduced


def _checked(target: Any, classes: int, ignored: int) -> Any:
    """The right classes, with the first in the place of those to ignore."""
    if target.dtype.kind not in "iu":
        raise RuntimeError(f"target must be classes of an integer dtype, not {target.dtype}")
    place = ops.where(ops.equal(target, ignored), 0, target)
    if not are_known(target):
        return not_from_the_end(place, classes)
    values = np.asarray(plain(place))
    wrong = values[(values < 0) | (values >= classes)]
    if wrong.size:
        raise IndexError(f"Target {wrong[0]} is out of bounds: there are {classes} classes")
    return place


def _class_axis(input: Any) -> int:
    if not input.ndim:
        raise RuntimeError("input must have an axis of classes")
    return 1 if input.ndim > 1 else 0


def _shares(
    input: Any, target: Any, weight: Any, ignore_index: int
) -> tuple[Any, Any, tuple[int, ...]]:
    """The class that each element of `target` names, its weight, and the shape of the losses."""
    axis = _class_axis(input)
    shape = tuple(n for a, n in enumerate(input.shape) if a != axis)
    if target.ndim and shape and target.shape[0] != shape[0]:
        raise ArgumentError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size "
            f"({target.shape[0]})."
        )
    if tuple(target.shape) != shape:
        raise RuntimeError(
            f"target must have the shape {shape} for input {tuple(input.shape)}, not "
            f"{tuple(target.shape)}"
        )
    place = _checked(target, input.shape[axis], ignore_index)
    kept = ops.not_equal(target, ignore_index)
    factor = ops.astype(kept, input.dtype)
    if weight is not None:
        if tuple(weight.shape) != (input.shape[axis],):
            raise RuntimeError(
                f"weight must have one number for each of {input.shape[axis]} classes, not shape "
                f"{tuple(weight.shape)}"
            )
        found = ops.take(weight, ops.reshape(place, (-1,)), axis=0)
        factor = factor * ops.reshape(found, shape)
    return place, factor, shape


def _nll(input: Any, target: Any, weight: Any, ignore_index: int, how: str) -> Any:
    axis = _class_axis(input)
    place, factor, shape = _shares(input, target, weight, ignore_index)
    picked = ops.take_along_axis(input, ops.expand_dims(place, axis), axis=axis)
    # An ignored element can be infinite: it is not multiplied by zero.
    right = ops.where(ops.equal(target, ignore_index), 0, ops.reshape(picked, shape))
    loss = -right * factor
    return ops.sum(loss) / ops.sum(factor) if how == "mean" else reduced(loss, how)


@loss_function(between="ignore_index")
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the probability of the right class."""
    return _nll(input, target, weight, ignore_index, checked_reduction(reduction))


@loss_function(between="ignore_index")
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Minus the logarithm of the softmax of the right class, or of shares of all classes."""
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0 and 1, not {label_smoothing}")
    how = checked_reduction(reduction)
    axis = _class_axis(input)
    classes = input.shape[axis]
    logs = special.log_softmax(input, axis=axis)
    column = (classes, *(1,) * (input.ndim - axis - 1))
    weights = None if weight is None else ops.reshape(weight, column)
    if tuple(target.shape) == tuple(input.shape) and target.dtype.kind not in "iu":
        share = target * (1 - label_smoothing) + label_smoothing / classes
        loss = -ops.sum(share * (logs if weights is None else logs * weights), axis=axis)
        # PyTorch's mean of weighted shares is over the samples, not over the weights.
        return ops.sum(loss) / max(loss.size, 1) if how == "mean" else reduced(loss, how)
    plain_loss = _nll(logs, target, weight, ignore_index, how)
    if not label_smoothing:
        return plain_loss
    spread = -ops.sum(logs if weights is None else logs * weights, axis=axis)
    spread = ops.where(ops.equal(target, ignore_index), 0, spread)
    if how == "mean":
        _, factor, _ = _shares(input, target, weight, ignore_index)
        spread = ops.sum(spread) / ops.sum(factor)
    else:
        spread = reduced(spread, how)
    return (1 - label_smoothing) * plain_loss + label_smoothing / classes * spread


@function(method=False)
def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: Any = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:
    """`cross_entropy` of `linear`: of the products of `input` and the rows of a weight."""
    if options is not None:
        raise NotImplementedError(
            "linear_cross_entropy(options=...) chooses a way to save memory that is not supported: "
            "leave it away, the result is the same"
        )
    logits = ops.tensordot(input, linear_weight, axes=((-1,), (linear_weight.ndim - 1,)))
    logits = logits if linear_bias is None else logits + linear_bias
    return cross_entropy.__wrapped__(
        logits,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


# --- margins between classes ---


def _rows(input: Any) -> tuple[Any, bool]:
    """The input with an axis of samples, and whether it had none."""
    if input.ndim > 2 or not input.size:
        raise RuntimeError(f"input must have at most two axes, not shape {tuple(input.shape)}")
    return (input, False) if input.ndim == 2 else (ops.reshape(input, (1, -1)), True)


@loss_function
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """How much other classes come nearer to the right one than a margin."""
    if p not in (1, 2):
        raise ArgumentError(f"p must be 1 or 2, not {p}")
    x, single = _rows(input)
    classes = x.shape[1]
    if target.size != x.shape[0] or target.ndim > 1:
        raise RuntimeError(
            f"target must have one class for each sample of input {tuple(input.shape)}, not shape "
            f"{tuple(target.shape)}"
        )
    target = _checked(target, classes, 0)
    place = ops.reshape(target, (x.shape[0], 1))
    gap = above_zero(margin - ops.take_along_axis(x, place, axis=1) + x)
    loss = gap if p == 1 else gap * gap
    if weight is not None:
        loss = loss * ops.expand_dims(ops.take(weight, ops.reshape(target, (-1,)), axis=0), 1)
    loss = ops.where(ops.equal(place, np.arange(classes)), 0, loss)
    loss = ops.sum(loss, axis=1) / classes
    return reduced(loss[0] if single else loss, reduction)


@loss_function
def multilabel_margin_loss(
    input: Any,
    target: Any,
    reduction: str = "mean",
) -> Any:
    """How much wrong classes come nearer to right ones than one; targets end at the first -1."""
    if tuple(input.shape) != tuple(target.shape):
        raise RuntimeError(
            f"target must have the shape of input {tuple(input.shape)}, not {tuple(target.shape)}"
        )
    x, single = _rows(input)
    classes = x.shape[1]
    _checked(target, classes, -1)
    labels = ops.reshape(target, x.shape)
    used = ops.equal(ops.cumulative_sum(ops.astype(labels < 0, np.int64), axis=1), 0)
    place = ops.where(used, labels, 0)
    right = ops.expand_dims(ops.take_along_axis(x, place, axis=1), 2)
    named = ops.equal(ops.expand_dims(place, 2), np.arange(classes)) & ops.expand_dims(used, 2)
    wrong = ops.logical_not(ops.any(named, axis=1))
    counted = ops.expand_dims(used, 2) & ops.expand_dims(wrong, 1)
    gap = ops.where(counted, above_zero(1 - right + ops.expand_dims(x, 1)), 0)
    loss = ops.sum(gap, axis=(1, 2)) / classes
    return reduced(loss[0] if single else loss, reduction)


@loss_function
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """The mean over classes of the cross entropy of sigmoids and targets."""
    target = like(target, input)
    loss = -(target * special.log_expit(input) + (1 - target) * special.log_expit(-input))
    loss = loss if weight is None else loss * weight
    return reduced(ops.mean(loss, axis=-1), reduction)
