"""Modules without parameters: each is a function of `functional` with its options."""

from __future__ import annotations

import inspect
from typing import Any

from ..handles import Tensor
from . import functional as F  # noqa: N812
from .forms import applied, classes
from .module import Module

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d",
    "AvgPool2d", "AvgPool3d", "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "ChannelShuffle",
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
    "ConstantPad3d", "CosineEmbeddingLoss", "CosineSimilarity", "CrossEntropyLoss", "Fold",
    "GaussianNLLLoss", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "HingeEmbeddingLoss",
    "HuberLoss", "KLDivLoss", "L1Loss", "LPPool1d", "LPPool2d", "LPPool3d", "LeakyReLU",
    "LocalResponseNorm", "LogSigmoid", "LogSoftmax", "MSELoss", "MarginRankingLoss", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "Mish",
    "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss",
    "PairwiseDistance", "PixelShuffle", "PixelUnshuffle", "PoissonNLLLoss", "RReLU", "ReLU",
    "ReLU6", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "SiLU", "Sigmoid", "SmoothL1Loss", "SoftMarginLoss",
    "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
    "Threshold", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "Unfold", "Upsample",
    "UpsamplingBilinear2d", "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


class _Applies(Module):
    """A module around a function, whose options are its attributes."""

    _function: Any
    _options: dict[str, Any]  # their values, where they have one

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        own, names = type(self).__name__, list(self._options)
        if len(args) > len(names):
            raise TypeError(f"{own}() takes {len(names)} arguments, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        for name in kwargs:
            if name not in names or name in given:
                raise TypeError(f"{own}() has no parameter {name!r}, or two values for it")
        for name, value in {**self._options, **given, **kwargs}.items():
            if value is inspect.Parameter.empty:
                raise TypeError(f"{own}() needs {name!r}")
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *args: Any) -> Any:
        """Apply the function."""
        return type(self)._function(*args, **{name: getattr(self, name) for name in self._options})

    def extra_repr(self) -> str:
        """The options that are not the usual ones."""
        options = ((n, v, getattr(self, n)) for n, v in self._options.items())
        return ", ".join(
            f"{name}={now}"
            for name, usual, now in options
            if not isinstance(now, Tensor) and now != usual
        )


def _module(name: str, function: Any, options: str = "") -> Any:
    """A module for a function: its options in the order that the module takes them."""
    parameters = inspect.signature(function).parameters
    values = {
        option: parameters[option].default
        if option in parameters
        else False  # `inplace`, which functions take beside their own parameters
        for option in options.split()
    }
    members = {
        "_function": staticmethod(function),
        "_options": values,
        "__doc__": function.__doc__,
        "__module__": __name__,
    }
    return type(name, (_Applies,), members)


# --- activations ---

ReLU = _module("ReLU", F.relu, "inplace")
ReLU6 = _module("ReLU6", F.relu6, "inplace")
LeakyReLU = _module("LeakyReLU", F.leaky_relu, "negative_slope inplace")
ELU = _module("ELU", F.elu, "alpha inplace")
SELU = _module("SELU", F.selu, "inplace")
CELU = _module("CELU", F.celu, "alpha inplace")
GELU = _module("GELU", F.gelu, "approximate")
SiLU = _module("SiLU", F.silu, "inplace")
Mish = _module("Mish", F.mish, "inplace")
Sigmoid = _module("Sigmoid", F.sigmoid)
Tanh = _module("Tanh", F.tanh)
Softplus = _module("Softplus", F.softplus, "beta threshold")
Softsign = _module("Softsign", F.softsign)
Softshrink = _module("Softshrink", F.softshrink, "lambd")
Hardshrink = _module("Hardshrink", F.hardshrink, "lambd")
Tanhshrink = _module("Tanhshrink", F.tanhshrink)
LogSigmoid = _module("LogSigmoid", F.logsigmoid)
Hardtanh = _module("Hardtanh", F.hardtanh, "min_val max_val inplace")
Hardsigmoid = _module("Hardsigmoid", F.hardsigmoid, "inplace")
Hardswish = _module("Hardswish", F.hardswish, "inplace")
Threshold = _module("Threshold", F.threshold, "threshold value inplace")
GLU = _module("GLU", F.glu, "dim")
Softmax = _module("Softmax", F.softmax, "dim")
Softmin = _module("Softmin", F.softmin, "dim")
LogSoftmax = _module("LogSoftmax", F.log_softmax, "dim")


class Softmax2d(Module):
    """Exponentials that sum up to one over the channels of an image."""

    def forward(self, input: Tensor) -> Any:
        """Apply softmax."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


class RReLU(Module):
    """Positive elements, and others times a slope that is random in training."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Any:
        """Apply the function."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


# --- windows and sizes ---


def _pooling(kind: str, function: str, options: str) -> list[Any]:
    return [_module(f"{kind}{n}d", getattr(F, f"{function}{n}d"), options) for n in (1, 2, 3)]


_MAX = "kernel_size stride padding dilation return_indices ceil_mode"
_AVERAGE = "kernel_size stride padding ceil_mode count_include_pad"
MaxPool1d, MaxPool2d, MaxPool3d = _pooling("MaxPool", "max_pool", _MAX)
AvgPool1d = _module("AvgPool1d", F.avg_pool1d, _AVERAGE)
AvgPool2d = _module("AvgPool2d", F.avg_pool2d, _AVERAGE + " divisor_override")
AvgPool3d = _module("AvgPool3d", F.avg_pool3d, _AVERAGE + " divisor_override")
LPPool1d, LPPool2d, LPPool3d = _pooling(
    "LPPool", "lp_pool", "norm_type kernel_size stride ceil_mode"
)
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = _pooling(
    "AdaptiveAvgPool", "adaptive_avg_pool", "output_size"
)
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = _pooling(
    "AdaptiveMaxPool", "adaptive_max_pool", "output_size return_indices"
)


class _Unpooling(Module):
    """Elements at the places that `MaxPool` found them at, and zeros."""

    _unpool: Any

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Any:
        """Put the elements back."""
        options = (self.kernel_size, self.stride, self.padding, output_size)
        return type(self)._unpool(input, indices, *options)


MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = classes(
    _Unpooling, "MaxUnpool", _unpool=applied("max_unpool")
)
Unfold = _module("Unfold", F.unfold, "kernel_size dilation padding stride")
Fold = _module("Fold", F.fold, "output_size kernel_size dilation padding stride")
PixelShuffle = _module("PixelShuffle", F.pixel_shuffle, "upscale_factor")
PixelUnshuffle = _module("PixelUnshuffle", F.pixel_unshuffle, "downscale_factor")
ChannelShuffle = _module("ChannelShuffle", F.channel_shuffle, "groups")
Upsample = _module(
    "Upsample",
    F.interpolate,
    "size scale_factor mode align_corners recompute_scale_factor",
)
UpsamplingNearest2d = _module("UpsamplingNearest2d", F.upsample_nearest, "size scale_factor")
UpsamplingBilinear2d = _module("UpsamplingBilinear2d", F.upsample_bilinear, "size scale_factor")
LocalResponseNorm = _module("LocalResponseNorm", F.local_response_norm, "size alpha beta k")


class _Padding(Module):
    """More elements at the ends of the last axes."""

    _mode: str
    _axes: int

    def __init__(self, padding: Any) -> None:
        super().__init__()
        many = isinstance(padding, tuple | list)
        self.padding = tuple(padding) if many else (padding,) * (2 * self._axes)
        self.value: Any = None

    def forward(self, input: Tensor) -> Any:
        """Pad."""
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        """Its widths."""
        return f"{self.padding}"


class _ConstantPadding(_Padding):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value


def _paddings(kind: str, mode: str, base: type[_Padding] = _Padding) -> list[Any]:
    return classes(base, kind, _mode=lambda n: mode, _axes=int)


ZeroPad1d, ZeroPad2d, ZeroPad3d = _paddings("ZeroPad", "constant")
ConstantPad1d, ConstantPad2d, ConstantPad3d = _paddings("ConstantPad", "constant", _ConstantPadding)
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _paddings("ReflectionPad", "reflect")
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _paddings("ReplicationPad", "replicate")
CircularPad1d, CircularPad2d, CircularPad3d = _paddings("CircularPad", "circular")


# --- losses and distances ---

_HOW = " size_average reduce reduction"
MSELoss = _module("MSELoss", F.mse_loss, _HOW)
L1Loss = _module("L1Loss", F.l1_loss, _HOW)
SmoothL1Loss = _module("SmoothL1Loss", F.smooth_l1_loss, _HOW + " beta")
HuberLoss = _module("HuberLoss", F.huber_loss, "reduction delta")
KLDivLoss = _module("KLDivLoss", F.kl_div, _HOW + " log_target")
BCELoss = _module("BCELoss", F.binary_cross_entropy, "weight" + _HOW)
BCEWithLogitsLoss = _module(
    "BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, "weight" + _HOW + " pos_weight"
)
PoissonNLLLoss = _module(
    "PoissonNLLLoss", F.poisson_nll_loss, "log_input full size_average eps reduce reduction"
)
GaussianNLLLoss = _module("GaussianNLLLoss", F.gaussian_nll_loss, "full eps reduction")
NLLLoss = _module("NLLLoss", F.nll_loss, "weight size_average ignore_index reduce reduction")
CrossEntropyLoss = _module(
    "CrossEntropyLoss",
    F.cross_entropy,
    "weight size_average ignore_index reduce reduction label_smoothing",
)
CTCLoss = _module("CTCLoss", F.ctc_loss, "blank reduction zero_infinity")
MultiMarginLoss = _module("MultiMarginLoss", F.multi_margin_loss, "p margin weight" + _HOW)
MultiLabelMarginLoss = _module("MultiLabelMarginLoss", F.multilabel_margin_loss, _HOW)
MultiLabelSoftMarginLoss = _module(
    "MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss, "weight" + _HOW
)
MarginRankingLoss = _module("MarginRankingLoss", F.margin_ranking_loss, "margin" + _HOW)
HingeEmbeddingLoss = _module("HingeEmbeddingLoss", F.hinge_embedding_loss, "margin" + _HOW)
SoftMarginLoss = _module("SoftMarginLoss", F.soft_margin_loss, _HOW)
CosineEmbeddingLoss = _module("CosineEmbeddingLoss", F.cosine_embedding_loss, "margin" + _HOW)
TripletMarginLoss = _module("TripletMarginLoss", F.triplet_margin_loss, "margin p eps swap" + _HOW)
TripletMarginWithDistanceLoss = _module(
    "TripletMarginWithDistanceLoss",
    F.triplet_margin_with_distance_loss,
    "distance_function margin swap reduction",
)
CosineSimilarity = _module("CosineSimilarity", F.cosine_similarity, "dim eps")
PairwiseDistance = _module("PairwiseDistance", F.pairwise_distance, "p eps keepdim")
