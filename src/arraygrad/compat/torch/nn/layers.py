"""Layers, activations, losses and containers: modules around the functions of `functional`."""

from __future__ import annotations

import math
from typing import Any

from ..autograd import no_grad
from ..creation import empty, ones, zeros
from ..handles import Tensor
from . import functional as F  # noqa: N812
from .module import Module
from .parameter import Parameter


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
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        with no_grad():
            self.weight.uniform_(-bound, bound)
            if self.bias is not None:
                self.bias.uniform_(-bound, bound)

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Its sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class _Convolution(Module):
    """Sums of products of filters and the windows of a signal."""

    _convolve: Any
    _axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        given = kernel_size
        size = tuple(given) if isinstance(given, tuple | list) else (given,) * self._axes
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.weight = Parameter(empty(out_channels, in_channels // groups, *size, dtype=dtype))
        bound = 1 / math.sqrt(in_channels // groups * math.prod(size))
        self.bias = Parameter(empty(out_channels, dtype=dtype)) if bias else None
        with no_grad():
            self.weight.uniform_(-bound, bound)
            if self.bias is not None:
                self.bias.uniform_(-bound, bound)

    def forward(self, input: Tensor) -> Any:
        """Apply the filters."""
        options = (self.stride, self.padding, self.dilation, self.groups)
        return type(self)._convolve(input, self.weight, self.bias, *options)


class Conv1d(_Convolution):
    """Filters along one axis."""

    _convolve, _axes = staticmethod(F.conv1d), 1


class Conv2d(_Convolution):
    """Filters along two axes."""

    _convolve, _axes = staticmethod(F.conv2d), 2


class Embedding(Module):
    """The rows of a matrix that an index names."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx
        self.weight = Parameter(empty(num_embeddings, embedding_dim, dtype=dtype))
        with no_grad():
            self.weight.normal_()
            if padding_idx is not None:
                self.weight[padding_idx] = 0.0

    def forward(self, input: Tensor) -> Any:
        """Look up."""
        return F.embedding(input, self.weight, self.padding_idx)


class LayerNorm(Module):
    """Elements with mean zero and variance one along the last axes."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True
    ) -> None:
        super().__init__()
        given = normalized_shape
        self.normalized_shape = (given,) if isinstance(given, int) else tuple(given)
        self.eps = eps
        self.weight = Parameter(ones(*self.normalized_shape)) if elementwise_affine else None
        self.bias = Parameter(zeros(*self.normalized_shape)) if elementwise_affine else None

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


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
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Any:
        """Unflatten."""
        return input.unflatten(self.dim, self.unflattened_size)


class PReLU(Module):
    """Positive elements, and others times a slope that is learnt."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        self.weight = Parameter(ones(num_parameters, dtype=dtype) * init)

    def forward(self, input: Tensor) -> Any:
        """Apply the function."""
        return F.prelu(input, self.weight)


class Identity(Module):
    """Does nothing."""

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
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Any:
        """Drop."""
        return self._drop(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """Its probability."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout2d(Dropout):
    """Channels set to zero with a probability, in training."""

    _drop = staticmethod(F.dropout2d)


class AlphaDropout(Dropout):
    """Elements set to SELU's lowest value with a probability, in training."""

    _drop = staticmethod(F.alpha_dropout)


class FeatureAlphaDropout(Dropout):
    """Channels set to SELU's lowest value with a probability, in training."""

    _drop = staticmethod(F.feature_alpha_dropout)


# --- activations and losses ---


class _Applies(Module):
    """A module around a function, whose keywords are its own."""

    _function: Any
    _names: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        given = dict(zip(self._names, args, strict=False)) | kwargs
        unknown = [name for name in given if name not in self._names]
        if unknown:
            raise TypeError(f"{type(self).__name__}() has no parameter {unknown[0]!r}")
        for name, value in given.items():
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)
        self._given = list(given)

    def forward(self, *args: Any) -> Any:
        """Apply the function."""
        return type(self)._function(*args, **{name: getattr(self, name) for name in self._given})


def _module(name: str, function: Any, *names: str) -> type[Module]:
    members = {"_function": staticmethod(function), "_names": names, "__doc__": function.__doc__}
    return type(name, (_Applies,), members)


ReLU = _module("ReLU", F.relu, "inplace")
ReLU6 = _module("ReLU6", F.relu6, "inplace")
LeakyReLU = _module("LeakyReLU", F.leaky_relu, "negative_slope", "inplace")
ELU = _module("ELU", F.elu, "alpha", "inplace")
SELU = _module("SELU", F.selu, "inplace")
GELU = _module("GELU", F.gelu, "approximate")
SiLU = _module("SiLU", F.silu, "inplace")
Sigmoid = _module("Sigmoid", F.sigmoid)
Tanh = _module("Tanh", F.tanh)
Softplus = _module("Softplus", F.softplus, "beta", "threshold")
Softmax = _module("Softmax", F.softmax, "dim")
LogSoftmax = _module("LogSoftmax", F.log_softmax, "dim")
LogSigmoid = _module("LogSigmoid", F.logsigmoid)
Hardtanh = _module("Hardtanh", F.hardtanh, "min_val", "max_val", "inplace")
Threshold = _module("Threshold", F.threshold, "threshold", "value", "inplace")
CELU = _module("CELU", F.celu, "alpha", "inplace")
Mish = _module("Mish", F.mish, "inplace")
Hardsigmoid = _module("Hardsigmoid", F.hardsigmoid, "inplace")
Hardswish = _module("Hardswish", F.hardswish, "inplace")
Hardshrink = _module("Hardshrink", F.hardshrink, "lambd")
Softshrink = _module("Softshrink", F.softshrink, "lambd")
Softmin = _module("Softmin", F.softmin, "dim")
Softsign = _module("Softsign", F.softsign)
Tanhshrink = _module("Tanhshrink", F.tanhshrink)
GLU = _module("GLU", F.glu, "dim")
CosineSimilarity = _module("CosineSimilarity", F.cosine_similarity, "dim", "eps")
PairwiseDistance = _module("PairwiseDistance", F.pairwise_distance, "p", "eps", "keepdim")
MaxPool1d = _module("MaxPool1d", F.max_pool1d, "kernel_size", "stride", "padding")
AvgPool1d = _module("AvgPool1d", F.avg_pool1d, "kernel_size", "stride", "padding")
MaxPool2d = _module("MaxPool2d", F.max_pool2d, "kernel_size", "stride", "padding")
AvgPool2d = _module("AvgPool2d", F.avg_pool2d, "kernel_size", "stride", "padding")
MSELoss = _module("MSELoss", F.mse_loss, "reduction")
L1Loss = _module("L1Loss", F.l1_loss, "reduction")
SmoothL1Loss = _module("SmoothL1Loss", F.smooth_l1_loss, "reduction", "beta")
HuberLoss = _module("HuberLoss", F.huber_loss, "reduction", "delta")
KLDivLoss = _module("KLDivLoss", F.kl_div, "reduction", "log_target")
BCELoss = _module("BCELoss", F.binary_cross_entropy, "weight", "reduction")
BCEWithLogitsLoss = _module(
    "BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, "weight", "reduction", "pos_weight"
)
MarginRankingLoss = _module("MarginRankingLoss", F.margin_ranking_loss, "margin", "reduction")
HingeEmbeddingLoss = _module("HingeEmbeddingLoss", F.hinge_embedding_loss, "margin", "reduction")
CosineEmbeddingLoss = _module("CosineEmbeddingLoss", F.cosine_embedding_loss, "margin", "reduction")
SoftMarginLoss = _module("SoftMarginLoss", F.soft_margin_loss, "reduction")
MultiLabelSoftMarginLoss = _module(
    "MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss, "weight", "reduction"
)
TripletMarginLoss = _module(
    "TripletMarginLoss", F.triplet_margin_loss, "margin", "p", "eps", "swap", "reduction"
)
PoissonNLLLoss = _module(
    "PoissonNLLLoss", F.poisson_nll_loss, "log_input", "full", "eps", "reduction"
)
GaussianNLLLoss = _module("GaussianNLLLoss", F.gaussian_nll_loss, "full", "eps", "reduction")
NLLLoss = _module("NLLLoss", F.nll_loss, "weight", "ignore_index", "reduction")
CrossEntropyLoss = _module(
    "CrossEntropyLoss", F.cross_entropy, "weight", "ignore_index", "reduction", "label_smoothing"
)
