"""`torch.nn.init`: first values of parameters."""

from __future__ import annotations

import math

from ..autograd import no_grad
from ..creation import eye
from ..handles import Tensor
from ..linalg import qr
from ..random import randn

__all__ = [
    "calculate_gain",
    "constant_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


def __dir__() -> list[str]:
    return __all__


def _filled(tensor: Tensor, method: str, *args: float) -> Tensor:
    with no_grad():
        getattr(tensor, method)(*args)
    return tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Numbers between two bounds."""
    return _filled(tensor, "uniform_", a, b)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Numbers from a normal distribution."""
    return _filled(tensor, "normal_", mean, std)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value."""
    return _filled(tensor, "fill_", val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return _filled(tensor, "fill_", 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return _filled(tensor, "fill_", 0.0)


def _fans(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise ValueError(f"a tensor of shape {tuple(tensor.shape)} has no fan in and fan out")
    rest = math.prod(tensor.shape[2:])
    return tensor.shape[1] * rest, tensor.shape[0] * rest


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Uniform numbers that keep the variance in both directions."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Normal numbers that keep the variance in both directions."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_fans(tensor))))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By which factor a function needs larger numbers to keep the variance."""
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    plain = ("linear", "sigmoid", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)))
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in gains and nonlinearity not in plain:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains.get(nonlinearity, 1.0)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ('fan_in', 'fan_out')")
    fan = _fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Uniform numbers that keep the variance through rectifiers; `a` is the slope of leaky ones."""
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Normal numbers that keep the variance through rectifiers; `a` is the slope of leaky ones."""
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity))


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Tensor:
    """Numbers from the part of a normal distribution between two bounds."""
    low, high = ((1 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2 for x in (a, b))
    with no_grad():
        tensor.uniform_(2 * low - 1, 2 * high - 1)
        tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(a, b)
    return tensor


def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal of a matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.copy_(eye(*tensor.shape, dtype=tensor.dtype))
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Rows, or columns if these are fewer, that are orthonormal, times `gain`."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    q, r = qr(randn(max(rows, columns), min(rows, columns), dtype=tensor.dtype))
    q = q * r.diagonal().sign()  # so that all directions are equally likely
    with no_grad():
        tensor.copy_((q if rows >= columns else q.T).reshape(tensor.shape) * gain)
    return tensor
