"""`torch.nn.init`: first values of parameters."""

from __future__ import annotations

import math

from ..autograd import no_grad
from ..handles import Tensor

__all__ = [
    "constant_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
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


def kaiming_uniform_(tensor: Tensor, a: float = 0.0) -> Tensor:
    """Uniform numbers that keep the variance through leaky rectifiers of slope `a`."""
    bound = math.sqrt(6.0 / ((1 + a * a) * _fans(tensor)[0]))
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor: Tensor, a: float = 0.0) -> Tensor:
    """Normal numbers that keep the variance through leaky rectifiers of slope `a`."""
    return normal_(tensor, 0.0, math.sqrt(2.0 / ((1 + a * a) * _fans(tensor)[0])))
