"""Distances and angles between vectors, and losses that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import linalg, ops, special
from ..functions import products
from ..functions.axes import checked
from ..handles import Tensor
from ..publish import ArgumentError, function
from .reducing import above_zero, checked_reduction, like, loss_function, reduced

pdist = products.pdist


@function(method=False)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors."""
    x1, x2 = ops.broadcast_arrays(x1, x2)
    if not x1.ndim:
        checked(dim, 0)
        x1, x2, dim = ops.reshape(x1, (1,)), ops.reshape(x2, (1,)), 0
    axis = checked(dim, x1.ndim)
    sizes = [linalg.vector_norm(x, axis=axis, keepdims=True) for x in (x1, x2)]
    first, second = (ops.where(s < eps, eps, s) for s in sizes)
    return ops.sum((x1 / first) * (x2 / second), axis=axis)


def _apart(x1: Any, x2: Any, p: float, eps: float, keepdim: bool = False) -> Any:
    return linalg.vector_norm(x1 - x2 + eps, axis=-1, ord=p, keepdims=keepdim)


@function(method=False)
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The distances of rows."""
    return _apart(x1, x2, p, eps, keepdim)


@loss_function
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    reduction: str = "mean",
) -> Any:
    """How much pairs are not in the order that `target` says, 1 or -1, by a margin."""
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "input1, input2 and target must have as many axes each, but have shapes "
            f"{tuple(input1.shape)}, {tuple(input2.shape)} and {tuple(target.shape)}"
        )
    loss = above_zero(-like(target, input1) * (input1 - input2) + margin)
    return reduced(loss, reduction)


@loss_function
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    reduction: str = "mean",
) -> Any:
    """Distances of similar pairs, target 1, and how much others, -1, are below a margin."""
    apart = ops.where(ops.not_equal(target, 1), above_zero(margin - input), 0)
    near = ops.where(ops.not_equal(target, -1), input, 0)
    return reduced(apart + near, reduction)


@loss_function
def soft_margin_loss(
    input: Any,
    target: Any,
    reduction: str = "mean",
) -> Any:
    """The logistic loss of two classes, 1 and -1."""
    loss = special.softplus(-like(target, input) * input)
    return reduced(loss, reduction)


@loss_function
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    reduction: str = "mean",
) -> Any:
    """How far similar pairs, target 1, are from cosine one, and others, -1, above a margin."""
    if target.ndim > 1 or input1.ndim != target.ndim + 1 or input2.ndim != target.ndim + 1:
        raise RuntimeError(
            "target must have one axis for inputs of two, or none for inputs of one; not shape "
            f"{tuple(target.shape)} for {tuple(input1.shape)} and {tuple(input2.shape)}"
        )
    tiny = 1e-12
    sizes = [ops.sum(ops.square(x), axis=-1) + tiny for x in (input1, input2)]
    cosine = ops.sum(input1 * input2, axis=-1) / ops.sqrt(sizes[0] * sizes[1])
    loss = ops.where(
        ops.equal(target, 1),
        1 - cosine,
        ops.where(ops.equal(target, -1), above_zero(cosine - margin), 0),
    )
    return reduced(loss, reduction)


@loss_function
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
    """How much nearer than a margin a negative is to an anchor than a positive."""
    if margin <= 0:
        raise ArgumentError(f"margin must be greater than 0, not {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError("anchor, positive and negative must have as many axes each")
    near, far = _apart(anchor, positive, p, eps), _apart(anchor, negative, p, eps)
    if swap:
        far = ops.minimum(far, _apart(positive, negative, p, eps))
    return reduced(above_zero(margin + near - far), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """`triplet_margin_loss` with a distance of one's own."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, not {margin}")
    how = checked_reduction(reduction)
    distance: Any = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    loss = (margin + near - far).clamp(min=0)
    return loss if how == "none" else loss.mean() if how == "mean" else loss.sum()
