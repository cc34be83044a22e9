"""Losses of numbers and of distributions: how far predictions are from targets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops, special
from ....core.array import Array, plain
from ..functions.axes import are_known
from ..publish import ArgumentError, function
from .reducing import checked_reduction, like, loss_function, reduced, same_shape


def _weighted(loss: Any, weight: Any, how: str) -> Any:
    """Losses times weights; the mean is that of the weights."""
    if weight is None:
        return reduced(loss, how)
    weight = like(weight, loss)
    total = ops.sum(loss * weight) if how == "mean" else reduced(loss * weight, how)
    return total / ops.sum(ops.broadcast_to(weight, loss.shape)) if how == "mean" else total


@loss_function
def mse_loss(
    input: Any,
    target: Any,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Squares of differences."""
    how = checked_reduction(reduction)
    return _weighted(ops.square(input - like(target, input)), weight, how)


@loss_function
def l1_loss(
    input: Any,
    target: Any,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Absolute values of differences."""
    how = checked_reduction(reduction)
    return _weighted(ops.abs(input - like(target, input)), weight, how)


@loss_function
def smooth_l1_loss(
    input: Any,
    target: Any,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Squares of small differences, and absolute values of large ones."""
    if beta < 0:
        raise RuntimeError(f"beta must not be negative, but is {beta}")
    size = ops.abs(input - like(target, input))
    if beta:
        size = ops.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta)
    return reduced(size, reduction)


@function(method=False)
def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Squares of small differences, and absolute values of large ones."""
    if delta <= 0:
        raise RuntimeError(f"delta must be positive, but is {delta}")
    size = ops.abs(input - like(target, input))
    loss = ops.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))
    return _weighted(loss, weight, checked_reduction(reduction))


@loss_function
def kl_div(
    input: Any,
    target: Any,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """The divergence of `target` from the distribution with logarithm `input`."""
    if log_target:
        loss = ops.exp(target) * (target - input)
    else:
        target = like(target, input)
        loss = special.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return ops.sum(loss) / input.shape[0]
    return reduced(loss, reduction)


def _entropy(probability: Any, target: Any) -> Any:
    def bounded(x: Any) -> Any:
        tiny = x < math.exp(-100.0)
        return ops.where(tiny, -100.0, ops.log(ops.where(tiny, 1, x)))

    return -(target * bounded(probability) + (1 - target) * bounded(1 - probability))


@loss_function
def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """The cross entropy of probabilities and targets; logarithms are at least -100."""
    same_shape(input, target)
    target = like(target, input)
    if are_known(input):
        values = np.asarray(plain(input))
        if not ((values >= 0) & (values <= 1)).all():
            raise RuntimeError("all elements of input should be between 0 and 1")
    # PyTorch's slope of a probability of almost 0 or 1: as large as it can be, and not zero.
    certain = input * (1 - input) < 1e-12
    constant = input.detach()
    steep = _entropy(constant, target) + (input - constant) * (constant - target.detach()) * 1e12
    loss = ops.where(certain, steep, _entropy(ops.where(certain, 0.5, input), target))
    loss = loss if weight is None else loss * weight
    return reduced(loss, reduction)


@loss_function
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """The cross entropy of sigmoids and targets."""
    same_shape(input, target)
    target = like(target, input)
    factor = 1 if pos_weight is None else pos_weight
    loss = -(factor * target * special.log_expit(input) + (1 - target) * special.log_expit(-input))
    loss = loss if weight is None else loss * weight
    return reduced(loss, reduction)


@loss_function(between="eps")
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the probability of counts, with rates or their logarithms given."""
    target = like(target, input)
    if log_input:
        loss = ops.exp(input) - target * input
    else:
        loss = input - target * ops.log(input + eps)
    if full:
        large = target > 1
        count = ops.where(large, target, 1)
        stirling = count * ops.log(count) - count + 0.5 * ops.log(2 * math.pi * count)
        loss = loss + ops.where(large, stirling, 0)
    return reduced(loss, reduction)


@function(method=False)
def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the normal density, with mean `input` and variance `var`."""
    if not isinstance(var, Array):
        var = ops.zeros_like(input) + float(var)
    elif tuple(var.shape) != tuple(input.shape):
        if tuple(var.shape) == tuple(input.shape[:-1]):
            var = ops.expand_dims(var, -1)
        elif var.ndim != input.ndim or any(
            m not in (1, n) for m, n in zip(var.shape, input.shape, strict=True)
        ):
            raise ArgumentError(
                f"var must have the shape of input {tuple(input.shape)}, not {tuple(var.shape)}"
            )
    if are_known(var) and (np.asarray(plain(var)) < 0).any():
        raise ArgumentError("var has negative entry/entries")
    # As in PyTorch, the derivative does not know of the lower bound.
    constant = var.detach() if hasattr(var, "detach") else var
    var = var + ops.where(constant < eps, eps - constant, 0)
    loss = 0.5 * (ops.log(var) + ops.square(input - like(target, input)) / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)
