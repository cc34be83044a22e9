"""Losses of numbers and of distributions: how far predictions are from targets.

The parameter `reduction` of a loss is "mean", "sum", or "none" for the loss of each element.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from .. import ops, special
from ..ops.define.signatures import two_arrays
from .common import (
    OptionError,
    as_floats,
    check_arrays,
    check_same_shape,
    filled,
    fixed,
    known,
    narrow,
    shape_of,
    wide,
)
from .one_pass import one_pass
from .reducing import checked_reduction, reduced, weighted_mean

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "gaussian_nll_loss", "huber_loss",
    "kl_div", "l1_loss", "mse_loss", "poisson_nll_loss", "smooth_l1_loss",
]  # fmt: skip


@two_arrays
def mse_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """Squares of differences.

    Parameters
    ----------
    input, target : arrays
        Of one shape. Others broadcast, with a warning.
    reduction : "mean", "sum" or "none"
    weight : array, optional
        Factors of the losses. The mean is that with these weights.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 5.0], requires_grad=True)
    >>> ag.grad(ag.nn.mse_loss(x, ag.tensor([0.0, 1.0])), x)
    tensor([1., 4.])
    """
    how = checked_reduction(reduction)
    return weighted_mean(_squared_difference(input, _like(target, input)), weight, how)


def _like(target: Any, input: Any) -> Any:
    """The target as floating-point numbers. If it broadcasts with the input, this warns."""
    of_input, of_target = shape_of(input), shape_of(target)
    pairs = zip(reversed(of_input), reversed(of_target), strict=False)
    if of_input and of_target and of_input != of_target:
        if all(m == n or 1 in (m, n) for m, n in pairs):
            warnings.warn(
                f"target has shape {of_target}, but input {of_input}: they broadcast, so that "
                "the loss is not that of pairs. Reshape one of them",
                stacklevel=4,
            )
    return as_floats(target, input)


@one_pass
def _squared_difference(x: Any, y: Any) -> Any:
    return ops.square(x - y)


@two_arrays
def l1_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """Absolute values of differences. The slope at zero is zero.

    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> ag.grad(ag.nn.l1_loss(x, ag.tensor([1.0, 4.0])), x)
    tensor([ 0. , -0.5])
    """
    how = checked_reduction(reduction)
    return weighted_mean(ops.abs(input - _like(target, input)), weight, how)


@two_arrays
def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Squares of small differences, and absolute values of large ones.

    >>> ag.nn.smooth_l1_loss(ag.tensor([0.0, 0.0]), ag.tensor([0.5, 3.0]), reduction="none")
    tensor([0.125, 2.5  ])
    """
    if beta < 0:
        raise ValueError(f"beta must not be negative, but is {beta}")
    target = _like(target, input)
    loss = _smooth_l1(input, target, beta) if beta else ops.abs(input - target)
    return reduced(loss, reduction)


@one_pass
def _smooth_l1(x: Any, y: Any, beta: Any) -> Any:
    error = x - y
    size = ops.abs(error)
    near = size < beta
    small = ops.where(near, error, 0)  # the slope of the square of infinity is no number
    return ops.where(near, 0.5 * small * small / beta, size - 0.5 * beta)


@two_arrays
def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Squares of small differences, and absolute values of large ones.

    >>> ag.nn.huber_loss(ag.tensor([0.0, 0.0]), ag.tensor([0.5, 3.0]), reduction="none")
    tensor([0.125, 2.5  ])
    """
    if delta <= 0:
        raise ValueError(f"delta must be positive, but is {delta}")
    loss = _huber(input, _like(target, input), delta)
    return weighted_mean(loss, weight, checked_reduction(reduction))


@one_pass
def _huber(x: Any, y: Any, delta: Any) -> Any:
    error = x - y
    size = ops.abs(error)
    near = size < delta
    small = ops.where(near, error, 0)
    return ops.where(near, 0.5 * small * small, delta * (size - 0.5 * delta))


@two_arrays
def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """The divergence of `target` from the distribution with logarithm `input`.

    With ``reduction="batchmean"``, the sum is divided by the length of the first axis, as the
    definition of the divergence has it.

    >>> p = ag.tensor([[0.5, 0.5]])
    >>> ag.nn.kl_div(ag.log(p), p, reduction="sum")
    tensor(0.)
    """
    if log_target:
        loss = ops.exp(target) * (target - input)
    else:
        target = as_floats(target, input)
        loss = special.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return ops.sum(loss) / (input.shape[0] if input.ndim else 1)
    return reduced(loss, reduction)


def _entropy(probability: Any, target: Any) -> Any:
    def bounded(x: Any) -> Any:
        tiny = x < math.exp(-100.0)
        return ops.where(tiny, -100.0, ops.log(ops.where(tiny, 1, x)))

    return -(target * bounded(probability) + (1 - target) * bounded(1 - probability))


@two_arrays
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """The cross entropy of probabilities and targets; logarithms are at least -100.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.binary_cross_entropy(ag.tensor([0.5, 1.0]), ag.tensor([1.0, 1.0]), reduction="none")
    tensor([0.69314718, 0.        ])
    """
    check_same_shape(OptionError, input=input, target=target)
    target = as_floats(target, input)
    values = known(input)
    if values is not None and not ((values >= 0) & (values <= 1)).all():
        raise ValueError("all elements of input should be between 0 and 1")
    x, target = wide(input), wide(target)
    # PyTorch's slope of a probability of almost 0 or 1: as large as it can be, and not zero.
    certain = x * (1 - x) < 1e-12
    steep = _entropy(fixed(x), target) + (x - fixed(x)) * (fixed(x) - fixed(target)) * 1e12
    loss = narrow(ops.where(certain, steep, _entropy(ops.where(certain, 0.5, x), target)), input)
    return reduced(loss if weight is None else loss * weight, reduction)


@two_arrays
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """The cross entropy of sigmoids and targets; `pos_weight` are factors of positive targets.

    >>> ag.nn.binary_cross_entropy_with_logits(ag.tensor([0.0, 2.0]), ag.tensor([0.0, 1.0]))
    tensor(0.4100376)
    """
    check_same_shape(OptionError, input=input, target=target)
    check_arrays(weight=weight, pos_weight=pos_weight)
    target = as_floats(target, input)
    loss = _entropy_of_logits(input, target, 1 if pos_weight is None else pos_weight)
    return reduced(loss if weight is None else loss * weight, reduction)


@one_pass
def _entropy_of_logits(x: Any, target: Any, factor: Any) -> Any:
    positive = special.log_expit(x) * target * factor
    return -(positive + special.log_expit(-x) * (1 - target))


@two_arrays
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the probability of counts, with rates or their logarithms given.

    >>> ag.nn.poisson_nll_loss(ag.tensor([0.0]), ag.tensor([2.0]))
    tensor(1.)
    """
    target = as_floats(target, input)
    if log_input:
        loss = ops.exp(input) - input * target
    else:
        loss = input - ops.log(input + eps) * target
    if full:
        large = target > 1
        count = ops.where(large, target, 1)
        stirling = count * ops.log(count) - count + 0.5 * ops.log(2 * math.pi * count)
        loss = loss + ops.where(large, stirling, 0)
    return reduced(loss, reduction)


@two_arrays
def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the normal density, with mean `input` and variance `var`.

    The variance is at least `eps`; as in PyTorch, the derivative does not know of this bound.

    >>> ag.nn.gaussian_nll_loss(ag.tensor([1.0]), ag.tensor([3.0]), ag.tensor([1.0]))
    tensor(2.)
    """
    if not hasattr(var, "dtype"):
        var = filled(input, shape_of(input), float(var))
    elif shape_of(var) != shape_of(input):
        if shape_of(var) == tuple(input.shape[:-1]):
            var = ops.expand_dims(var, -1)
        elif var.ndim != input.ndim or any(
            m not in (1, n) for m, n in zip(var.shape, input.shape, strict=True)
        ):
            raise OptionError(
                f"var must have the shape of input {shape_of(input)}, not {shape_of(var)}"
            )
    values = known(var)
    if values is not None and (values < 0).any():
        raise OptionError("var has negative entry/entries")
    constant = fixed(var)
    var = var + ops.where(constant < eps, eps - constant, 0)
    loss = 0.5 * (ops.square(input - as_floats(target, input)) / var + ops.log(var))
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)
