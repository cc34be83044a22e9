"""`torch.nn.functional`: activations, losses and layers as compositions of functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import linalg, ops, special
from ....ops.special import activations
from ....ops.special.standardizing import standardize
from ..functions import elementwise, products, reductions
from ..functions.axes import checked
from ..publish import function
from .activations import (
    activation,
    celu,
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    mish,
    prelu,
    softmin,
    softshrink,
)
from .attending import scaled_dot_product_attention
from .dropping import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from .losses import (
    cosine_embedding_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multilabel_soft_margin_loss,
    pairwise_distance,
    poisson_nll_loss,
    reduced,
    soft_margin_loss,
    triplet_margin_loss,
)
from .norms import batch_norm, group_norm, rms_norm
from .windows import avg_pool1d, avg_pool2d, conv1d, conv2d, max_pool1d, max_pool2d

__all__ = [
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv2d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "feature_alpha_dropout",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "mish",
    "mse_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
]


def __dir__() -> list[str]:
    return __all__


sigmoid, tanh = elementwise.sigmoid, elementwise.tanh
cosine_similarity, pdist = products.cosine_similarity, products.pdist


@function(method=False)
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """`input @ weight.T + bias`."""
    product = ops.matmul(input, ops.matrix_transpose(weight) if weight.ndim > 1 else weight)
    return product if bias is None else product + bias


@activation
def relu(input: Any) -> Any:
    """The larger of each element and zero."""
    return elementwise.relu.__wrapped__(input)


@activation
def relu6(input: Any) -> Any:
    """Elements between 0 and 6."""
    return hardtanh.__wrapped__(input, 0.0, 6.0)


@activation
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Elements between two bounds; the slope at the bounds is zero."""
    outside = (input <= min_val) | (input >= max_val)
    bound = ops.where(input <= min_val, min_val, max_val)
    return ops.where(outside, ops.astype(bound, input.dtype), input)


@activation
def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """Positive elements, and others times a slope."""
    return ops.where(input > 0, input, input * negative_slope)


@activation
def elu(input: Any, alpha: float = 1.0) -> Any:
    """Positive elements, and `alpha * (exp(x) - 1)` of others."""
    low = ops.where(input > 0, 0, input)
    return ops.where(input > 0, input, alpha * ops.expm1(low))


@activation
def selu(input: Any) -> Any:
    """`elu` with the scales that keep mean and variance."""
    return 1.0507009873554805 * elu.__wrapped__(input, 1.6732632423543772)


@function(method=False)
def gelu(input: Any, approximate: str = "none") -> Any:
    """Each element times the share of the normal distribution below it."""
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (input + 0.044715 * input**3)
        return 0.5 * input * (1 + ops.tanh(inner))
    return activations.gelu(input)


@activation
def silu(input: Any) -> Any:
    """Each element times its sigmoid."""
    return activations.silu(input)


@function(method=False)
def logsigmoid(input: Any) -> Any:
    """The logarithm of the sigmoid."""
    return special.log_expit(input)


@function(method=False)
def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """`log(1 + exp(beta * x)) / beta`."""
    return special.softplus(input * beta) / beta


@function(method=False)
def softsign(input: Any) -> Any:
    """`x / (1 + |x|)`."""
    return input / (1 + ops.abs(input))


@function(method=False)
def tanhshrink(input: Any) -> Any:
    """`x - tanh(x)`."""
    return input - ops.tanh(input)


@activation
def threshold(input: Any, threshold: float, value: float) -> Any:
    """Elements above a threshold, and `value` for the others."""
    return elementwise.threshold.__wrapped__(input, threshold, value)


@function(method=False)
def softmax(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Exponentials that sum up to one along an axis."""
    return reductions.softmax.__wrapped__(input, _usual(dim, input), dtype)


@function(method=False)
def log_softmax(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of softmax."""
    return reductions.log_softmax.__wrapped__(input, _usual(dim, input), dtype)


def _usual(dim: int | None, x: Any) -> int:
    return dim if dim is not None else (0 if x.ndim in (0, 1, 3) else 1)


@function(method=False)
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Elements with mean zero and variance one along the last axes."""
    axes = tuple(range(-len(tuple(normalized_shape)), 0))
    out = standardize(input, axis=axes, eps=eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


@function(method=False)
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of a matrix that an index names; the row of `padding_idx` gets no gradient."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotImplementedError(
            "embedding(): max_norm, scale_grad_by_freq and sparse are not supported"
        )
    flat = ops.reshape(input, (-1,))
    rows = ops.take(weight, flat, axis=0)
    if padding_idx is not None:
        place = padding_idx % weight.shape[0]
        fixed = ops.take(weight.detach(), flat, axis=0)
        rows = ops.where(ops.equal(flat, place)[:, None], fixed, rows)
    return ops.reshape(rows, (*input.shape, weight.shape[-1]))


@function(method=False)
def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """A one at the place of each class, and zeros."""
    count = int(ops.max(tensor).item()) + 1 if num_classes < 0 else num_classes
    return ops.astype(ops.equal(ops.expand_dims(tensor, -1), np.arange(count)), np.int64)


@function(method=False)
def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """Vectors divided by their norms."""
    size = linalg.vector_norm(input, axis=dim, keepdims=True, ord=p)
    return input / ops.where(size < eps, eps, size)


@function(method=False)
def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """More elements at the ends; `pad` starts with the last axis."""
    widths = [(0, 0)] * input.ndim
    for i in range(len(pad) // 2):
        widths[-1 - i] = (pad[2 * i], pad[2 * i + 1])
    names = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode != "constant":
        return ops.pad(input, widths, names[mode])
    if any(n < 0 for pair in widths for n in pair):
        cut = tuple(
            slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, input.shape, strict=True)
        )
        input, widths = input[cut], [(max(a, 0), max(b, 0)) for a, b in widths]
    return ops.pad(input, widths, constant_values=0 if value is None else value)


# --- losses ---


@function(method=False)
def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """Squares of differences."""
    return reduced(ops.square(input - target), reduction)


@function(method=False)
def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """Absolute values of differences."""
    return reduced(ops.abs(input - target), reduction)


@function(method=False)
def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Squares of small differences, and absolute values of large ones."""
    size = ops.abs(input - target)
    if beta == 0:
        return reduced(size, reduction)
    return reduced(ops.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta), reduction)


@function(method=False)
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Squares of small differences, and absolute values of large ones."""
    size = ops.abs(input - target)
    loss = ops.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))
    return reduced(loss, reduction)


@function(method=False)
def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """The divergence of `target` from the distribution with logarithm `input`."""
    if log_target:
        loss = ops.exp(target) * (target - input)
    else:
        loss = special.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return ops.sum(loss) / input.shape[0]
    return reduced(loss, reduction)


@function(method=False)
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """The cross entropy of probabilities and targets."""

    def bounded(x: Any) -> Any:
        found = ops.log(x)
        return ops.where(found < -100.0, -100.0, found)

    loss = -(target * bounded(input) + (1 - target) * bounded(1 - input))
    return reduced(loss if weight is None else loss * weight, reduction)


@function(method=False)
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """The cross entropy of sigmoids and targets."""
    factor = 1 if pos_weight is None else pos_weight
    loss = -(factor * target * special.log_expit(input) + (1 - target) * special.log_expit(-input))
    return reduced(loss if weight is None else loss * weight, reduction)


@function(method=False)
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """Minus the logarithm of the probability of the right class."""
    axis = 1 if input.ndim > 1 else 0
    place = ops.where(ops.equal(target, ignore_index), 0, target)
    index = ops.expand_dims(place, axis) if input.ndim > 1 else ops.reshape(place, (1,))
    chosen = ops.take_along_axis(input, index, axis=axis)
    chosen = ops.squeeze(chosen, axis=axis)
    factor = ops.astype(ops.not_equal(target, ignore_index), input.dtype)
    if weight is not None:
        factor = factor * weight[place]
    loss = -chosen * factor
    if reduction == "mean":
        return ops.sum(loss) / ops.sum(factor)
    return reduced(loss, reduction)


@function(method=False)
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Minus the logarithm of the softmax of the right class, or of shares of classes."""
    axis = checked(1 if input.ndim > 1 else 0, input.ndim)
    logs = special.log_softmax(input, axis=axis)
    scale = None if weight is None else _along(weight, axis, input.ndim)
    if target.dtype.kind == "f":
        share = target * (1 - label_smoothing) + label_smoothing / input.shape[axis]
        loss = -ops.sum(share * (logs if scale is None else logs * scale), axis=axis)
        if reduction == "mean":
            return ops.sum(loss) / (loss.size or 1)
        return reduced(loss, reduction)
    plain = nll_loss.__wrapped__(logs, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return plain
    kept = ops.astype(ops.not_equal(target, ignore_index), input.dtype)
    spread = -ops.sum(logs if scale is None else logs * scale, axis=axis) * kept
    if reduction == "mean":
        place = ops.where(ops.equal(target, ignore_index), 0, target)
        spread = ops.sum(spread) / ops.sum(kept if weight is None else kept * weight[place])
    else:
        spread = reduced(spread, reduction)
    return (1 - label_smoothing) * plain + label_smoothing / input.shape[axis] * spread


def _along(weight: Any, axis: int, ndim: int) -> Any:
    """Numbers for the classes, along the axis of classes."""
    return ops.reshape(weight, tuple(-1 if a == axis else 1 for a in range(ndim)))
