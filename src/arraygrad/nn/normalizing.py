"""Normalisation: elements with mean zero and variance one, or vectors of length one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import linalg, ops
from ..backends.dtypes import finfo
from ..core.axes import one_axis
from ..ops.define.arguments import naming
from ..ops.define.signatures import one_array
from ..ops.special.standardizing import standardize
from .common import Ints, OptionError, check_arrays, fixed, narrow, shape_of, size, wide
from .one_pass import is_in_program, one_program
from .windows import weighted

__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize",
    "rms_norm",
]  # fmt: skip


def _scaled(x: Any, weight: Any, bias: Any, shape: Ints) -> Any:
    """The elements times a weight plus a bias, which are of a shape."""
    check_arrays(weight=weight, bias=bias)
    x = x if weight is None else x * ops.reshape(weight, shape)
    return x if bias is None else x + ops.reshape(bias, shape)


def _standard(like: Any, axes: Ints, eps: float) -> Any:
    x = wide(like)
    if not is_in_program(x):
        return narrow(standardize(x, axis=axes, eps=eps), like)
    # A program saves the mean and the scale, and computes the rest in one pass with what follows.
    # The variance is that about a constant, which is the mean: so its gradient needs no mean.
    mean = ops.mean(x, axis=axes, keepdims=True)
    about, off = x - fixed(mean), mean - fixed(mean)
    variance = ops.mean(about * about, axis=axes, keepdims=True) - off * off
    return narrow((x - mean) * (1 / ops.sqrt(variance + eps)), like)


def _last_axes(x: Any, normalized_shape: Any, **parameters: Any) -> Ints:
    check_arrays(**parameters)
    given = normalized_shape
    shape = (given,) if isinstance(given, int) else tuple(given)
    if not shape or tuple(x.shape[-len(shape) :]) != shape:
        raise ValueError(f"the last axes of input {shape_of(x)} must be {shape}")
    for name, value in parameters.items():
        if value is not None and shape_of(value) != shape:
            raise ValueError(f"{name} must have the shape {shape}, not {shape_of(value)}")
    return shape


@one_array
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Elements with mean zero and variance one along the last axes.

    Parameters
    ----------
    input : array
    normalized_shape : int or tuple of int
        The lengths of the last axes.
    weight, bias : arrays of shape `normalized_shape`, optional
        The result is multiplied by `weight`, then `bias` is added.
    eps : float
        Added to the variance.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.layer_norm(ag.tensor([[1.0, 3.0], [5.0, 1.0]]), 2, eps=0.0)
    tensor([[-1.,  1.],
            [ 1., -1.]])
    """
    shape = _last_axes(input, normalized_shape, weight=weight, bias=bias)
    return _layer_norm(input, weight, bias, shape=shape, eps=eps)


@one_program
def _layer_norm(x: Any, weight: Any, bias: Any, *, shape: Ints, eps: float) -> Any:
    return _scaled(_standard(x, tuple(range(-len(shape), 0)), eps), weight, bias, shape)


@one_array
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    """Elements whose squares have the mean one along the last axes.

    By default, `eps` is the distance from 1 to the next number of the dtype.

    >>> ag.nn.rms_norm(ag.tensor([1.0, 1.0]), 2, eps=0.0)
    tensor([1., 1.])
    """
    shape = _last_axes(input, normalized_shape, weight=weight)
    eps = finfo(input.dtype).eps if eps is None else eps
    return _rms_norm(input, weight, shape=shape, eps=float(eps))


@one_program
def _rms_norm(like: Any, weight: Any, *, shape: Ints, eps: float) -> Any:
    x = wide(like)
    mean = ops.mean(ops.square(x), axis=tuple(range(-len(shape), 0)), keepdims=True)
    return _scaled(narrow(x / ops.sqrt(mean + eps), like), weight, None, shape)


@one_array
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Elements with mean zero and variance one in each group of channels of a sample.

    >>> ag.nn.group_norm(ag.tensor([[1.0, 3.0, 5.0, 9.0]]), 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """
    _check_channels(input)
    channels = input.shape[1]
    if num_groups < 1 or channels % num_groups:
        raise ValueError(f"{channels} channels cannot be divided into {num_groups} groups")
    _check_several(math.prod(input.shape) // num_groups, input)
    check_arrays(weight=weight, bias=bias)
    return _group_norm(input, weight, bias, groups=num_groups, eps=eps)


@one_program
def _group_norm(x: Any, weight: Any, bias: Any, *, groups: int, eps: float) -> Any:
    samples, channels, *lengths = x.shape
    grouped = ops.reshape(x, (samples, groups, channels // groups, *lengths))
    out = _standard(grouped, tuple(range(2, grouped.ndim)), eps)
    shape = (groups, channels // groups, *(1,) * len(lengths))
    return ops.reshape(_scaled(out, weight, bias, shape), x.shape)


def _check_channels(x: Any) -> None:
    if x.ndim < 2:
        raise ValueError(f"input must have two axes or more, not shape {shape_of(x)}")


def _check_several(count: int, x: Any) -> None:
    if count == 1:
        raise OptionError(
            f"Expected more than 1 value per channel when training, got input size {shape_of(x)}"
        )


def _column(x: Any) -> Ints:
    """The shape of one number for each channel."""
    return (x.shape[1], *(1,) * (x.ndim - 2))


# --- with running statistics ---


@naming("input")
def batch_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Any, Any, Any]:
    """Channels with mean zero and variance one over a batch.

    Parameters
    ----------
    input : array, (samples, channels, *lengths)
    running_mean, running_var : arrays, (channels,), optional
        The mean and the variance of earlier batches. They are not written.
    weight, bias : arrays, (channels,), optional
        The result is multiplied by `weight`, then `bias` is added.
    training : bool
        Whether to use the statistics of this batch, or the running ones.
    momentum : float
        The share of this batch in the new running statistics.
    eps : float
        Added to the variance.

    Returns
    -------
    (out, running_mean, running_var)
        The result and the new running statistics: constants, and None where None was given.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x, mean, var = ag.tensor([[1.0], [3.0]]), ag.zeros(1), ag.ones(1)
    >>> out, mean, var = ag.nn.batch_norm(x, mean, var, training=True, eps=1e-12)
    >>> out, mean, var
    (tensor([[-1.],
            [ 1.]]), tensor([0.2]), tensor([1.1]))
    """
    if eps < 0 or (training and not eps):
        raise OptionError(f"batch_norm eps must be positive, but is {eps}")
    axes = tuple(a for a in range(input.ndim) if a != 1)
    if training:
        _check_several(math.prod(input.shape[a] for a in axes), input)
    return _normed(input, axes, running_mean, running_var, weight, bias, training, momentum, eps)


@naming("input")
def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[Any, Any, Any]:
    """Channels with mean zero and variance one in each sample.

    Parameters and results are those of `batch_norm`; `use_input_stats` is its `training`.

    >>> ag.nn.instance_norm(ag.tensor([[[1.0, 3.0]]]), eps=0.0)[0]
    tensor([[[-1.,  1.]]])
    """
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise OptionError(
            f"Expected more than 1 spatial element when training, got input size {shape_of(input)}"
        )
    axes, use = tuple(range(2, input.ndim)), use_input_stats
    return _normed(input, axes, running_mean, running_var, weight, bias, use, momentum, eps)


def _normed(
    x: Any,
    axes: Ints,
    mean: Any,
    var: Any,
    weight: Any,
    bias: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, Any, Any]:
    """Channels normalised over axes in training, otherwise by a mean and a variance."""
    check_arrays(running_mean=mean, running_var=var, weight=weight, bias=bias)
    if not training and (mean is None or var is None):
        raise ValueError("running_mean and running_var are needed unless in training")
    if size(x):
        _check_channels(x)
        for name, value in (("running_mean", mean), ("running_var", var)) + (
            ("weight", weight),
            ("bias", bias),
        ):
            if value is not None and shape_of(value) != (x.shape[1],):
                raise ValueError(
                    f"{name} must have one number for each channel of input {shape_of(x)}, not "
                    f"shape {shape_of(value)}"
                )
    if not size(x):
        return x * 1, mean, var
    if not training:
        return _by_statistics(x, mean, var, weight, bias, eps=eps), mean, var
    follows = mean is not None or var is not None
    out, *found = _by_batch(x, weight, bias, axes=axes, eps=eps, follows=follows)

    def moved(running: Any, now: Any) -> Any:
        now = ops.mean(now, axis=0) if now.ndim > 1 else now  # instances have one each
        return fixed(running) * (1 - momentum) + ops.astype(now, running.dtype) * momentum

    mean = None if mean is None else moved(mean, found[0])
    return out, mean, None if var is None else moved(var, found[1])


@one_program
def _by_statistics(x: Any, mean: Any, var: Any, weight: Any, bias: Any, *, eps: float) -> Any:
    shape = _column(x)
    scale = ops.sqrt(ops.reshape(var, shape) + eps)
    return _scaled((x - ops.reshape(mean, shape)) / scale, weight, bias, shape)


@one_program
def _by_batch(
    x: Any, weight: Any, bias: Any, *, axes: Ints, eps: float, follows: bool
) -> tuple[Any, ...]:
    """Normalised channels; and their mean and variance, if running ones follow them."""
    out = _scaled(_standard(x, axes, eps), weight, bias, _column(x))
    if not follows:
        return (out,)
    now, count = wide(fixed(x)), math.prod(x.shape[a] for a in axes)
    var = ops.var(now, axis=axes, correction=float(count > 1))
    return out, ops.mean(now, axis=axes), var


# --- by norms ---


@one_array
def normalize(input: Any, p: float = 2.0, axis: Any = 1, eps: float = 1e-12) -> Any:
    """Vectors along an axis, or several, divided by their p-norms; these are at least `eps`.

    >>> ag.nn.normalize(ag.tensor([[3.0, 4.0]]))
    tensor([[0.6, 0.8]])
    """
    x = input if input.ndim else ops.reshape(input, (1,))
    many = axis if isinstance(axis, tuple | list) else (axis,)
    axes = tuple(one_axis(a, x.ndim) for a in many)
    size = linalg.vector_norm(wide(x), axis=axes, keepdims=True, ord=p)
    out = narrow(wide(x) / ops.where(size < eps, eps, size), x)
    return ops.reshape(out, input.shape)


@one_array
def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Elements divided by a power of the mean square over neighbouring channels.

    >>> ag.nn.local_response_norm(ag.ones((1, 3, 1)), 2).shape
    (1, 3, 1)
    """
    if input.ndim < 3:
        raise OptionError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    channels = input.shape[1]
    near = np.arange(channels) + np.arange(size)[:, None] - size // 2
    near = np.where((near >= 0) & (near < channels), near, -1)
    mean = weighted(ops.square(input), 1 - input.ndim, near) / size
    return input / ops.pow(mean * alpha + k, beta)
