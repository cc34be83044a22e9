"""Activation functions: elementwise ones, softmax and its relatives, and gated units."""

from __future__ import annotations

import functools
import math
from typing import Any

from .... import ops, special
from ....ops.special import activations
from ..functions import elementwise, reductions
from ..functions.axes import checked
from ..handles import Tensor
from ..publish import ArgumentError, Published, function, written
from ..random import rand_like

sigmoid, tanh = elementwise.sigmoid, elementwise.tanh


def _activation(native: Any) -> Published:
    """A function that takes `inplace` after its own parameters, and can write its result."""
    apart, inside = function(native, method=False), written(native, f"{native.__name__}_")
    count = native.__code__.co_argcount

    @functools.wraps(native)
    def made(*args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        if len(args) > count:
            *given, inplace = args
            args = tuple(given)
        return (inside if inplace else apart)(*args, **kwargs)

    return made


def _in_place(of: Published) -> Any:
    """The function that writes its result into its input."""
    return written(of.__wrapped__, f"{of.__name__}_")


# --- rectifiers and their smooth relatives ---


@_activation
def relu(input: Any) -> Any:
    """The larger of each element and zero."""
    return elementwise.relu.__wrapped__(input)


@_activation
def relu6(input: Any) -> Any:
    """Elements between 0 and 6."""
    return hardtanh.__wrapped__(input, 0.0, 6.0)


@_activation
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Elements between two bounds; the slope at the bounds is zero."""
    if min_val > max_val:
        raise ArgumentError(f"min_val {min_val} must not be larger than max_val {max_val}")
    outside = (input <= min_val) | (input >= max_val)
    bound = ops.where(input <= min_val, min_val, max_val)
    return ops.where(outside, ops.astype(bound, input.dtype), input)


@_activation
def threshold(input: Any, threshold: float, value: float) -> Any:
    """Elements above a threshold, and `value` for the others."""
    return elementwise.threshold.__wrapped__(input, threshold, value)


@_activation
def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """Positive elements, and others times a slope."""
    return ops.where(input > 0, input, input * negative_slope)


@function
def prelu(input: Any, weight: Any) -> Any:
    """Positive elements, and others times a slope that is learned: one, or one a channel."""
    if weight.ndim > 1 or (weight.size != 1 and (input.ndim < 2 or weight.size != input.shape[1])):
        raise RuntimeError(
            f"weight must be one number, or one for each channel of input {tuple(input.shape)}; "
            f"not of shape {tuple(weight.shape)}"
        )
    shape = (weight.size, *(1,) * (input.ndim - 2)) if input.ndim > 1 else (1,) * input.ndim
    return ops.where(input > 0, input, ops.reshape(weight, shape) * input)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Positive elements, and others times a slope between two bounds: random, in training."""
    if lower > upper:
        raise RuntimeError(f"lower {lower} must not be larger than upper {upper}")
    slope: Any = (lower + upper) / 2
    if training:
        slope = rand_like(input.detach()) * (upper - lower) + lower
    out = input.where(input > 0, input * slope)
    return input.copy_(out) if inplace else out  # type: ignore[no-any-return]


@_activation
def elu(input: Any, alpha: float = 1.0) -> Any:
    """Positive elements, and `alpha * (exp(x) - 1)` of others."""
    low = ops.where(input > 0, 0, input)
    return ops.where(input > 0, input, alpha * ops.expm1(low))


@_activation
def selu(input: Any) -> Any:
    """`elu` with the scales that keep mean and variance."""
    return 1.0507009873554805 * elu.__wrapped__(input, 1.6732632423543772)


@_activation
def celu(input: Any, alpha: float = 1.0) -> Any:
    """Positive elements, and `alpha * (exp(x / alpha) - 1)` of others."""
    if not alpha:
        raise RuntimeError("alpha must not be zero")
    low = ops.where(input > 0, 0, input)
    return ops.where(input > 0, input, alpha * ops.expm1(low / alpha))


@function(method=False)
def gelu(input: Any, approximate: str = "none") -> Any:
    """Each element times the share of the normal distribution below it."""
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (input + 0.044715 * input**3)
        return 0.5 * input * (1 + ops.tanh(inner))
    if approximate != "none":
        raise RuntimeError(f'approximate must be "none" or "tanh", not {approximate!r}')
    return activations.gelu(input)


@_activation
def silu(input: Any) -> Any:
    """Each element times its sigmoid."""
    return activations.silu(input)


@_activation
def mish(input: Any) -> Any:
    """`x * tanh(log(1 + exp(x)))`."""
    return input * ops.tanh(special.softplus(input))


@_activation
def hardswish(input: Any) -> Any:
    """`x * (x + 3) / 6` between -3 and 3, zero below and `x` above."""
    inside = ops.where(ops.abs(input) < 3, input, 0) * (input + 3) / 6
    return ops.where(input <= -3, 0, ops.where(input < 3, inside, input))


@_activation
def hardsigmoid(input: Any) -> Any:
    """`(x + 3) / 6` between -3 and 3, zero below and one above."""
    return hardtanh.__wrapped__(input, -3.0, 3.0) / 6 + 0.5


@function(method=False)
def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x` is above a threshold."""
    scaled = input * beta
    return ops.where(scaled > threshold, input, special.softplus(scaled) / beta)


@function(method=False)
def logsigmoid(input: Any) -> Any:
    """The logarithm of the sigmoid."""
    return special.log_expit(input)


# --- others that act on each element ---


@function(method=False)
def softsign(input: Any) -> Any:
    """`x / (1 + |x|)`."""
    return input / (1 + ops.abs(input))


@function(method=False)
def tanhshrink(input: Any) -> Any:
    """`x - tanh(x)`."""
    return input - ops.tanh(input)


@function(method=False)
def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """Elements moved towards zero by `lambd`; those that are nearer become zero."""
    if lambd < 0:
        raise RuntimeError(f"lambd must not be negative, but is {lambd}")
    low = ops.where(ops.abs(input) <= lambd, 0, input + lambd)
    return ops.where(input > lambd, input - lambd, low)


@function
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """Elements farther from zero than `lambd`, and zeros."""
    return ops.where((input >= -lambd) & (input <= lambd), 0, input)


# --- along an axis ---


@function(method=False)
def softmax(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Exponentials that sum up to one along an axis."""
    return reductions.softmax.__wrapped__(input, _usual(dim, input), dtype)


@function(method=False)
def softmin(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """`softmax` of minus the elements."""
    return reductions.softmax.__wrapped__(-input, _usual(dim, input), dtype)


@function(method=False)
def log_softmax(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of softmax."""
    return reductions.log_softmax.__wrapped__(input, _usual(dim, input), dtype)


def _usual(dim: int | None, x: Any) -> int:
    return dim if dim is not None else (0 if x.ndim in (0, 1, 3) else 1)


def gumbel_softmax(
    logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A random class by its probability, as a smooth function of the logits.

    `eps` has no effect; PyTorch has it for old programs.
    """
    noise = -(-rand_like(logits.detach()).clamp(min=1e-38).log()).log()
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    place = soft.detach().argmax(dim, keepdim=True)
    one = (soft.detach() * 0).scatter(dim, place, 1.0)
    return one - soft.detach() + soft  # type: ignore[no-any-return]


@function(method=False)
def glu(input: Any, dim: int = -1) -> Any:
    """One half of the elements times the sigmoid of the other half."""
    if not input.ndim:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    axis = checked(dim, input.ndim)
    n = input.shape[axis]
    if n % 2:
        raise RuntimeError(f"axis {dim} must be even to be halved, but has length {n}")
    first, second = ops.split(input, 2, axis=axis)
    return first * special.expit(second)


relu_, hardtanh_, leaky_relu_, threshold_ = map(_in_place, (relu, hardtanh, leaky_relu, threshold))
elu_, selu_, celu_ = map(_in_place, (elu, selu, celu))


def rrelu_(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """`rrelu`, in place."""
    return rrelu(input, lower, upper, training, True)
