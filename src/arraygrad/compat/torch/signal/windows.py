"""`torch.signal.windows`: weights that fall off towards both ends of a stretch of samples."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ....arrays.creation import asarray
from ....special import i0
from ..creation import makes, usual
from ..handles import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
    "general_hamming", "hamming", "hann", "kaiser", "nuttall",
]  # fmt: skip


def _window(shape: Callable[..., Any]) -> Callable[..., Tensor]:
    """A window whose weights are a function of the places 0 … n - 1, with its own parameters.

    With `sym=False` it is one period: the symmetric window with one more sample, but for that one.
    """
    name = shape.__name__

    @functools.wraps(shape)
    def make(M: int, *, sym: bool = True, dtype: Any, **own: Any) -> Any:
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if usual(dtype) not in (np.float32, np.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
        if sym and own.get("center") is not None:
            raise ValueError("Center must be None for symmetric windows")
        weights = shape(np.arange(M, dtype=np.float64), M if sym else M + 1, **own)
        return asarray((np.ones(M) if M == 1 else np.asarray(weights)).astype(usual(dtype)))

    return makes(make)


def _cosines(k: Any, length: int, weights: Iterable[float]) -> Any:
    turn = 2 * math.pi * k / max(length - 1, 1)
    terms = [(-1) ** i * a * np.cos(i * turn) for i, a in enumerate(weights)]
    return np.sum(terms, axis=0) if terms else np.zeros_like(k)


def _sum_of_cosines(name: str, *weights: float) -> Callable[..., Tensor]:
    def shape(k: Any, n: int) -> Any:
        return _cosines(k, n, weights)

    shape.__name__, shape.__doc__ = name, f"A sum of cosines, with the weights {weights}."
    return _window(shape)


hamming, hann = _sum_of_cosines("hamming", 0.54, 0.46), _sum_of_cosines("hann", 0.5, 0.5)
blackman = _sum_of_cosines("blackman", 0.42, 0.5, 0.08)
nuttall = _sum_of_cosines("nuttall", 0.3635819, 0.4891775, 0.1365995, 0.0106411)


@_window
def general_cosine(k: Any, n: int, *, a: Iterable[float]) -> Any:
    """A sum of cosines with alternating signs."""
    weights = list(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    return _cosines(k, n, weights)


@_window
def general_hamming(k: Any, n: int, *, alpha: float = 0.54) -> Any:
    """Hamming's window with another weight of its cosine."""
    return _cosines(k, n, (alpha, 1 - alpha))


@_window
def cosine(k: Any, n: int) -> Any:
    """Half a period of a sine."""
    return np.sin(math.pi * (k + 0.5) / n)


@_window
def gaussian(k: Any, n: int, *, std: float = 1.0) -> Any:
    """A normal density, one in the middle."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return np.exp(-(((k - (n - 1) / 2) / std) ** 2) / 2)


@_window
def exponential(k: Any, n: int, *, center: float | None = None, tau: float = 1.0) -> Any:
    """An exponential decay to both sides of the center."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    return np.exp(-np.abs(k - ((n - 1) / 2 if center is None else center)) / tau)


@_window
def bartlett(k: Any, n: int) -> Any:
    """Bartlett's window: a triangle."""
    return 1 - np.abs(2 * k / max(n - 1, 1) - 1)


@_window
def kaiser(k: Any, n: int, *, beta: float = 12.0) -> Any:
    """Kaiser's window, by a Bessel function."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    from_middle = np.clip(1 - (2 * k / max(n - 1, 1) - 1) ** 2, 0, None)
    return i0(beta * np.sqrt(from_middle)) / i0(np.asarray(float(beta)))


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
