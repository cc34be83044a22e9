"""Layers, by a table: each is a function of `functional`, its options and its parameters."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from ....nn.common import each, one_of
from ..autograd import no_grad
from ..creation import empty
from ..handles import Tensor
from . import functional as F  # noqa: N812
from .module import Module
from .parameter import Parameter

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d",
    "AlphaDropout", "AvgPool1d", "AvgPool2d", "AvgPool3d", "BCELoss", "BCEWithLogitsLoss",
    "Bilinear", "CTCLoss", "ChannelShuffle", "CircularPad1d", "CircularPad2d", "CircularPad3d",
    "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Conv1d", "Conv2d", "Conv3d",
    "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "CosineEmbeddingLoss",
    "CosineSimilarity", "CrossEntropyLoss", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d",
    "Embedding", "EmbeddingBag", "FeatureAlphaDropout", "Flatten", "Fold", "GaussianNLLLoss",
    "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "HingeEmbeddingLoss",
    "HuberLoss", "Identity", "KLDivLoss", "L1Loss", "LPPool1d", "LPPool2d", "LPPool3d", "LayerNorm",
    "LeakyReLU", "Linear", "LocalResponseNorm", "LogSigmoid", "LogSoftmax", "MSELoss",
    "MarginRankingLoss", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d", "Mish", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "NLLLoss", "PReLU", "PairwiseDistance", "PixelShuffle", "PixelUnshuffle", "PoissonNLLLoss",
    "RMSNorm", "RReLU", "ReLU", "ReLU6", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d",
    "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "SiLU", "Sigmoid", "SmoothL1Loss",
    "SoftMarginLoss", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign",
    "Tanh", "Tanhshrink", "Threshold", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
    "Unflatten", "Unfold", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d", "ZeroPad1d",
    "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip

_REQUIRED = inspect.Parameter.empty


class Layer(Module):
    """A module around a function. Its options are attributes, its parameters have shapes."""

    _function: Any
    _options: dict[str, Any]  # their usual values
    _marks: dict[str, str]  # how they print: "?" if unusual, "*" without the name, "-" never
    _inputs: list[str]  # the names of the inputs, if they are not the function's first parameters
    _passed: list[str]  # what the function gets, beside its inputs
    _plan: Callable[
        ..., dict[str, Any]
    ]  # the shapes of the parameters, and options that it changes
    _start: Callable[[Any], None]  # gives the parameters their first values

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        own, names = type(self).__name__, list(self._options)
        if len(args) > len(names):
            raise TypeError(f"{own}() takes {len(names)} arguments, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        for name in kwargs:
            if name not in names or name in given:
                raise TypeError(f"{own}() has no parameter {name!r}, or two values for it")
        options = {**self._options, **given, **kwargs}
        for name, value in options.items():
            if value is _REQUIRED:
                raise TypeError(f"{own}() needs {name!r}")
        of = {name: options.pop(name, None) for name in ("device", "dtype")}
        changed = type(self)._plan(**options)
        shapes = {name: changed.pop(name) for name in ("weight", "bias") if name in changed}
        for name, value in {**options, **changed}.items():
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            elif name not in shapes:
                setattr(self, name, value)
        for name, shape in shapes.items():
            self.register_parameter(name, None if shape is None else Parameter(empty(shape, **of)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Give the parameters their first values."""
        if any(p is not None for p in self._parameters.values()):
            with no_grad():
                type(self)._start(self)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the function."""
        if self._inputs:
            args, kwargs = (), dict(zip(self._inputs, args, strict=False)) | kwargs
        held = self._parameters
        options = {
            name: held[name] if name in held else getattr(self, name) for name in self._passed
        }
        return type(self)._function(*args, **(options | kwargs if kwargs else options))

    def extra_repr(self) -> str:
        """The options that print, as PyTorch prints them."""
        found = []
        for name, mark in self._marks.items():
            usual = self._options[name]
            held = name in self._parameters
            value = self._parameters[name] is not None if held else getattr(self, name, usual)
            same = value in (usual, (usual,) * (len(value) if isinstance(value, tuple) else 0))
            if mark != "-" and not (mark == "?" and same):
                text = str(value) if name.startswith("padding") else repr(value)
                found.append(text if mark == "*" else f"{name}={text}")
        return ", ".join(found)


def _made(name: str, function: Any, options: dict[str, Any], base: Any, **members: Any) -> Any:
    """A type of layers: the function gets those of its parameters that the layer has."""
    silent = name.endswith(("Loss", "Similarity", "Distance"))
    marks = {name.strip("?*-"): "-" if silent else name[-1] for name in options}
    options = {name.strip("?*-"): value for name, value in options.items()}
    parameters = inspect.signature(function).parameters
    held = {*options, *members.pop("parameters", ()), "training"}
    own = {
        "_function": staticmethod(function),
        "_options": options,
        "_marks": {name: mark for name, mark in marks.items() if name not in ("device", "dtype")},
        "_inputs": [],
        "_passed": [p for p in parameters if p in held],
        "__doc__": function.__doc__,
        "__module__": __name__,
    }
    return type(name, (base,), {**own, **members})


def module(name: str, function: Any, options: str | None = None, plan: Any = lambda **_: {}) -> Any:
    """The module of a function without parameters to learn: its options, in the module's order.

    They are those of the function, if none are given. A mark after an option says how it prints:
    see `Layer`.
    """
    parameters = inspect.signature(function).parameters
    if options is None:
        known = [n for n, p in parameters.items() if p.default is not p.empty and n not in _HIDDEN]
        options = " ".join(known).replace("inplace", "inplace?")
    usual = {n: parameters[n.strip("?*-")].default for n in options.split()}
    return _made(name, function, usual, Layer, _plan=staticmethod(plan))


_HIDDEN = ("_stacklevel", "dtype", "out", "training")


def layer(
    name: str,
    function: Any,
    options: str,
    plan: Callable[..., dict[str, Any]],
    start: Callable[[Any], None],
    inputs: str = "",
    base: type[Layer] = Layer,
) -> Any:
    """The module of a function with a weight, and perhaps a bias.

    `options` are in the module's order. Their usual values are those of the plan's parameters, or
    else of the function's. The plan gives the shapes of weight and bias, or None for one that is
    not there, and other values for some options.
    """
    known = {n: p.default for n, p in inspect.signature(function).parameters.items()}
    known |= {n: p.default for n, p in inspect.signature(plan).parameters.items()}
    usual = {n: known.get(n.strip("?*-"), _REQUIRED) for n in options.split()} | {
        "device": None,
        "dtype": None,
    }
    members = {"_inputs": inputs.split(), "_plan": staticmethod(plan)}
    members["_start"] = staticmethod(start)
    return _made(name, function, usual, base, parameters=("weight", "bias"), **members)


# --- activations ---

ReLU = module("ReLU", F.relu)
ReLU6 = module("ReLU6", F.relu6)
LeakyReLU = module("LeakyReLU", F.leaky_relu)
ELU = module("ELU", F.elu)
SELU = module("SELU", F.selu)
CELU = module("CELU", F.celu)
GELU = module("GELU", F.gelu)
SiLU = module("SiLU", F.silu)
Mish = module("Mish", F.mish)
Sigmoid = module("Sigmoid", F.sigmoid)
Tanh = module("Tanh", F.tanh)
Softplus = module("Softplus", F.softplus)
Softsign = module("Softsign", F.softsign)
Softshrink = module("Softshrink", F.softshrink, "lambd*")
Hardshrink = module("Hardshrink", F.hardshrink, "lambd*")
Tanhshrink = module("Tanhshrink", F.tanhshrink)
LogSigmoid = module("LogSigmoid", F.logsigmoid)
Hardtanh = module("Hardtanh", F.hardtanh)
Hardsigmoid = module("Hardsigmoid", F.hardsigmoid)
Hardswish = module("Hardswish", F.hardswish)
Threshold = module("Threshold", F.threshold, "threshold value inplace?")
GLU = module("GLU", F.glu)
Softmax = module("Softmax", F.softmax)
Softmin = module("Softmin", F.softmin)
LogSoftmax = module("LogSoftmax", F.log_softmax)
RReLU = module("RReLU", F.rrelu)


def _softmax2d(input: Tensor) -> Any:
    """Exponentials that sum up to one over the channels of an image."""
    if input.ndim not in (3, 4):
        raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
    return F.softmax(input, -3)


def _chance(p: float, inplace: bool) -> dict[str, Any]:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return {}


Softmax2d = module("Softmax2d", _softmax2d)
Dropout, Dropout1d, Dropout2d, Dropout3d = (
    module(f"Dropout{n}", getattr(F, f"dropout{n}"), "p inplace", _chance)
    for n in ("", "1d", "2d", "3d")
)
AlphaDropout = module("AlphaDropout", F.alpha_dropout, "p inplace", _chance)
FeatureAlphaDropout = module("FeatureAlphaDropout", F.feature_alpha_dropout, "p inplace", _chance)

# --- windows and sizes ---


def _stepped(kernel_size: Any = None, stride: Any = None, **_: Any) -> dict[str, Any]:
    """Windows side by side, if no other step is given."""
    return {} if kernel_size is None else {"stride": kernel_size if stride is None else stride}


def _pooling(kind: str, function: str, options: str) -> list[Any]:
    return [
        module(f"{kind}{n}d", getattr(F, f"{function}{n}d"), options, _stepped) for n in (1, 2, 3)
    ]


_MAX = "kernel_size stride padding dilation return_indices- ceil_mode"
_AVERAGE = "kernel_size stride padding ceil_mode- count_include_pad-"
MaxPool1d, MaxPool2d, MaxPool3d = _pooling("MaxPool", "max_pool", _MAX)
AvgPool1d = module("AvgPool1d", F.avg_pool1d, _AVERAGE, _stepped)
AvgPool2d = module("AvgPool2d", F.avg_pool2d, _AVERAGE + " divisor_override-", _stepped)
AvgPool3d = module("AvgPool3d", F.avg_pool3d, _AVERAGE + " divisor_override-", _stepped)
LPPool1d, LPPool2d, LPPool3d = (
    module(f"LPPool{n}d", getattr(F, f"lp_pool{n}d"), "norm_type kernel_size stride ceil_mode")
    for n in (1, 2, 3)
)
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = _pooling(
    "AdaptiveAvgPool", "adaptive_avg_pool", "output_size"
)
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = _pooling(
    "AdaptiveMaxPool", "adaptive_max_pool", "output_size return_indices-"
)
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = _pooling(
    "MaxUnpool", "max_unpool", "kernel_size stride padding"
)
Unfold = module("Unfold", F.unfold, "kernel_size dilation padding stride")
Fold = module("Fold", F.fold, "output_size kernel_size dilation padding stride")
PixelShuffle = module("PixelShuffle", F.pixel_shuffle, "upscale_factor")
PixelUnshuffle = module("PixelUnshuffle", F.pixel_unshuffle, "downscale_factor")
ChannelShuffle = module("ChannelShuffle", F.channel_shuffle, "groups")
Upsample = module(
    "Upsample", F.interpolate, "size? scale_factor? mode align_corners- recompute_scale_factor-"
)
UpsamplingNearest2d = module("UpsamplingNearest2d", F.upsample_nearest, "size scale_factor")
UpsamplingBilinear2d = module("UpsamplingBilinear2d", F.upsample_bilinear, "size scale_factor")
LocalResponseNorm = module("LocalResponseNorm", F.local_response_norm, "size* alpha beta k")


def _flat(input: Tensor, start_dim: int = 1, end_dim: int = -1) -> Any:
    """Several axes as one."""
    return input.flatten(start_dim, end_dim)


def _unflat(input: Tensor, dim: int, unflattened_size: Any) -> Any:
    """One axis as several."""
    return input.unflatten(dim, unflattened_size)


Flatten = module("Flatten", _flat)
Unflatten = module("Unflatten", _unflat, "dim unflattened_size")


class Identity(Module):
    """Does nothing, whatever it is given to start with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input itself."""
        return input


def _paddings(kind: str, mode: str, options: str = "padding*") -> list[Any]:
    def padded(input: Tensor, padding: Any, value: float = 0.0) -> Any:
        """More elements at the ends of the last axes."""
        return F.pad(input, padding, mode, value if mode == "constant" else None)

    def widths(axes: int) -> Any:
        return lambda padding, **_: {
            "padding": tuple(padding)
            if isinstance(padding, tuple | list)
            else (padding,) * (2 * axes)
        }

    return [module(f"{kind}{n}d", padded, options, widths(n)) for n in (1, 2, 3)]


ZeroPad1d, ZeroPad2d, ZeroPad3d = _paddings("ZeroPad", "constant")
ConstantPad1d, ConstantPad2d, ConstantPad3d = _paddings("ConstantPad", "constant", "padding value")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _paddings("ReflectionPad", "reflect")
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _paddings("ReplicationPad", "replicate")
CircularPad1d, CircularPad2d, CircularPad3d = _paddings("CircularPad", "circular")


# --- with a weight ---


def _uniform(self: Any) -> None:
    """Numbers up to one over the root of the number of inputs of each output."""
    count = math.prod(
        self.weight.shape[1:] if "in1_features" not in self._options else self.weight.shape[1:2]
    )
    bound = 1 / math.sqrt(count) if count else 0.0
    for parameter in self.parameters(recurse=False):
        parameter.uniform_(-bound, bound)


def _scale(self: Any) -> None:
    """Ones for weights, zeros for biases."""
    self.weight.fill_(1)
    if self._parameters.get("bias") is not None:
        self.bias.zero_()


def _normal(self: Any) -> None:
    self.weight.normal_()
    if self.padding_idx is not None:
        self.weight[self.padding_idx] = 0.0


def _first(self: Any) -> None:
    self.weight.fill_(self.init)


def _linear(in_features: int, out_features: int, bias: bool = True) -> dict[str, Any]:
    return {"weight": (out_features, in_features), "bias": (out_features,) if bias else None}


def _bilinear(
    in1_features: int, in2_features: int, out_features: int, bias: bool = True
) -> dict[str, Any]:
    shape = (out_features, in1_features, in2_features)
    return {"weight": shape, "bias": (out_features,) if bias else None}


def _normalized(
    normalized_shape: Any, elementwise_affine: bool = True, bias: bool = True, **_: Any
) -> dict[str, Any]:
    given = normalized_shape
    shape = (given,) if isinstance(given, int) else tuple(given)
    affine = {"weight": shape if elementwise_affine else None}
    affine["bias"] = shape if elementwise_affine and bias else None
    return {"normalized_shape": shape, **affine}


def _rms_norm(normalized_shape: Any, elementwise_affine: bool = True, **_: Any) -> dict[str, Any]:
    found = _normalized(normalized_shape, elementwise_affine)
    return {name: found[name] for name in ("normalized_shape", "weight")}


def _group_norm(
    num_groups: int, num_channels: int, affine: bool = True, bias: bool = True, **_: Any
) -> dict[str, Any]:
    if num_channels % num_groups:
        raise ValueError(f"num_channels {num_channels} is no multiple of {num_groups} groups")
    shape = (num_channels,) if affine else None
    return {"weight": shape, "bias": shape if bias else None}


def _table(
    num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, **_: Any
) -> dict[str, Any]:
    row = F.check_padding(padding_idx, num_embeddings)
    return {"weight": (num_embeddings, embedding_dim), "padding_idx": row}


class _FromPretrained(Layer):
    """A table that can be made from its weight."""

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **options: Any) -> Any:
        """A table with given rows, which are not trained unless `freeze` is False."""
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        made = cls(*embeddings.shape, **options)
        made.weight = Parameter(embeddings, not freeze)
        return made


Linear = layer("Linear", F.linear, "in_features out_features bias", _linear, _uniform)
Bilinear = layer(
    "Bilinear", F.bilinear, "in1_features in2_features out_features bias", _bilinear, _uniform
)
_AFFINE = "normalized_shape* eps elementwise_affine"
LayerNorm = layer("LayerNorm", F.layer_norm, _AFFINE + " bias", _normalized, _scale)
RMSNorm = layer("RMSNorm", F.rms_norm, _AFFINE, _rms_norm, _scale)
GroupNorm = layer(
    "GroupNorm", F.group_norm, "num_groups* num_channels* eps affine bias", _group_norm, _scale
)
PReLU = layer(
    "PReLU",
    F.prelu,
    "num_parameters init-",
    lambda num_parameters=1, init=0.25: {"weight": (num_parameters,)},
    _first,
)
_ROWS, _BOUNDS = "num_embeddings* embedding_dim*", "max_norm? norm_type? scale_grad_by_freq?"
Embedding = layer(
    "Embedding",
    F.embedding,
    f"{_ROWS} padding_idx? {_BOUNDS} sparse?",
    _table,
    _normal,
    base=_FromPretrained,
)
EmbeddingBag = layer(
    "EmbeddingBag",
    F.embedding_bag,
    f"{_ROWS} {_BOUNDS} mode sparse? include_last_offset? padding_idx?",
    _table,
    _normal,
    "input offsets per_sample_weights",
    _FromPretrained,
)

# --- filters ---


def _filters(axes: int, transposed: bool) -> Any:
    """The plan of a convolution along some axes, or of its transpose."""

    def planned(
        in_channels: int,
        out_channels: int,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        **sizes: Any,
    ) -> dict[str, Any]:
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"in_channels {in_channels} and out_channels {out_channels} must be divisible by "
                f"groups {groups}"
            )
        modes = ("zeros",) if transposed else ("zeros", "reflect", "replicate", "circular")
        one_of("padding_mode", padding_mode, modes)
        if isinstance(sizes["padding"], str):
            one_of("padding", sizes["padding"], ("same", "valid"))
            if sizes["padding"] == "same" and any(n != 1 for n in each(sizes["stride"], axes, "")):
                raise ValueError("padding='same' is not supported for strided convolutions")
        changed: dict[str, Any] = {
            name: size if isinstance(size, str) else each(size, axes, name)
            for name, size in sizes.items()
        }
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        changed["weight"] = (first, second // groups, *changed["kernel_size"])
        return changed | {"bias": (out_channels,) if bias else None}

    return planned


class _ConvNd(Layer):
    """A convolution, or its transpose."""


class _Convolution(_ConvNd):
    """Sums of products of filters and the windows of a signal."""

    def forward(self, input: Tensor) -> Any:
        """Apply the filters."""
        if self.padding_mode == "zeros" or self.padding == "valid":
            return super().forward(input)
        if self.padding == "same":
            extra = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            ends = [(n // 2, n - n // 2) for n in extra]
        else:
            ends = [(p, p) for p in self.padding]
        padded = F.pad(input, [n for pair in ends[::-1] for n in pair], self.padding_mode)
        return super().forward(padded, padding=0)


class _Transposed(_ConvNd):
    """Each element of a signal adds a multiple of a filter."""

    def forward(self, input: Tensor, output_size: Any = None) -> Any:
        """Apply the transpose; `output_size` chooses among the sizes that it can have."""
        if output_size is None:
            return super().forward(input)
        count = len(self.kernel_size)
        lengths: Any = input.shape[-count:]
        of: Any = (self.stride, self.padding, self.dilation, self.kernel_size)
        usual = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(lengths, *of, strict=True)
        ]
        more = tuple(w - n for w, n in zip(tuple(output_size)[-count:], usual, strict=True))
        if any(not 0 <= m < s for m, s in zip(more, self.stride, strict=True)):
            raise ValueError(f"output_size must be from {usual} on, by less than the stride")
        return super().forward(input, output_padding=more)


_SIZES = "in_channels* out_channels* kernel_size stride padding?"
_CONVOLUTION = f"{_SIZES} dilation? groups? bias? padding_mode?"
_TRANSPOSE = f"{_SIZES} output_padding? groups? bias? dilation? padding_mode?"


def _convolutions(name: str, function: str, options: str, base: type[Layer]) -> list[Any]:
    return [
        layer(
            f"{name}{n}d",
            getattr(F, f"{function}{n}d"),
            options,
            _filters(n, base is _Transposed),
            _uniform,
            base=base,
        )
        for n in (1, 2, 3)
    ]


Conv1d, Conv2d, Conv3d = _convolutions("Conv", "conv", _CONVOLUTION, _Convolution)
ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = _convolutions(
    "ConvTranspose", "conv_transpose", _TRANSPOSE, _Transposed
)


# --- losses and distances ---

_HOW = " size_average reduce reduction"
MSELoss = module("MSELoss", F.mse_loss, _HOW)
L1Loss = module("L1Loss", F.l1_loss, _HOW)
SmoothL1Loss = module("SmoothL1Loss", F.smooth_l1_loss)
HuberLoss = module("HuberLoss", F.huber_loss, "reduction delta")
KLDivLoss = module("KLDivLoss", F.kl_div)
BCELoss = module("BCELoss", F.binary_cross_entropy)
BCEWithLogitsLoss = module("BCEWithLogitsLoss", F.binary_cross_entropy_with_logits)
PoissonNLLLoss = module("PoissonNLLLoss", F.poisson_nll_loss)
GaussianNLLLoss = module("GaussianNLLLoss", F.gaussian_nll_loss)
NLLLoss = module("NLLLoss", F.nll_loss)
CrossEntropyLoss = module("CrossEntropyLoss", F.cross_entropy)
CTCLoss = module("CTCLoss", F.ctc_loss)
MultiMarginLoss = module("MultiMarginLoss", F.multi_margin_loss)
MultiLabelMarginLoss = module("MultiLabelMarginLoss", F.multilabel_margin_loss)
MultiLabelSoftMarginLoss = module("MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss)
MarginRankingLoss = module("MarginRankingLoss", F.margin_ranking_loss)
HingeEmbeddingLoss = module("HingeEmbeddingLoss", F.hinge_embedding_loss)
SoftMarginLoss = module("SoftMarginLoss", F.soft_margin_loss)
CosineEmbeddingLoss = module("CosineEmbeddingLoss", F.cosine_embedding_loss)
TripletMarginLoss = module("TripletMarginLoss", F.triplet_margin_loss)
TripletMarginWithDistanceLoss = module(
    "TripletMarginWithDistanceLoss", F.triplet_margin_with_distance_loss
)
CosineSimilarity = module("CosineSimilarity", F.cosine_similarity)
PairwiseDistance = module("PairwiseDistance", F.pairwise_distance)
