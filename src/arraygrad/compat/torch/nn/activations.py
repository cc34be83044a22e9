"""More activations: functions that are compositions, and `inplace` where PyTorch has it."""

from __future__ import annotations

import functools
from typing import Any

from .... import ops, special
from ..publish import Published, function, written
from ..random import rand


def activation(native: Any) -> Published:
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


@activation
def celu(input: Any, alpha: float = 1.0) -> Any:
    """Positive elements, and `alpha * (exp(x / alpha) - 1)` of others."""
    low = ops.where(input > 0, 0, input)
    return ops.where(input > 0, input, alpha * ops.expm1(low / alpha))


@activation
def mish(input: Any) -> Any:
    """`x * tanh(softplus(x))`."""
    return input * ops.tanh(special.softplus(input))


@activation
def hardsigmoid(input: Any) -> Any:
    """`x / 6 + 1/2`, between 0 and 1; the slope at the bounds is zero."""
    outside = (input <= -3) | (input >= 3)
    bound = ops.astype(ops.where(input <= -3, 0.0, 1.0), input.dtype)
    return ops.where(outside, bound, input / 6 + 0.5)


@activation
def hardswish(input: Any) -> Any:
    """`x * (x + 3) / 6` between -3 and 3; zero below, and `x` above."""
    above = ops.where(input >= 3, input, input * (input + 3) / 6)
    return ops.where(input <= -3, ops.zeros_like(input), above)


@function(method=True)
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """Elements of a modulus above `lambd`, and zeros."""
    return ops.where(ops.abs(input) <= lambd, ops.zeros_like(input), input)


@function(method=False)
def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """Elements moved towards zero by `lambd`."""
    low = ops.where(ops.abs(input) <= lambd, ops.zeros_like(input), input + lambd)
    return ops.where(input > lambd, input - lambd, low)


@function(method=False)
def softmin(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The softmax of the negative elements."""
    x = input if dtype is None else ops.astype(input, dtype)
    axis = dim if dim is not None else (0 if x.ndim in (0, 1, 3) else 1)
    return special.softmax(-x, axis=axis)


@function(method=False)
def glu(input: Any, dim: int = -1) -> Any:
    """The first half along an axis, times the sigmoid of the second."""
    if input.shape[dim] % 2:
        raise RuntimeError(f"glu(): the axis must have an even length, not {input.shape[dim]}")
    first, second = ops.split(input, 2, axis=dim)
    return first * special.expit(second)


@function(method=True)
def prelu(input: Any, weight: Any) -> Any:
    """Positive elements, and others times a slope that is learnt: one, or one for each channel."""
    if weight.size > 1 and input.ndim > 1:
        weight = ops.reshape(weight, (1, -1, *(1,) * (input.ndim - 2)))
    return ops.where(input > 0, input, input * weight)


def gumbel_softmax(
    logits: Any, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """A sample of classes that can be differentiated."""
    uniform = rand(*logits.shape, dtype=logits.dtype)
    noise = -(-(uniform + 1e-20).log()).log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    one = soft.detach().mul(0).scatter(dim, index, 1.0)
    return one - soft.detach() + soft
