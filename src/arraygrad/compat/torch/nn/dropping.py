"""Dropout in its variants: of elements or of whole channels, to zero or to SELU's lowest value."""

from __future__ import annotations

from typing import Any

from ..creation import full
from ..handles import Tensor
from ..random import bernoulli

_LOWEST = -1.7580993408473766  # what SELU tends to


def _kept(input: Tensor, p: float, shape: tuple[int, ...]) -> Tensor:
    """Ones for what is kept, and zeros."""
    return bernoulli(full(shape, 1 - p, dtype=input.dtype))


def _check(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, not {p}")


def _channels(input: Tensor) -> tuple[int, ...]:
    """The shape of one number for each sample and channel."""
    if input.ndim < 2:
        raise RuntimeError(f"dropout of channels needs two axes, not shape {tuple(input.shape)}")
    return (*input.shape[:2], *(1,) * (input.ndim - 2))


def _zeroed(input: Tensor, p: float, training: bool, shape: tuple[int, ...]) -> Tensor:
    _check(p)
    if not training or p == 0:
        return input
    return input * 0 if p == 1 else input * _kept(input, p, shape) / (1 - p)


def _lowered(input: Tensor, p: float, training: bool, shape: tuple[int, ...]) -> Tensor:
    _check(p)
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    scale = ((1 - p) * (1 + p * _LOWEST**2)) ** -0.5
    kept = _kept(input, p, shape)
    return (input * kept + _LOWEST * (1 - kept)) * scale - scale * p * _LOWEST  # type: ignore[no-any-return]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to zero with a probability, and the others scaled up."""
    return _written(input, _zeroed(input, p, training, tuple(input.shape)), inplace)


def _dropout_of_channels(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Channels set to zero with a probability, and the others scaled up."""
    return _written(input, _zeroed(input, p, training, _channels(input)), inplace)


dropout1d = dropout2d = dropout3d = _dropout_of_channels


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Elements set to SELU's lowest value, so that mean and variance stay."""
    return _written(input, _lowered(input, p, training, tuple(input.shape)), inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Channels set to SELU's lowest value, so that mean and variance stay."""
    return _written(input, _lowered(input, p, training, _channels(input)), inplace)


def _written(input: Any, result: Tensor, inplace: bool) -> Tensor:
    return input.copy_(result) if inplace and result is not input else result
