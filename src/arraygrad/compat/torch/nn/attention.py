"""A layer of attention."""

from __future__ import annotations

import math
from typing import Any

from ..creation import empty, zeros
from ..handles import Tensor
from . import functional as F  # noqa: N812
from .attending import masked
from .init import xavier_uniform_
from .layers import Linear
from .module import Module
from .parameter import Parameter


class MultiheadAttention(Module):
    """Attention in several heads, each in its own directions."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        *,
        batch_first: bool = False,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads
        self.in_proj_weight = Parameter(empty(3 * embed_dim, embed_dim, dtype=dtype))
        xavier_uniform_(self.in_proj_weight)
        self.in_proj_bias = Parameter(zeros(3 * embed_dim, dtype=dtype)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype=dtype)
        if bias:
            self.out_proj.bias.data.zero_()

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> Any:
        """The attention, and its weights if they are wanted."""
        single = query.ndim == 2
        given = [t.unsqueeze(1) if single else t for t in (query, key, value)]
        if self.batch_first and not single:
            given = [t.transpose(0, 1) for t in given]
        size = self.embed_dim
        parts = [
            F.linear(
                t,
                self.in_proj_weight[k * size : (k + 1) * size],
                None if self.in_proj_bias is None else self.in_proj_bias[k * size : (k + 1) * size],
            )
            for k, t in enumerate(given)
        ]
        batch = parts[0].shape[1]
        q, k, v = (
            p.reshape(p.shape[0], batch, self.num_heads, self.head_dim).permute(1, 2, 0, 3)
            for p in parts
        )
        logits = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if attn_mask is not None and attn_mask.ndim == 3:
            attn_mask = attn_mask.reshape(batch, self.num_heads, *attn_mask.shape[1:])
        if is_causal and attn_mask is None:
            raise RuntimeError("is_causal=True needs the attn_mask that it is a hint for")
        logits = masked(logits, attn_mask, False)
        if key_padding_mask is not None:
            mask = key_padding_mask.unsqueeze(0) if single else key_padding_mask
            logits = masked(logits, mask[:, None, None, :], False)
        weights = logits.softmax(-1)
        used = F.dropout(weights, self.dropout, self.training)
        mixed = (used @ v).permute(2, 0, 1, 3).reshape(parts[0].shape[0], batch, size)
        out = self.out_proj(mixed)
        out = out.squeeze(1) if single else out.transpose(0, 1) if self.batch_first else out
        if not need_weights:
            return out, None
        weights = weights.mean(1) if average_attn_weights else weights
        return out, weights.squeeze(0) if single else weights
