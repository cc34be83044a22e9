"""`torch.signal.windows`: SciPy's windows, under PyTorch's names.

They need SciPy, which is loaded when one of them is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....arrays.creation import asarray
from ....scipy.names import scipy_module
from ..creation import makes, usual
from ..handles import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
    "general_hamming", "hamming", "hann", "kaiser", "nuttall",
]  # fmt: skip


def _window(name: str, **own: Any) -> Callable[..., Tensor]:
    """A window, whose own parameters have these usual values."""

    def make(M: int, *, sym: bool = True, dtype: Any, **given: Any) -> Any:
        if not given.keys() <= own.keys():
            raise TypeError(f"{name} takes {', '.join(own) or 'no more parameters'}, not {given}")
        values = own | given
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if usual(dtype) not in (np.float32, np.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
        if sym and values.get("center") is not None:
            raise ValueError("Center must be None for symmetric windows")
        if min(values.get("std", 1), values.get("tau", 1)) <= 0 or values.get("beta", 0) < 0:
            raise ValueError(f"{name}: std and tau must be positive, beta non-negative: {values}")
        if name == "general_cosine" and not list(values["a"] or ()):
            raise ValueError("Coefficients cannot be empty")
        windows = scipy_module("scipy.signal").windows
        return asarray(getattr(windows, name)(M, sym=sym, **values).astype(usual(dtype)))

    make.__name__, make.__doc__ = name, f"`scipy.signal.windows.{name}`."
    return makes(make)


bartlett, blackman, cosine, hamming, hann, nuttall = map(
    _window, ("bartlett", "blackman", "cosine", "hamming", "hann", "nuttall")
)
exponential = _window("exponential", center=None, tau=1.0)
gaussian, kaiser = _window("gaussian", std=1.0), _window("kaiser", beta=12.0)
general_cosine, general_hamming = (
    _window("general_cosine", a=None), _window("general_hamming", alpha=0.54)
)  # fmt: skip


# --- the older names at PyTorch's top level, which are periodic by default ---


def _older(window: Callable[..., Tensor], name: str, **own: float) -> Callable[..., Tensor]:
    def made(window_length: int, periodic: bool = True, *parameters: float, **more: Any) -> Tensor:
        values: dict[str, Any] = {**own, **dict(zip(own, parameters, strict=False))}
        values |= {key: more.pop(key) for key in own if key in more}
        if len(parameters) > len(own):
            raise TypeError(f"{name}() takes {len(own)} parameters, not {len(parameters)}")
        if name == "hamming_window":
            values = {"a": (values["alpha"], values["beta"])}
        return window(window_length, sym=not periodic, **values, **more)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = window.__doc__
    return made


bartlett_window = _older(bartlett, "bartlett_window")
blackman_window = _older(blackman, "blackman_window")
hamming_window = _older(general_cosine, "hamming_window", alpha=0.54, beta=0.46)
hann_window = _older(hann, "hann_window")
kaiser_window = _older(kaiser, "kaiser_window", beta=12.0)
