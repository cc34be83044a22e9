"""`torch.nn.init`: first values of parameters, written to tensors by a table over `ag.nn.init`."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from ....nn import init
from ....nn.init import calculate_gain
from ..autograd import no_grad
from ..dtypes import numpy_of
from ..handles import Tensor, wrap
from .forms import Source


def _writing(name: str) -> Any:
    native = getattr(init, name)
    drawn = {"key": Source} if "key" in inspect.signature(native).parameters else {}

    @functools.wraps(native)
    def made(tensor: Tensor, *args: Any, **options: Any) -> Tensor:
        kind = numpy_of(tensor.dtype)
        values = native(tuple(tensor.shape), *args, **options, **drawn, dtype=kind)
        with no_grad():
            tensor.copy_(wrap(values))
        return tensor

    made.__name__ = made.__qualname__ = f"{name}_"
    return made


constant_, eye_, normal_, ones_, zeros_ = map(
    _writing, ("constant", "eye", "normal", "ones", "zeros")
)
orthogonal_, trunc_normal_, uniform_ = map(_writing, ("orthogonal", "trunc_normal", "uniform"))
kaiming_normal_, kaiming_uniform_ = map(_writing, ("kaiming_normal", "kaiming_uniform"))
xavier_normal_, xavier_uniform_ = map(_writing, ("xavier_normal", "xavier_uniform"))

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_",
    "ones_", "orthogonal_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_",
    "zeros_",
]  # fmt: skip
