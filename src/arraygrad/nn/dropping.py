"""Dropout in its variants: of elements or of whole channels, to zero or to SELU's lowest value."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..ops.define.signatures import one_array
from .common import Ints, OptionError, check_share, shape_of
from .draws import uniform

__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
]  # fmt: skip

_LOWEST = -1.7580993408473766  # what SELU tends to


def _channels(input: Any) -> Ints:
    """The shape of one number for each sample and channel."""
    if input.ndim < 2:
        raise ValueError(f"dropout of channels needs two axes, not shape {shape_of(input)}")
    return (*input.shape[:2], *(1,) * (input.ndim - 2))


def _dropped(input: Any, p: float, training: bool, shape: Ints, low: float, key: Any) -> Any:
    """Elements set to a low value with a probability, and scaled to keep mean and variance."""
    check_share("p", p, OptionError)
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    kept = uniform(key, shape, input, "dropout") >= p
    if not low:
        return ops.where(kept, input, 0) / (1 - p)
    scale = ((1 - p) * (1 + p * low**2)) ** -0.5
    return ops.where(kept, input, low) * scale - scale * p * low


@one_array
def dropout(input: Any, p: float = 0.5, training: bool = True, *, key: Any = None) -> Any:
    """Elements set to zero with a probability, and the others divided by the rest.

    Parameters
    ----------
    input : array
    p : float
        The probability, from 0 to 1.
    training : bool
        If False, the result is the input.
    key
        Where the random numbers come from: a key of `arraygrad.random`, or a seed. The same key
        gives the same numbers.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.ones(6)
    >>> ag.nn.dropout(x, 0.5, key=ag.random.key(3))
    tensor([0., 0., 0., 2., 2., 2.])
    >>> ag.nn.dropout(x, 0.5, training=False)
    tensor([1., 1., 1., 1., 1., 1.])
    """
    return _dropped(input, p, training, shape_of(input), 0.0, key)


@one_array
def dropout1d(input: Any, p: float = 0.5, training: bool = True, *, key: Any = None) -> Any:
    """Channels set to zero with a probability, and the others divided by the rest.

    >>> ag.nn.dropout1d(ag.ones((1, 4, 2)), 0.5, key=0).shape
    (1, 4, 2)
    """
    return _dropped(input, p, training, _channels(input), 0.0, key)


dropout2d = dropout3d = dropout1d


@one_array
def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, *, key: Any = None) -> Any:
    """Elements set to SELU's lowest value, and scaled so that mean and variance stay.

    >>> ag.nn.alpha_dropout(ag.ones((2, 3)), training=False)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    return _dropped(input, p, training, shape_of(input), _LOWEST, key)


@one_array
def feature_alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, *, key: Any = None
) -> Any:
    """Channels set to SELU's lowest value, and scaled so that mean and variance stay.

    >>> ag.nn.feature_alpha_dropout(ag.ones((1, 2, 3)), training=False)
    tensor([[[1., 1., 1.],
             [1., 1., 1.]]])
    """
    return _dropped(input, p, training, _channels(input), _LOWEST, key)
