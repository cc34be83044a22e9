"""More losses, as compositions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import linalg, ops, special
from ..publish import ArgumentError, function


def reduced(loss: Any, reduction: str) -> Any:
    """The mean or the sum of a loss, or the loss itself."""
    if reduction == "mean":
        return ops.mean(loss)
    if reduction == "sum":
        return ops.sum(loss)
    if reduction != "none":
        raise ArgumentError(f'reduction must be "none", "mean" or "sum", not {reduction!r}')
    return loss


def _positive(x: Any) -> Any:
    return ops.where(x > 0, x, ops.zeros_like(x))


@function(method=False)
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """How far the order of two inputs is from the one that `target`, 1 or -1, says."""
    return reduced(_positive(-target * (input1 - input2) + margin), reduction)


@function(method=False)
def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    """The input where `target` is 1, and how far it is below a margin where it is -1."""
    return reduced(ops.where(target == 1, input, _positive(margin - input)), reduction)


@function(method=False)
def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """`log(1 + exp(-target * input))`."""
    return reduced(special.softplus(-target * input), reduction)


@function(method=False)
def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """The cross entropy of sigmoids and targets, averaged over classes."""
    loss = -(target * special.log_expit(input) + (1 - target) * special.log_expit(-input))
    loss = loss if weight is None else loss * weight
    return reduced(ops.mean(loss, axis=-1), reduction)


@function(method=False)
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """One minus the cosine where `target` is 1, and the cosine above a margin where it is -1."""
    product = ops.sum(input1 * input2, axis=-1)
    sizes = (ops.sum(ops.square(x), axis=-1) + 1e-12 for x in (input1, input2))
    first, second = sizes
    cosine = product / ops.sqrt(first * second)
    return reduced(ops.where(target == 1, 1 - cosine, _positive(cosine - margin)), reduction)


@function(method=False)
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The distances of pairs of rows."""
    return linalg.vector_norm(x1 - x2 + eps, axis=-1, ord=p, keepdims=keepdim)


@function(method=False)
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """How much nearer, less a margin, the anchor is to the negative than to the positive."""

    def distance(a: Any, b: Any) -> Any:
        return linalg.vector_norm(a - b + eps, axis=-1, ord=p)

    far = distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return reduced(_positive(distance(anchor, positive) - far + margin), reduction)


@function(method=False)
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the probability of counts."""
    if log_input:
        loss = ops.exp(input) - target * input
    else:
        loss = input - target * ops.log(input + eps)
    if full:
        safe = ops.where(target > 1, target, 1)
        more = safe * ops.log(safe) - safe + 0.5 * ops.log(2 * math.pi * safe)
        loss = loss + ops.where(target > 1, more, 0)
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
    """Minus the logarithm of the density of normal distributions."""
    if not hasattr(var, "shape"):
        var = np.full(input.shape, var, input.dtype)
    if var.ndim < input.ndim:
        var = ops.expand_dims(var, -1)
    raised = ops.maximum(var, eps).detach() if hasattr(var, "detach") else np.maximum(var, eps)
    bounded = var + (raised - (var.detach() if hasattr(var, "detach") else var))
    loss = 0.5 * (ops.log(bounded) + ops.square(input - target) / bounded)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)
