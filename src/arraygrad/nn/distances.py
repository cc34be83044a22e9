"""Distances and angles between vectors, and losses that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import linalg, ops, special
from ..core.axes import one_axis
from ..ops.define.signatures import three_arrays, two_arrays
from .common import OptionError, as_floats, narrow, shape_of, wide
from .reducing import above_zero, checked_reduction, reduced

__all__ = [
    "cosine_embedding_loss", "cosine_similarity", "hinge_embedding_loss", "margin_ranking_loss",
    "pairwise_distance", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


@two_arrays
def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along an axis; their norms are at least `eps`.

    >>> ag.nn.cosine_similarity(ag.tensor([[1.0, 0.0]]), ag.tensor([[1.0, 1.0]]))
    tensor([0.70710678])
    """
    first, second = ops.broadcast_arrays(wide(x1), wide(x2))
    if not first.ndim:
        one_axis(axis, 1)
        first, second, axis = ops.reshape(first, (1,)), ops.reshape(second, (1,)), 0
    axis = one_axis(axis, first.ndim)
    sizes = [linalg.vector_norm(x, axis=axis, keepdims=True) for x in (first, second)]
    by = [ops.where(s < eps, eps, s) for s in sizes]
    return narrow(ops.sum((first / by[0]) * (second / by[1]), axis=axis), x1)


@two_arrays
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdims: bool = False
) -> Any:
    """The distances of rows by the p-norm, with `eps` added to the differences.

    >>> ag.nn.pairwise_distance(ag.tensor([[0.0, 0.0]]), ag.tensor([[3.0, 4.0]]), eps=0.0)
    tensor([5.])
    """
    return linalg.vector_norm(x1 - x2 + eps, axis=-1, ord=p, keepdims=keepdims)


@three_arrays
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, reduction: str = "mean"
) -> Any:
    """How much pairs are not in the order that `target` says, 1 or -1, by a margin.

    >>> ag.nn.margin_ranking_loss(ag.tensor([1.0]), ag.tensor([3.0]), ag.tensor([1.0]))
    tensor(2.)
    """
    if not input1.ndim == input2.ndim == target.ndim:
        raise ValueError(
            "input1, input2 and target must have as many axes each, but have shapes "
            f"{shape_of(input1)}, {shape_of(input2)} and {shape_of(target)}"
        )
    loss = above_zero((input2 - input1) * as_floats(target, input1) + margin)
    return reduced(loss, reduction)


@two_arrays
def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    """Distances of similar pairs, target 1, and how much others, -1, are below a margin.

    >>> ag.nn.hinge_embedding_loss(ag.tensor([0.25, 0.25]), ag.tensor([1.0, -1.0]))
    tensor(0.5)
    """
    apart = ops.where(ops.not_equal(target, 1), above_zero(margin - input), 0)
    near = ops.where(ops.not_equal(target, -1), input, 0)
    return reduced(apart + near, reduction)


@two_arrays
def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The logistic loss of two classes, 1 and -1.

    >>> ag.nn.soft_margin_loss(ag.tensor([0.0, 2.0]), ag.tensor([1.0, 1.0]))
    tensor(0.4100376)
    """
    return reduced(special.softplus(-input * as_floats(target, input)), reduction)


@three_arrays
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, reduction: str = "mean"
) -> Any:
    """How far similar pairs, target 1, are from cosine one, and others, -1, above a margin.

    >>> x, y = ag.tensor([[1.0, 0.0]]), ag.tensor([[0.0, 1.0]])
    >>> ag.nn.cosine_embedding_loss(x, y, ag.tensor([1.0]))
    tensor(1.)
    """
    if target.ndim > 1 or input1.ndim != target.ndim + 1 or input2.ndim != target.ndim + 1:
        raise ValueError(
            "target must have one axis for inputs of two, or none for inputs of one; not shape "
            f"{shape_of(target)} for {shape_of(input1)} and {shape_of(input2)}"
        )
    tiny = 1e-12
    sizes = [ops.sum(ops.square(x), axis=-1) + tiny for x in (input1, input2)]
    cosine = ops.sum(input1 * input2, axis=-1) / ops.sqrt(sizes[0] * sizes[1])
    apart = ops.where(ops.equal(target, -1), above_zero(cosine - margin), 0)
    return reduced(ops.where(ops.equal(target, 1), 1 - cosine, apart), reduction)


@three_arrays
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
    """How much nearer than a margin a negative is to an anchor than a positive.

    >>> points = ag.tensor([[0.0, 0.0]]), ag.tensor([[1.0, 0.0]]), ag.tensor([[1.5, 0.0]])
    >>> ag.nn.triplet_margin_loss(*points, eps=0.0)
    tensor(0.5)
    """
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise ValueError("anchor, positive and negative must have as many axes each")
    return triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=lambda x, y: pairwise_distance(x, y, p, eps),
        margin=margin,
        swap=swap,
        reduction=reduction,
    )


@three_arrays
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """`triplet_margin_loss` with a distance of one's own.

    With `swap`, the positive takes the place of the anchor where it is nearer to the negative.

    >>> points = ag.tensor([[0.0]]), ag.tensor([[1.0]]), ag.tensor([[1.5]])
    >>> far = lambda x, y: ag.abs(x - y).sum(axis=1)
    >>> ag.nn.triplet_margin_with_distance_loss(*points, distance_function=far)
    tensor(0.5)
    """
    if margin <= 0:
        raise OptionError(f"margin must be greater than 0, not {margin}")
    how = checked_reduction(reduction)
    distance: Any = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return reduced(above_zero(margin + near - far), how)
