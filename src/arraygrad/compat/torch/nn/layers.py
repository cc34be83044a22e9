"""Layers, activations, losses and containers: modules around the functions of `functional`."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Self

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

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: Any = None) -> None:
        super().__init__()
        self.weight = Parameter(empty(num_embeddings, embedding_dim, dtype=dtype))
        with no_grad():
            self.weight.normal_()

    def forward(self, input: Tensor) -> Any:
        """Look up."""
        return F.embedding(input, self.weight)


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


class BatchNorm1d(Module):
    """Channels with mean zero and variance one over a batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.track_running_stats = track_running_stats
        self.weight = Parameter(ones(num_features)) if affine else None
        self.bias = Parameter(zeros(num_features)) if affine else None
        self.register_buffer("running_mean", zeros(num_features) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features) if track_running_stats else None)

    def forward(self, input: Tensor) -> Any:
        """Apply the layer."""
        shape = (1, -1) + (1,) * (input.ndim - 2)
        axes = [a for a in range(input.ndim) if a != 1]
        if self.training or not self.track_running_stats:
            mean, var = input.mean(axes), input.var(axes, unbiased=False)
            if self.track_running_stats and self.training:
                count = input.numel() / input.shape[1]
                with no_grad():
                    keep = 1 - self.momentum
                    unbiased = var.detach() * (count / max(count - 1, 1))
                    self.running_mean.mul_(keep).add_(mean.detach(), alpha=self.momentum)
                    self.running_var.mul_(keep).add_(unbiased, alpha=self.momentum)
        else:
            mean, var = self.running_mean, self.running_var
        out = (input - mean.view(shape)) / (var.view(shape) + self.eps).sqrt()
        if self.weight is not None and self.bias is not None:
            out = out * self.weight.view(shape) + self.bias.view(shape)
        return out


class Flatten(Module):
    """Several axes as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Any:
        """Flatten."""
        return input.flatten(self.start_dim, self.end_dim)


class Identity(Module):
    """Does nothing."""

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
NLLLoss = _module("NLLLoss", F.nll_loss, "weight", "ignore_index", "reduction")
CrossEntropyLoss = _module(
    "CrossEntropyLoss", F.cross_entropy, "weight", "ignore_index", "reduction", "label_smoothing"
)


# --- containers ---


class _Listed(Module):
    """Modules in order."""

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, key: Any) -> Any:
        return list(self._modules.values())[key]


class Sequential(_Listed):
    """Modules one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """Apply all modules."""
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Sequential(*found) if isinstance(key, slice) else found


class ModuleList(_Listed):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        for i, value in enumerate(values):
            own = value if isinstance(value, Parameter) else Parameter(value)
            self.register_parameter(str(i), own)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def __len__(self) -> int:
        return len(self._parameters)

    def __getitem__(self, key: Any) -> Any:
        return list(self._parameters.values())[key]
