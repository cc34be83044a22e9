"""Transformers: layers of attention and of linear maps, each with a norm and a way around it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ..creation import full, zeros
from ..functions.turning import triu
from ..handles import Tensor
from . import functional as F  # noqa: N812
from .containers import ModuleList
from .heads import MultiheadAttention
from .init import xavier_uniform_
from .layers import Dropout, LayerNorm, Linear
from .module import Module

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip

_ACTIVATIONS: dict[str, Callable[..., Any]] = {"relu": F.relu, "gelu": F.gelu}


class _Layer(Module):
    """What both kinds of layers have: attention to itself, and two linear maps."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[..., Any] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        of = {"device": device, "dtype": dtype}
        heads = {"dropout": dropout, "bias": bias, "batch_first": batch_first} | of
        self.self_attn = MultiheadAttention(d_model, nhead, **heads)
        if self._attends:
            self.multihead_attn = MultiheadAttention(d_model, nhead, **heads)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **of)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **of)
        self.norm_first = norm_first
        for i in range(1, 4 if self._attends else 3):
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **of))
            setattr(self, f"dropout{i}", Dropout(dropout))
        if isinstance(activation, str):
            if activation not in _ACTIVATIONS:
                raise RuntimeError(f"activation should be relu/gelu, not {activation}")
            activation = _ACTIVATIONS[activation]
        self.activation = activation

    _attends = False  # whether there is attention to what an encoder made

    def _through(self, x: Tensor, number: int, block: Callable[[Tensor], Tensor]) -> Tensor:
        """A block with a norm before or after, and a way around it."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + dropout(block(norm(x)))  # type: ignore[no-any-return]
        return norm(x + dropout(block(x)))  # type: ignore[no-any-return]

    def _mapped(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))  # type: ignore[no-any-return]


def _attending(
    heads: Module, memory: Tensor | None, mask: Any, padding: Any, is_causal: bool
) -> Callable[[Tensor], Tensor]:
    """Attention to a memory, or of the input to itself, as a function of the input."""

    def attend(x: Tensor) -> Tensor:
        looked_at = x if memory is None else memory
        return heads(  # type: ignore[no-any-return]
            x,
            looked_at,
            looked_at,
            attn_mask=mask,
            key_padding_mask=padding,
            need_weights=False,
            is_causal=is_causal,
        )[0]

    return attend


class TransformerEncoderLayer(_Layer):
    """Attention to itself, then linear maps."""

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Pass the input through the layer."""
        attend = _attending(self.self_attn, None, src_mask, src_key_padding_mask, is_causal)
        return self._through(self._through(src, 1, attend), 2, self._mapped)


class TransformerDecoderLayer(_Layer):
    """Attention to itself, then to the memory of an encoder, then linear maps."""

    _attends = True

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Pass the input through the layer."""
        attend = _attending(self.self_attn, None, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        look = _attending(
            self.multihead_attn, memory, memory_mask, memory_key_padding_mask, memory_is_causal
        )
        x = self._through(self._through(tgt, 1, attend), 2, look)
        return self._through(x, 3, self._mapped)


class _Stack(Module):
    """Copies of a layer, one after the other, and a norm."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def _run(self, x: Tensor, *args: Any, **keywords: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *args, **keywords)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """Several encoder layers."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        """Two options are about how PyTorch computes the same faster."""
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Pass the input through all layers."""
        return self._run(src, mask, src_key_padding_mask=src_key_padding_mask, is_causal=is_causal)


class TransformerDecoder(_Stack):
    """Several decoder layers."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(self, tgt: Tensor, memory: Tensor, *args: Any, **keywords: Any) -> Tensor:
        """Pass the input through all layers; masks are as in a layer."""
        return self._run(tgt, memory, *args, **keywords)


class Transformer(Module):
    """An encoder and a decoder. The other options are those of their layers."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        *args: Any,
        **options: Any,
    ) -> None:
        super().__init__()
        for name, stack, kind, count in (
            ("encoder", TransformerEncoder, TransformerEncoderLayer, num_encoder_layers),
            ("decoder", TransformerDecoder, TransformerDecoderLayer, num_decoder_layers),
        ):
            layer = kind(d_model, nhead, *args, **options)
            setattr(self, name, stack(layer, count, copy.deepcopy(layer.norm1)))
            self.batch_first = layer.self_attn.batch_first
        for parameter in self.parameters():
            if parameter.ndim > 1:
                xavier_uniform_(parameter)
        self.d_model, self.nhead = d_model, nhead

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The decoder's result for a target, with the encoder's for a source as its memory.

        The last three say of a mask that it is causal.
        """
        memory = self.encoder(src, src_mask, src_key_padding_mask, bool(src_is_causal))
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return self.decoder(  # type: ignore[no-any-return]
            tgt, memory, *masks, bool(tgt_is_causal), memory_is_causal
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """A mask that hides what comes later: minus infinity there, and zero elsewhere."""
        of = {"device": device, "dtype": dtype}
        return zeros(sz, sz, **of) + triu(full((sz, sz), float("-inf"), **of), diagonal=1)
