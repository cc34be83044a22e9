"""First values of parameters: new arrays of a shape, by functions with PyTorch's names.

>>> import arraygrad as ag
>>> weight = ag.nn.init.kaiming_uniform((64, 3, 3, 3), nonlinearity="relu", key=0)
>>> weight.shape, bool((abs(weight) <= (6 / 27) ** 0.5).all())
((64, 3, 3, 3), True)

`key` is where the random numbers come from, as in `arraygrad.nn.dropout`. The `dtype` is float64
unless another is given.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import linalg, ops, special
from ..arrays.creation import asarray, full
from ..arrays.creation import eye as _eye
from ..arrays.tensor import Tensor
from ..core.axes import shape_tuple
from ..core.describing import describe as _describe
from .common import Ints
from .draws import normal as _normal
from .draws import uniform as _uniform

__all__ = [
    "calculate_gain", "constant", "eye", "kaiming_normal", "kaiming_uniform", "normal", "ones",
    "orthogonal", "trunc_normal", "uniform", "xavier_normal", "xavier_uniform", "zeros",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


# --- the same everywhere ---


def constant(shape: Ints, val: float, *, dtype: Any = None) -> Tensor:
    """One value."""
    return full(shape_tuple(shape), val, dtype=np.float64 if dtype is None else dtype)


def zeros(shape: Ints, *, dtype: Any = None) -> Tensor:
    """Zeros."""
    return constant(shape, 0.0, dtype=dtype)


def ones(shape: Ints, *, dtype: Any = None) -> Tensor:
    """Ones."""
    return constant(shape, 1.0, dtype=dtype)


def eye(shape: Ints, *, dtype: Any = None) -> Tensor:
    """Ones on the diagonal of a matrix."""
    if len(shape) != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported, not shape {tuple(shape)}")
    return _eye(*shape, dtype=np.float64 if dtype is None else dtype)


# --- random numbers ---


def uniform(shape: Ints, a: float = 0.0, b: float = 1.0, *, key: Any, dtype: Any = None) -> Tensor:
    """Numbers between two bounds."""
    return (
        asarray(_uniform(key, shape_tuple(shape), zeros((), dtype=dtype), "uniform")) * (b - a) + a
    )


def normal(
    shape: Ints, mean: float = 0.0, std: float = 1.0, *, key: Any, dtype: Any = None
) -> Tensor:
    """Numbers from a normal distribution."""
    if std < 0:
        raise ValueError(f"std must not be negative, but is {std}")
    return asarray(_normal(key, shape_tuple(shape), zeros((), dtype=dtype), "normal")) * std + mean


def trunc_normal(
    shape: Ints,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    *,
    key: Any,
    dtype: Any = None,
) -> Tensor:
    """Numbers from the part of a normal distribution between two bounds."""
    low, high = (math.erf((x - mean) / std / math.sqrt(2.0)) for x in (a, b))
    drawn = special.erfinv(uniform(shape, low, high, key=key, dtype=dtype))
    return ops.clip(drawn * (std * math.sqrt(2.0)) + mean, a, b)


def orthogonal(shape: Ints, gain: float = 1.0, *, key: Any, dtype: Any = None) -> Tensor:
    """Rows, or columns if these are fewer, that are orthonormal, times `gain`."""
    if len(shape) < 2:
        raise ValueError(f"Only tensors with 2 or more dimensions are supported: {tuple(shape)}")
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = linalg.qr(normal((max(rows, columns), min(rows, columns)), key=key, dtype=dtype))
    q = q * ops.sign(linalg.diagonal(r))  # so that all directions are equally likely
    return ops.reshape(q if rows >= columns else ops.matrix_transpose(q), tuple(shape)) * gain


# --- by the numbers of inputs and outputs ---


def _fans(shape: Ints) -> tuple[int, int]:
    if len(shape) < 2:
        raise ValueError(f"a tensor of shape {tuple(shape)} has no fan in and fan out")
    rest = math.prod(shape[2:])
    return shape[1] * rest, shape[0] * rest


def xavier_uniform(shape: Ints, gain: float = 1.0, *, key: Any, dtype: Any = None) -> Tensor:
    """Uniform numbers that keep the variance in both directions."""
    bound = gain * math.sqrt(6.0 / sum(_fans(shape)))
    return uniform(shape, -bound, bound, key=key, dtype=dtype)


def xavier_normal(shape: Ints, gain: float = 1.0, *, key: Any, dtype: Any = None) -> Tensor:
    """Normal numbers that keep the variance in both directions."""
    return normal(shape, 0.0, gain * math.sqrt(2.0 / sum(_fans(shape))), key=key, dtype=dtype)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By which factor a function needs larger numbers to keep the variance."""
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    plain = ("linear", "sigmoid", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)))
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in gains and nonlinearity not in plain:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains.get(nonlinearity, 1.0)


def _kaiming_std(shape: Ints, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ('fan_in', 'fan_out')")
    fan = _fans(shape)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform(
    shape: Ints,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    *,
    key: Any,
    dtype: Any = None,
) -> Tensor:
    """Uniform numbers that keep the variance through rectifiers; `a` is the slope of leaky ones."""
    bound = math.sqrt(3.0) * _kaiming_std(shape, a, mode, nonlinearity)
    return uniform(shape, -bound, bound, key=key, dtype=dtype)


def kaiming_normal(
    shape: Ints,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    *,
    key: Any,
    dtype: Any = None,
) -> Tensor:
    """Normal numbers that keep the variance through rectifiers; `a` is the slope of leaky ones."""
    return normal(shape, 0.0, _kaiming_std(shape, a, mode, nonlinearity), key=key, dtype=dtype)


_describe(
    [globals()[name] for name in __all__],
    {
        "a": "float | The lower bound.",
        "b": "float | The upper bound.",
        "dtype": "dtype | By default float64.",
        "gain": "float | A factor, see `calculate_gain`.",
        "kaiming_normal.a": "float | The slope of leaky rectifiers.",
        "kaiming_uniform.a": "float | The slope of leaky rectifiers.",
        "key": "int or array | Where the random numbers come from, as in `arraygrad.nn.dropout`.",
        "mean": "float | The mean.",
        "mode": '"fan_in" or "fan_out" | Whether results keep their variance, or gradients.',
        "nonlinearity": "str | The name of the function that follows.",
        "param": "float | The slope of leaky rectifiers.",
        "shape": "tuple of int | The shape of the result.",
        "std": "float | The standard deviation.",
        "val": "float | The value.",
    },
    {},
    {
        "calculate_gain": '>>> ag.nn.init.calculate_gain("tanh")\n1.6666666666666667',
        "constant": ">>> ag.nn.init.constant((2,), 0.5)\ntensor([0.5, 0.5])",
    }
    | {name: f">>> ag.nn.init.{name}((2, 2)).shape\n(2, 2)" for name in ("eye", "ones", "zeros")}
    | {
        name: f">>> ag.nn.init.{name}((3, 2), key=0).shape\n(3, 2)"
        for name in __all__
        if "normal" in name or "uniform" in name or name == "orthogonal"
    },
)
