"""Activation functions: elementwise ones, softmax and its relatives, and gated units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops, special
from ..backends.dtypes import finfo
from ..core.axes import one_axis
from ..ops.define.signatures import one_array, two_arrays
from ..ops.special import activations
from .common import OptionError, constant, filled, fixed, shape_of, size
from .draws import uniform
from .one_pass import one_pass

__all__ = [
    "celu", "elu", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6",
    "rrelu", "selu", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign",
    "tanh", "tanhshrink", "threshold",
]  # fmt: skip

sigmoid, tanh = special.expit, ops.tanh


# --- rectifiers and their smooth relatives ---


@one_array
def relu(input: Any) -> Any:
    """The larger of each element and zero. The slope at zero is zero.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.relu(ag.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    return activations.relu(input)


@one_array
def relu6(input: Any) -> Any:
    """Elements between 0 and 6. The slope at both is zero.

    >>> ag.nn.relu6(ag.tensor([-1.0, 2.0, 7.0]))
    tensor([0., 2., 6.])
    """
    return hardtanh(input, 0.0, 6.0)


@one_array
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Elements between two bounds. The slope at the bounds is zero.

    >>> x = ag.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    >>> ag.grad(ag.nn.hardtanh(x).sum(), x)
    tensor([0., 1., 0.])
    """
    if min_val > max_val:
        raise OptionError(f"min_val {min_val} must not be larger than max_val {max_val}")
    low, high = (filled(input, (), bound) for bound in (min_val, max_val))
    return ops.where(input <= low, low, ops.where(input >= high, high, input))


@one_array
def threshold(input: Any, threshold: float, value: float) -> Any:
    """Elements above a threshold, and `value` in the place of the others.

    >>> ag.nn.threshold(ag.tensor([0.5, 2.0]), 1.0, -1.0)
    tensor([-1.,  2.])
    """
    return ops.where(input <= threshold, value, input)


@one_array
def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """Positive elements, and others times a slope, also at zero.

    >>> x = ag.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    >>> ag.grad(ag.nn.leaky_relu(x).sum(), x)
    tensor([0.01, 0.01, 1.  ])
    """
    return _leaky_relu(input, negative_slope)


@one_pass
def _leaky_relu(x: Any, slope: Any) -> Any:
    return ops.where(x > 0, x, x * slope)


@two_arrays
def prelu(input: Any, weight: Any) -> Any:
    """Positive elements, and others times a slope that is learned: one, or one a channel.

    >>> ag.nn.prelu(ag.tensor([-1.0, 2.0]), ag.tensor([0.25]))
    tensor([-0.25,  2.  ])
    """
    if weight.ndim > 1 or (
        size(weight) != 1 and (input.ndim < 2 or size(weight) != input.shape[1])
    ):
        raise ValueError(
            f"weight must be one number, or one for each channel of input {shape_of(input)}; not "
            f"of shape {shape_of(weight)}"
        )
    shape = (size(weight), *(1,) * (input.ndim - 2)) if input.ndim > 1 else (1,) * input.ndim
    return ops.where(input > 0, input, ops.reshape(weight, shape) * input)


@one_array
def rrelu(
    input: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    *,
    key: Any = None,
) -> Any:
    """Positive elements, and others times a slope between two bounds: random, in training.

    >>> ag.nn.rrelu(ag.tensor([-1.0, 2.0]), lower=0.25, upper=0.75)
    tensor([-0.5,  2. ])
    """
    if lower > upper:
        raise ValueError(f"lower {lower} must not be larger than upper {upper}")
    slope: Any = (lower + upper) / 2
    if training:
        slope = uniform(key, shape_of(input), input, "rrelu") * (upper - lower) + lower
    return ops.where(input > 0, input, input * slope)


@one_array
def elu(input: Any, alpha: float = 1.0) -> Any:
    """Positive elements, and `alpha * (exp(x) - 1)` of others. The slope at zero is `alpha`.

    >>> x = ag.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    >>> ag.grad(ag.nn.elu(x).sum(), x)
    tensor([0.36787944, 1.        , 1.        ])
    """
    return _elu(input, alpha)


@one_pass
def _elu(x: Any, alpha: Any) -> Any:
    low = ops.where(x > 0, 0, x)
    return ops.where(x > 0, x, alpha * ops.expm1(low))


@one_array
def selu(input: Any) -> Any:
    """`elu` with the scales that keep mean and variance.

    >>> ag.nn.selu(ag.tensor([-1.0, 0.0, 2.0]))
    tensor([-1.11133074,  0.        ,  2.10140197])
    """
    return 1.0507009873554805 * elu(input, 1.6732632423543772)


@one_array
def celu(input: Any, alpha: float = 1.0) -> Any:
    """Positive elements, and `alpha * (exp(x / alpha) - 1)` of others.

    >>> ag.nn.celu(ag.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.63212056,  0.        ,  2.        ])
    """
    if not alpha:
        raise ValueError("alpha must not be zero")
    return _celu(input, alpha)


@one_pass
def _celu(x: Any, alpha: Any) -> Any:
    low = ops.where(x > 0, 0, x)
    return ops.where(x > 0, x, alpha * ops.expm1(low / alpha))


@one_array
def gelu(input: Any, approximate: str = "none") -> Any:
    """Each element times the share of the normal distribution below it.

    >>> ag.nn.gelu(ag.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.15865525,  0.        ,  1.95449974])
    """
    if approximate == "tanh":
        return _gelu_by_tanh(input)
    if approximate != "none":
        raise ValueError(f'approximate must be "none" or "tanh", not {approximate!r}')
    return activations.gelu(input)


@one_pass
def _gelu_by_tanh(x: Any) -> Any:
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + ops.tanh(inner))


@one_array
def silu(input: Any) -> Any:
    """Each element times its sigmoid.

    >>> ag.nn.silu(ag.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.26894142,  0.        ,  1.76159416])
    """
    return activations.silu(input)


@one_array
def mish(input: Any) -> Any:
    """`x * tanh(log(1 + exp(x)))`.

    >>> ag.nn.mish(ag.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.30340146,  0.        ,  1.94395896])
    """
    return _mish(input)


@one_pass
def _mish(x: Any) -> Any:
    return x * ops.tanh(special.softplus(x))


@one_array
def hardswish(input: Any) -> Any:
    """`x * (x + 3) / 6` between -3 and 3, zero below and `x` above.

    The slope at -3 is zero, at 3 it is one.

    >>> ag.nn.hardswish(ag.tensor([-4.0, 0.0, 4.0]))
    tensor([0., 0., 4.])
    """
    return _hardswish(input)


@one_pass
def _hardswish(x: Any) -> Any:
    inside = ops.where(ops.abs(x) < 3, x, 0)
    return ops.where(x <= -3, 0, ops.where(x < 3, inside * (inside + 3) / 6, x))


@one_array
def hardsigmoid(input: Any) -> Any:
    """`(x + 3) / 6` between -3 and 3, zero below and one above. The slope at both is zero.

    >>> ag.nn.hardsigmoid(ag.tensor([-4.0, 0.0, 4.0]))
    tensor([0. , 0.5, 1. ])
    """
    return hardtanh(input, -3.0, 3.0) / 6 + 0.5


@one_array
def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x` is above a threshold.

    >>> ag.nn.softplus(ag.tensor([0.0, 2.0]))
    tensor([0.69314718, 2.12692801])
    """
    scaled = input * beta
    return ops.where(scaled > threshold, input, special.softplus(scaled) / beta)


@one_array
def logsigmoid(input: Any) -> Any:
    """The logarithm of the sigmoid.

    >>> ag.nn.logsigmoid(ag.tensor([0.0, 2.0]))
    tensor([-0.69314718, -0.12692801])
    """
    return special.log_expit(input)


# --- others that act on each element ---


@one_array
def softsign(input: Any) -> Any:
    """`x / (1 + |x|)`.

    >>> ag.nn.softsign(ag.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5 ,  0.  ,  0.75])
    """
    return input / (1 + ops.abs(input))


@one_array
def tanhshrink(input: Any) -> Any:
    """`x - tanh(x)`.

    >>> ag.nn.tanhshrink(ag.tensor([0.0, 2.0]))
    tensor([0.        , 1.03597242])
    """
    return input - ops.tanh(input)


@one_array
def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """Elements moved towards zero by `lambd`. Elements that are nearer to zero become zero.

    >>> ag.nn.softshrink(ag.tensor([-1.0, 0.5, 2.0]))
    tensor([-0.5,  0. ,  1.5])
    """
    if lambd < 0:
        raise ValueError(f"lambd must not be negative, but is {lambd}")
    low = ops.where(ops.abs(input) <= lambd, 0, input + lambd)
    return ops.where(input > lambd, input - lambd, low)


@one_array
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """Elements farther from zero than `lambd`, and zeros.

    >>> ag.nn.hardshrink(ag.tensor([-1.0, 0.5, 2.0]))
    tensor([-1.,  0.,  2.])
    """
    return ops.where((input >= -lambd) & (input <= lambd), 0, input)


# --- along an axis ---


@one_array
def softmax(input: Any, axis: int = -1) -> Any:
    """Exponentials that sum up to one along an axis.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.softmax(ag.tensor([[0.0, 0.0], [100.0, 0.0]]))
    tensor([[5.00000000e-01, 5.00000000e-01],
            [1.00000000e+00, 3.72007598e-44]])
    """
    return special.softmax(input, axis=axis)


@one_array
def softmin(input: Any, axis: int = -1) -> Any:
    """`softmax` of minus the elements.

    >>> ag.nn.softmin(ag.tensor([1.0, 1.0]))
    tensor([0.5, 0.5])
    """
    return special.softmax(-input, axis=axis)


@one_array
def log_softmax(input: Any, axis: int = -1) -> Any:
    """The logarithm of `softmax`.

    >>> ag.nn.log_softmax(ag.tensor([0.0, 0.0]))
    tensor([-0.69314718, -0.69314718])
    """
    return special.log_softmax(input, axis=axis)


@one_array
def gumbel_softmax(
    logits: Any, tau: float = 1.0, hard: bool = False, axis: int = -1, *, key: Any
) -> Any:
    """A random class by its probability, as a smooth function of the logits.

    Parameters
    ----------
    logits : array
    tau : float
        How smooth: the result goes to a one and zeros as `tau` goes to zero.
    hard : bool
        Whether the result is a one and zeros. Its derivative is that of the smooth result.
    axis : int
        The axis of the classes.
    key
        Where the random numbers come from, see `dropout`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.gumbel_softmax(ag.zeros((4, 3)), hard=True, key=0).sum(axis=1)
    tensor([1., 1., 1., 1.])
    """
    drawn = uniform(key, shape_of(logits), logits, "gumbel_softmax")
    limits = finfo(drawn.dtype)  # the logarithms of zero and of that of one are not finite
    inside = ops.clip(drawn, float(limits.smallest_normal), 1 - float(limits.eps) / 2)
    noise = -ops.log(-ops.log(inside))
    soft = special.softmax((logits + noise) / tau, axis=axis)
    if not hard:
        return soft
    fixed_soft = fixed(soft)
    place = ops.argmax(fixed_soft, axis=axis, keepdims=True)
    n, after = soft.shape[axis], soft.ndim - 1 - one_axis(axis, soft.ndim)
    numbers = constant(np.arange(n).reshape((n, *(1,) * after)), soft)
    return ops.astype(ops.equal(place, numbers), soft.dtype) - fixed_soft + soft


@one_array
def glu(input: Any, axis: int = -1) -> Any:
    """One half of the elements along an axis, times the sigmoid of the other half.

    >>> ag.nn.glu(ag.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5, 1. ])
    """
    if not input.ndim:
        raise ValueError("glu does not support 0-dimensional tensors")
    axis = one_axis(axis, input.ndim)
    n = input.shape[axis]
    if n % 2:
        raise ValueError(f"axis {axis} must be even to be halved, but has length {n}")
    first, second = ops.split(input, 2, axis=axis)
    return first * special.expit(second)
