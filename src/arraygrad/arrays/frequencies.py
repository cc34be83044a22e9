"""The frequencies of Fourier transforms, as tensors. The transforms are in `ops.fft`."""

from __future__ import annotations

from typing import Any

from ..ops.fft import length
from ..ops.shape import roll
from .creation import arange
from .tensor import Tensor

__all__ = ["fftfreq", "rfftfreq"]


def fftfreq(n: int, /, *, d: Any = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of the elements of `fft`, for `n` samples at distance `d`.

    >>> ag.fft.fftfreq(4)
    tensor([ 0.  ,  0.25, -0.5 , -0.25])
    """
    n = length(n, "n")
    rising = arange(n, dtype=_real_dtype(dtype), device=device)
    made: Tensor = roll(rising - n // 2, -(n // 2)) / (n * d)
    return made


def rfftfreq(n: int, /, *, d: Any = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of the elements of `rfft`, for `n` samples at distance `d`.

    >>> ag.fft.rfftfreq(4)
    tensor([0.  , 0.25, 0.5 ])
    """
    n = length(n, "n")
    made: Tensor = arange(n // 2 + 1, dtype=_real_dtype(dtype), device=device) / (n * d)
    return made


def _real_dtype(dtype: Any) -> Any:
    if dtype is None:
        return float
    if "float" not in str(dtype):
        raise TypeError(f"frequencies are real floating-point numbers: dtype cannot be {dtype}")
    return dtype
