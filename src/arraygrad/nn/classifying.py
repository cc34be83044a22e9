"""Losses of classes: a right class, a share of each class, or several right ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops, special
from ..backends import backend_of
from ..ops.define.signatures import two_arrays
from .common import (
    Ints,
    OptionError,
    as_floats,
    check_arrays,
    check_same_shape,
    check_share,
    checked_index,
    constant,
    kind,
    shape_of,
    size,
)
from .one_pass import one_program
from .reducing import above_zero, checked_reduction, reduced

__all__ = [
    "cross_entropy", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "nll_loss",
]  # fmt: skip


def _checked(target: Any, classes: int, ignored: int) -> Any:
    """The right classes, with the first in the place of those to ignore."""
    if kind(target) != "i":
        raise ValueError(f"target must be classes of an integer dtype, not {target.dtype}")
    place = ops.where(ops.equal(target, ignored), 0, target)
    return checked_index(place, classes, "target", "classes")


def _class_axis(input: Any) -> int:
    if not input.ndim:
        raise ValueError("input must have an axis of classes")
    return 1 if input.ndim > 1 else 0


def _shares(input: Any, target: Any, weight: Any, ignore_index: int) -> tuple[Any, Any, Ints]:
    """The class that each element of `target` names, its weight, and the shape of the losses."""
    axis = _class_axis(input)
    shape = tuple(n for a, n in enumerate(input.shape) if a != axis)
    if target.ndim and shape and target.shape[0] != shape[0]:
        raise OptionError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size "
            f"({target.shape[0]})."
        )
    if shape_of(target) != shape:
        raise ValueError(
            f"target must have the shape {shape} for input {shape_of(input)}, not "
            f"{shape_of(target)}"
        )
    place = _checked(target, input.shape[axis], ignore_index)
    factor = ops.astype(ops.not_equal(target, ignore_index), input.dtype)
    if weight is not None:
        factor = ops.reshape(_weight_of(weight, place, input.shape[axis]), shape) * factor
    return place, factor, shape


def _weight_of(weight: Any, classes: Any, count: int) -> Any:
    """The factors of some classes, one after another, of `count` that there are."""
    if shape_of(weight) != (count,):
        raise ValueError(
            f"weight must have one number for each of {count} classes, not shape {shape_of(weight)}"
        )
    return ops.take(weight, ops.reshape(classes, (-1,)), axis=0)


def _nll(input: Any, target: Any, weight: Any, ignore_index: int, how: str) -> Any:
    axis = _class_axis(input)
    place, factor, shape = _shares(input, target, weight, ignore_index)
    picked = ops.take_along_axis(input, ops.expand_dims(place, axis), axis=axis)
    # An ignored element can be infinite: it is not multiplied by zero.
    right = ops.where(ops.equal(target, ignore_index), 0, ops.reshape(picked, shape))
    loss = -right * factor
    return ops.sum(loss) / ops.sum(factor) if how == "mean" else reduced(loss, how)


@two_arrays
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the probability of the right class; `input` are the logarithms.

    >>> ag.nn.nll_loss(ag.log(ag.tensor([[0.25, 0.75]])), ag.tensor([1]))
    tensor(0.28768207)
    """
    return _nll(input, target, weight, ignore_index, checked_reduction(reduction))


@two_arrays
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Minus the logarithm of the softmax of the right class, or of shares of all classes.

    Parameters
    ----------
    input : array, (samples, classes, *rest) or (classes,)
        Logits.
    target : array
        The right classes as integers, (samples, *rest) or one; or shares of the classes, in the
        shape of `input`.
    weight : array, (classes,), optional
        A factor for each class. The mean is that with the factors of the right classes as weights.
    ignore_index : int
        A target that does not count.
    reduction : "mean", "sum" or "none"
    label_smoothing : float
        The share of the target that all classes have evenly.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[0.0, 0.0], [9.0, 0.0]], requires_grad=True)
    >>> loss = ag.nn.cross_entropy(x, ag.asarray([1, -100]))
    >>> loss.item(), ag.grad(loss, x)
    (0.693147180559..., tensor([[ 0.5, -0.5],
            [ 0. ,  0. ]]))
    """
    check_share("label_smoothing", label_smoothing)
    how = checked_reduction(reduction)
    _class_axis(input)
    check_arrays(target=target, weight=weight)
    return _cross_entropy(
        input, target, weight, ignore_index=ignore_index, how=how, label_smoothing=label_smoothing
    )


@one_program
def _cross_entropy(
    input: Any, target: Any, weight: Any, *, ignore_index: int, how: str, label_smoothing: float
) -> Any:
    axis = _class_axis(input)
    classes = input.shape[axis]
    logs = special.log_softmax(input, axis=axis)
    column = (classes, *(1,) * (input.ndim - axis - 1))
    weights = None if weight is None else ops.reshape(weight, column)
    if shape_of(target) == shape_of(input) and kind(target) != "i":
        share = target * (1 - label_smoothing) + label_smoothing / classes
        loss = -ops.sum(share * (logs if weights is None else logs * weights), axis=axis)
        # PyTorch's mean of weighted shares is over the samples, not over the weights.
        return reduced(loss, how)
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


# --- margins between classes ---


def _rows(input: Any) -> tuple[Any, bool]:
    """The input with an axis of samples, and whether it had none."""
    if input.ndim > 2 or 0 in input.shape[-1:]:
        raise ValueError(f"input must have at most two axes, and classes, not {shape_of(input)}")
    return (input, False) if input.ndim == 2 else (ops.reshape(input, (1, -1)), True)


@two_arrays
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """How much other classes come nearer to the right one than a margin.

    >>> ag.nn.multi_margin_loss(ag.tensor([[0.1, 0.9]]), ag.tensor([0]))
    tensor(0.9)
    """
    if p not in (1, 2):
        raise OptionError(f"p must be 1 or 2, not {p}")
    x, single = _rows(input)
    classes = x.shape[1]
    if size(target) != x.shape[0] or target.ndim > 1:
        raise ValueError(
            f"target must have one class for each sample of input {shape_of(input)}, not shape "
            f"{shape_of(target)}"
        )
    target = _checked(target, classes, 0)
    place = ops.reshape(target, (x.shape[0], 1))
    gap = above_zero(margin - ops.take_along_axis(x, place, axis=1) + x)
    loss = gap if p == 1 else gap * gap
    if weight is not None:
        loss = loss * ops.expand_dims(_weight_of(weight, target, classes), 1)
    loss = ops.where(ops.equal(place, constant(np.arange(classes), x)), 0, loss)
    loss = ops.sum(loss, axis=1) / classes
    return reduced(loss[0] if single else loss, reduction)


@two_arrays
def multilabel_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """How much wrong classes come nearer to right ones than one; targets end at the first -1.

    >>> ag.nn.multilabel_margin_loss(ag.tensor([[0.1, 0.9]]), ag.tensor([[1, -1]]))
    tensor(0.1)
    """
    check_same_shape(input=input, target=target)
    x, single = _rows(input)
    classes = x.shape[1]
    _checked(target, classes, -1)
    labels = ops.reshape(target, x.shape)
    ended = ops.astype(labels < 0, backend_of(target).dtype(np.int64))
    used = ops.equal(ops.cumulative_sum(ended, axis=1), 0)
    place = ops.where(used, labels, 0)
    right = ops.expand_dims(ops.take_along_axis(x, place, axis=1), 2)
    numbers = constant(np.arange(classes), x)
    named = ops.equal(ops.expand_dims(place, 2), numbers) & ops.expand_dims(used, 2)
    wrong = ops.logical_not(ops.any(named, axis=1))
    counted = ops.expand_dims(used, 2) & ops.expand_dims(wrong, 1)
    gap = ops.where(counted, above_zero(1 - right + ops.expand_dims(x, 1)), 0)
    loss = ops.sum(gap, axis=(1, 2)) / classes
    return reduced(loss[0] if single else loss, reduction)


@two_arrays
def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """The mean over classes of the cross entropy of sigmoids and targets.

    >>> ag.nn.multilabel_soft_margin_loss(ag.tensor([[0.0, 2.0]]), ag.tensor([[0.0, 1.0]]))
    tensor(0.4100376)
    """
    target = as_floats(target, input)
    loss = -(special.log_expit(input) * target + special.log_expit(-input) * (1 - target))
    loss = loss if weight is None else loss * weight
    return reduced(ops.mean(loss, axis=-1), reduction)
