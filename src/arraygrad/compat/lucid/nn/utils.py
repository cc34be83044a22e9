"""`lucid.nn.utils`: gradients of parameters, kept within bounds."""

from __future__ import annotations

from ...optimisers import clip_grad_value_, clipping
from ..tensors import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_"]

clip_grad_norm_ = clipping(Tensor._of, lambda g: g._inner)
