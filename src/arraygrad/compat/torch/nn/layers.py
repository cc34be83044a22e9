"""Layers: linear maps and tables with parameters to learn, and dropout."""

from __future__ import annotations

import math
from typing import Any

from ..autograd import no_grad
from ..creation import empty, full
from ..handles import Tensor
from . import functional as F  # noqa: N812
from .module import Module
from .parameter import Parameter

__all__ = [
    "AlphaDropout", "Bilinear", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Embedding",
    "EmbeddingBag", "FeatureAlphaDropout", "Flatten", "Identity", "Linear", "PReLU", "Unflatten",
]  # fmt: skip


class Linear(Module):
    """`x @ weight.T + bias`."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, dtype=dtype, device=device))
        if bias:
            self.bias = Parameter(empty(out_features, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        draw(self, 1 / math.sqrt(self.in_features) if self.in_features else 0.0)

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Its sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    """`x1 @ weight[k] @ x2 + bias[k]`, for each `k`."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        of = {"dtype": dtype, "device": device}
        self.weight = Parameter(empty(out_features, in1_features, in2_features, **of))
        self.register_parameter("bias", Parameter(empty(out_features, **of)) if bias else None)
        draw(self, 1 / math.sqrt(in1_features))

    def forward(self, input1: Tensor, input2: Tensor) -> Any:
        """Apply the layer."""
        return F.bilinear(input1, input2, self.weight, self.bias)


def draw(layer: Any, bound: float) -> None:
    """First values of a weight and a bias."""
    with no_grad():
        layer.weight.uniform_(-bound, bound)
        if layer.bias is not None:
            layer.bias.uniform_(-bound, bound)


# --- tables ---


class _Table(Module):
    """A matrix whose rows are read."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        max_norm: float | None,
        norm_type: float,
        scale_grad_by_freq: bool,
        of: dict[str, Any],
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx}")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.weight = Parameter(empty(num_embeddings, embedding_dim, **of))
        with no_grad():
            self.weight.normal_()
            if self.padding_idx is not None:
                self.weight[self.padding_idx] = 0.0

    def extra_repr(self) -> str:
        """Its sizes."""
        return f"{self.num_embeddings}, {self.embedding_dim}"


class Embedding(_Table):
    """The rows of a matrix that an index names."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = (padding_idx, max_norm, norm_type, scale_grad_by_freq)
        super().__init__(
            num_embeddings, embedding_dim, *options, {"dtype": dtype, "device": device}
        )
        self.sparse = sparse

    def forward(self, input: Tensor) -> Any:
        """Look up."""
        options = (self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)
        return F.embedding(input, self.weight, self.padding_idx, *options)


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows that each bag of indices names."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = (padding_idx, max_norm, norm_type, scale_grad_by_freq)
        super().__init__(
            num_embeddings, embedding_dim, *options, {"dtype": dtype, "device": device}
        )
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Any:
        """Look up, and join."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )


class PReLU(Module):
    """Positive elements, and others times a slope that is learned."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(full((num_parameters,), init, dtype=dtype, device=device))

    def forward(self, input: Tensor) -> Any:
        """Apply the function."""
        return F.prelu(input, self.weight)


# --- without parameters ---


class Flatten(Module):
    """Several axes as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Any:
        """Flatten."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """One axis as several."""

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Any:
        """Unflatten."""
        return input.unflatten(self.dim, self.unflattened_size)


class Identity(Module):
    """Does nothing, whatever it is given to start with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input itself."""
        return input


class Dropout(Module):
    """Elements set to zero with a probability, in training."""

    _drop = staticmethod(F.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Any:
        """Drop."""
        return self._drop(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Its probability."""
        return f"p={self.p}, inplace={self.inplace}"


def _dropping(name: str, function: Any) -> Any:
    members = {"_drop": staticmethod(function), "__doc__": function.__doc__, "__module__": __name__}
    return type(name, (Dropout,), members)


Dropout1d, Dropout2d, Dropout3d = (
    _dropping(f"Dropout{n}d", getattr(F, f"dropout{n}d")) for n in (1, 2, 3)
)
AlphaDropout = _dropping("AlphaDropout", F.alpha_dropout)
FeatureAlphaDropout = _dropping("FeatureAlphaDropout", F.feature_alpha_dropout)
