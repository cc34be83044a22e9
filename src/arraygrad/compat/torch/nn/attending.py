"""Attention: softmax of products of queries and keys, times values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....arrays.creation import asarray
from ..handles import Tensor, wrap
from .dropping import dropout


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Attention. A mask is added to the logits, or, if it is of booleans, says where to look."""
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = (t.repeat_interleave(groups, -3) for t in (key, value))
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    logits = query @ key.transpose(-2, -1) * factor
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("is_causal=True and attn_mask cannot be given together")
        seen = np.tril(np.ones(tuple(logits.shape[-2:]), np.bool_))
        attn_mask = wrap(asarray(seen))
    weights = masked(logits, attn_mask, True).softmax(-1)
    if attn_mask is not None and attn_mask.dtype.kind == "b":  # nothing to look at: zeros
        weights = weights.masked_fill(~attn_mask.any(-1, keepdim=True), 0.0)
    return dropout(weights, dropout_p) @ value


def masked(logits: Any, mask: Any, looks_where: bool) -> Any:
    """Logits with a mask: numbers to add, or booleans that say where to look, or where not to."""
    if mask is None:
        return logits
    if mask.dtype.kind != "b":
        return logits + mask
    return logits.masked_fill(~mask if looks_where else mask, -math.inf)
