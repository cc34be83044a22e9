"""`MultiheadAttention`: the layer around `multi_head_attention_forward`."""

from __future__ import annotations

from typing import Any

from ..creation import empty, zeros
from ..handles import Tensor
from . import functional as F  # noqa: N812
from . import init
from .layers import Linear
from .module import Module
from .parameter import Parameter

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of several heads, with linear maps before and after."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim {embed_dim} and num_heads {num_heads} must be positive")
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        of = {"dtype": dtype, "device": device}
        same = self.kdim == self.vdim == embed_dim
        for name, shape, is_there in (
            ("q_proj_weight", (embed_dim, embed_dim), not same),
            ("k_proj_weight", (embed_dim, self.kdim), not same),
            ("v_proj_weight", (embed_dim, self.vdim), not same),
            ("in_proj_weight", (3 * embed_dim, embed_dim), same),
        ):
            self.register_parameter(name, Parameter(empty(*shape, **of)) if is_there else None)
            if is_there:
                init.xavier_uniform_(getattr(self, name))
        biased = Parameter(zeros(3 * embed_dim, **of)) if bias else None
        self.register_parameter("in_proj_bias", biased)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, **of)
        if bias:
            init.zeros_(self.out_proj.bias)
        for name in ("bias_k", "bias_v"):
            value = Parameter(empty(1, 1, embed_dim, **of)) if add_bias_kv else None
            self.register_parameter(name, value)
            if value is not None:
                init.xavier_normal_(value)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """The results, and the weights of the heads if they are wanted."""
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        out, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=self.in_proj_weight is None,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (out.transpose(0, 1) if turned else out), weights
