"""Normalisations with their means and scales, as PyTorch's own layers call them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops
from ....arrays.creation import asarray
from ..handles import Tensor, unwrap, wrap
from ..publish import function

# The names of `torch` that are made here.
__all__ = [
    "native_batch_norm", "native_group_norm", "native_layer_norm",
]  # fmt: skip


def _standardised(x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """The elements with mean 0 and variance 1 along axes; the mean, and one over the deviation."""
    mean = ops.mean(x, axis=axes, keepdims=True)
    scale = ops.reciprocal(ops.sqrt(ops.var(x, axis=axes, keepdims=True) + eps))
    return (x - mean) * scale, mean, scale


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


@function(method=False)
def native_layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """`layer_norm`, and as constants the means and one over the standard deviations."""
    wanted = tuple(normalized_shape)
    count = len(wanted)
    if not count or tuple(input.shape[-count:]) != wanted:
        raise RuntimeError(
            f"Given normalized_shape={wanted}, expected input with shape [*, {wanted}], but got "
            f"input of size {tuple(input.shape)}"
        )
    axes = tuple(range(input.ndim - count, input.ndim))
    x, mean, scale = _standardised(input, axes, eps)
    return _affine(x, weight, bias), mean.detach(), scale.detach()


@function(method=False)
def native_group_norm(
    input: Any,
    weight: Any,
    bias: Any,
    N: int,  # noqa: N803
    C: int,  # noqa: N803
    HxW: int,  # noqa: N803
    group: int,
    eps: float,
) -> Any:
    """`group_norm`, the means, and one over the standard deviations."""
    grouped = ops.reshape(input, (N, group, C // group * HxW))
    x, mean, scale = _standardised(grouped, (2,), eps)
    per_channel = (1, C, *(1,) * (input.ndim - 2))
    weight, bias = (v if v is None else ops.reshape(v, per_channel) for v in (weight, bias))
    out = _affine(ops.reshape(x, input.shape), weight, bias)
    return out, ops.reshape(mean, (N, group)), ops.reshape(scale, (N, group))


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`batch_norm`, and the means and scales of the batch. In training, it writes running ones."""
    x, weight_, bias_ = unwrap(input), unwrap(weight), unwrap(bias)
    axes = (0, *range(2, x.ndim))
    shape = (1, x.shape[1], *(1,) * (x.ndim - 2))
    if training:
        out, mean, scale = _standardised(x, axes, eps)
        count = x.size // x.shape[1]
        variance = ops.var(x.detach(), axis=axes, correction=min(1, count - 1))
        for running, now in (
            (running_mean, ops.reshape(mean.detach(), (-1,))),
            (running_var, variance),
        ):
            if running is not None:
                running.copy_(running * (1 - momentum) + wrap(now) * momentum)
        mean, scale = (ops.reshape(v.detach(), (-1,)) for v in (mean, scale))
    else:
        if running_mean is None or running_var is None:
            raise RuntimeError("native_batch_norm(): needs running_mean and running_var to apply")
        middle = ops.reshape(unwrap(running_mean), shape)
        out = (x - middle) / ops.sqrt(ops.reshape(unwrap(running_var), shape) + eps)
        mean = scale = asarray(np.zeros(0, x.dtype))
    weight_, bias_ = (v if v is None else ops.reshape(v, shape) for v in (weight_, bias_))
    return wrap((_affine(out, weight_, bias_), mean, scale))  # type: ignore[no-any-return]
