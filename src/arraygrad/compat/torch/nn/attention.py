"""Attention of one head and of several, with PyTorch's parameters."""

from __future__ import annotations

import math
from typing import Any

from .... import nn
from ....nn.attention import attention_weights
from ..functions.joining import cat
from ..handles import Tensor
from ..publish import function
from .forms import Source, activation, plain

linear, pad, dropout = plain("linear"), plain("pad"), activation("dropout")
_weights = function(attention_weights, name="scaled_dot_product_attention", method=False)
_attention = function(nn.scaled_dot_product_attention, method=False)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Means of the values, weighted by the softmax of the products of queries and keys."""
    options = (attn_mask, dropout_p, is_causal, scale, enable_gqa)
    return _attention(query, key, value, *options, generator=Source)


# --- several heads ---


def _projected(
    inputs: tuple[Tensor, Tensor, Tensor],
    in_proj_weight: Any,
    in_proj_bias: Any,
    separate: tuple[Any, Any, Any] | None,
) -> list[Any]:
    """Queries, keys and values, from the inputs by three linear maps."""
    if separate is None:
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        separate = in_proj_weight.chunk(3)
    elif any(w is None for w in separate):
        raise AssertionError("use_separate_proj_weight is True but a projection weight is None")
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    return [linear(x, w, b) for x, w, b in zip(inputs, separate, biases, strict=True)]


def _added_mask(mask: Any, like: Tensor) -> Any:
    """A mask as numbers that are added to scores."""
    if mask is None or mask.is_floating_point():
        return mask
    if str(mask.dtype) != "torch.bool":
        raise AssertionError("only bool and floating types of masks are supported")
    return like.new_zeros(mask.shape).masked_fill(mask, -math.inf)


def _one_more(mask: Any) -> Any:
    return None if mask is None else pad(mask, (0, 1))


def _heads(x: Tensor, count: int) -> Tensor:
    """From (length, samples, features) to (samples * heads, length, features of a head)."""
    length, samples, features = x.shape
    return x.reshape(length, samples * count, features // count).transpose(0, 1)  # type: ignore[no-any-return]


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Attention of several heads: its results, and the weights if they are wanted."""
    single = query.ndim == 2
    if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
        raise AssertionError("query, key and value must all have 2 axes, or all 3")
    if single:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, samples, features = query.shape
    if features != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {features}"
        )
    if features % num_heads:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {num_heads}")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _projected((query, key, value), in_proj_weight, in_proj_bias, separate)
    mask = _added_mask(attn_mask, query)
    ignored = _added_mask(key_padding_mask, query)
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must be given both, or none of them")
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k, v = (cat([x, b.repeat(1, samples, 1)]) for x, b in ((k, bias_k), (v, bias_v)))
        mask, ignored = _one_more(mask), _one_more(ignored)
    q = _heads(q, num_heads)
    k = _heads(k, num_heads) if static_k is None else static_k
    v = _heads(v, num_heads) if static_v is None else static_v
    if add_zero_attn:
        k, v = (cat([x, x.new_zeros(x.shape[0], 1, x.shape[2])], dim=1) for x in (k, v))
        mask, ignored = _one_more(mask), _one_more(ignored)
    mask = None if mask is None else mask.unsqueeze(0) if mask.ndim == 2 else mask
    if ignored is not None:
        if tuple(ignored.shape) != (samples, k.shape[1]):
            raise AssertionError(
                f"key_padding_mask must have shape {(samples, k.shape[1])}: {tuple(ignored.shape)}"
            )
        ignored = ignored.reshape(samples, 1, 1, -1).expand(-1, num_heads, -1, -1)
        ignored = ignored.reshape(samples * num_heads, 1, -1)
        mask = ignored if mask is None else mask + ignored
    weights = _weights(q, k, mask, None)
    if training and dropout_p:
        weights = dropout(weights, dropout_p)
    out = (weights @ v).transpose(0, 1).reshape(length, samples, features)
    out = linear(out, out_proj_weight, out_proj_bias)
    shares = None
    if need_weights:
        shares = weights.reshape(samples, num_heads, length, -1)
        shares = shares.mean(1) if average_attn_weights else shares
        shares = shares.squeeze(0) if single else shares
    return (out.squeeze(1) if single else out), shares
