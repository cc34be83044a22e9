"""Functions that act element by element: arithmetic, elementary functions, comparisons, logic."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ..backends import backend_of
from .op import binary, constant, declare, unary, zeros_like

# --- arithmetic --------------------------------------------------------------------------------

add = binary("add", vjp_x=lambda g: g, vjp_y=lambda g: g)
subtract = binary("subtract", vjp_x=lambda g: g, vjp_y=lambda g: -g)
multiply = binary("multiply", vjp_x=lambda g, y: g * y, vjp_y=lambda g, x: g * x)
divide = binary("divide", vjp_x=lambda g, y: g / y, vjp_y=lambda g, y, out: -g * out / y)
negative = unary("negative", vjp=lambda g: -g)
positive = unary("positive", vjp=lambda g: g)
reciprocal = unary("reciprocal", vjp=lambda g, out: -g * out * out, compute=lambda xp, x: 1 / x)
square = unary("square", vjp=lambda g, x: 2 * (g * x))


def _pow_x(g: Any, x: Any, y: Any) -> Any:
    if hasattr(y, "dtype"):
        # x ** 0 is flat at zero too, though 0 ** -1 is not finite.
        flat = logical_and(equal(y, 0), logical_or(equal(x, 0), isnan(x)))
        return g * (y * where(flat, 1, x) ** (y - 1))
    if y == 0:
        return zeros_like(g)
    return g if y == 1 else g * (y * x ** (y - 1))


def _pow_y(g: Any, x: Any, y: Any, out: Any) -> Any:
    # 0 ** y is flat for y >= 0, though log(0) is not finite.
    if hasattr(x, "dtype"):
        flat = logical_and(equal(x, 0), greater_equal(real(y), 0))
        return g * (out * log(where(flat, 1, x)))
    if x == 0:
        below = where(less(real(y), 0), -math.inf, math.nan)
        return g * where(greater_equal(real(y), 0), 0, below)
    if isinstance(x, complex):
        return g * (out * cmath.log(x))
    return g * (out * (math.log(x) if x > 0 else math.nan))


pow = binary("pow", vjp_x=_pow_x, vjp_y=_pow_y)

remainder = binary("remainder", vjp_x=lambda g: g, vjp_y=lambda g, x, y: -g * floor_divide(x, y))
floor_divide = binary("floor_divide", vjp_x=lambda g: zeros_like(g), vjp_y=lambda g: zeros_like(g))

# --- steps: zero derivative wherever it exists ---------------------------------------------------

floor = unary("floor", vjp=lambda g: zeros_like(g))
ceil = unary("ceil", vjp=lambda g: zeros_like(g))
trunc = unary("trunc", vjp=lambda g: zeros_like(g))
round = unary("round", vjp=lambda g: zeros_like(g))

# --- exponentials and logarithms -----------------------------------------------------------------

exp = unary("exp", d=lambda out: out)
exp2 = unary("exp2", d=lambda out: out * math.log(2), compute=lambda xp, x: 2.0**x)
expm1 = unary("expm1", d=lambda out: out + 1)
log = unary("log", vjp=lambda g, x: g / x)
log1p = unary("log1p", vjp=lambda g, x: g / (x + 1))
log2 = unary("log2", vjp=lambda g, x: g / (x * math.log(2)))
log10 = unary("log10", vjp=lambda g, x: g / (x * math.log(10)))
# Not `exp(x - out)`: for large x the difference has no digits left.
logaddexp = binary(
    "logaddexp",
    vjp_x=lambda g, x, y: g / (1 + exp(y - x)),
    vjp_y=lambda g, x, y: g / (1 + exp(x - y)),
)
sqrt = unary("sqrt", vjp=lambda g, out: g / (2 * out))

# --- trigonometric and hyperbolic ----------------------------------------------------------------

sin = unary("sin", d=lambda x: cos(x))
cos = unary("cos", d=lambda x: -sin(x))
tan = unary("tan", d=lambda out: 1 + out * out)
asin = unary("asin", vjp=lambda g, x: g / sqrt(1 - x * x))
acos = unary("acos", vjp=lambda g, x: -g / sqrt(1 - x * x))
atan = unary("atan", vjp=lambda g, x: g / (1 + x * x))
sinh = unary("sinh", d=lambda x: cosh(x))
cosh = unary("cosh", d=lambda x: sinh(x))
tanh = unary("tanh", d=lambda out: 1 - out * out)
asinh = unary("asinh", vjp=lambda g, x: g / sqrt(x * x + 1))
# Two roots, not one of the product: on the left half-plane only this is the principal branch.
# And `x - -1`, because `x + 1` would lose the sign of a zero imaginary part, which picks the side.
acosh = unary("acosh", vjp=lambda g, x: g / (sqrt(x - 1) * sqrt(x - -1)))
atanh = unary("atanh", vjp=lambda g, x: g / (1 - x * x))


def _over_square(g: Any, x: Any, y: Any) -> Any:
    """`g / (x² + y²)`, zero at the origin."""
    square = x * x + y * y
    return where(equal(square, 0), 0, g / square)


atan2 = binary(
    "atan2",
    vjp_x=lambda g, x, y: _over_square(g, x, y) * y,
    vjp_y=lambda g, x, y: -(_over_square(g, x, y) * x),
)
hypot = binary(
    "hypot", vjp_x=lambda g, x, out: g * (x / out), vjp_y=lambda g, y, out: g * (y / out)
)

# --- absolute value, sign, complex parts ---------------------------------------------------------
# None of these is holomorphic: their rules give the conjugate Wirtinger derivative themselves.


def _sign(g: Any, x: Any) -> Any:
    if not is_complex(x):
        return zeros_like(g)
    size = abs(x)
    unit = sign(x)
    return where(equal(size, 0), 0, (g - unit * real(g * conj(unit))) / size)


def _angle(g: Any, x: Any) -> Any:
    if not is_complex(x):
        return zeros_like(g)
    square = real(x * conj(x))
    return where(equal(square, 0), 0, (g / square) * (x * 1j))


def is_complex(x: Any) -> bool:
    """Whether an array, of any library and under any transform, is complex."""
    return hasattr(x, "dtype") and backend_of(x).kind(x.dtype) == "c"


abs = unary(
    "abs",
    vjp=lambda g, x: g * sign(x),
    jvp=lambda t, x: real(t * conj(sign(x))) if is_complex(x) else t * sign(x),
    holomorphic=False,
)
sign = unary("sign", vjp=_sign, holomorphic=False)
conj = unary("conj", vjp=lambda g: conj(g), holomorphic=False)
real = unary("real", vjp=lambda g: g, jvp=lambda t: real(t), holomorphic=False, view=True)
imag = unary("imag", vjp=lambda g: g * 1j, jvp=lambda t: imag(t), holomorphic=False, view=True)
angle = unary(
    "angle",
    vjp=_angle,
    jvp=lambda t, x: real(t * conj(_angle(1.0, x))) if is_complex(x) else zeros_like(t),
    holomorphic=False,
    compute=lambda xp, x: xp.atan2(xp.imag(x), xp.real(x)),
)
copysign = binary(
    "copysign",
    vjp_x=lambda g, x, out: g * where(equal(x, 0), 0, sign(x) * sign(out)),
    vjp_y=lambda g: zeros_like(g),
)

# --- choosing ------------------------------------------------------------------------------------


def _larger(g: Any, x: Any, y: Any) -> Any:
    """The cotangent of `x` in `maximum(x, y)`: ties are shared evenly."""
    return where(equal(x, y), g * 0.5, where(less(x, y), 0, g))


maximum = binary(
    "maximum", vjp_x=lambda g, x, y: _larger(g, x, y), vjp_y=lambda g, x, y: _larger(g, y, x)
)
minimum = binary(
    "minimum", vjp_x=lambda g, x, y: _larger(g, y, x), vjp_y=lambda g, x, y: _larger(g, x, y)
)
# `_larger(g, y, x)` asks whether y < x, which for the minimum is when x loses.

where = declare(
    "where",
    "condition",
    "x",
    "y",
    vjp_x=lambda g, condition: where(condition, g, 0),
    vjp_y=lambda g, condition: where(condition, 0, g),
    linear=True,
    batch="elementwise",
)

_clip = declare(
    "clip",
    "x",
    "min",
    "max",
    compute=lambda xp, x, min, max: xp.minimum(xp.maximum(x, min), max),
    vjp_x=lambda g, x, min, max: where(_inside(x, min, max), g, 0),
    vjp_min=lambda g, x, min, max: where(logical_and(less(x, min), less(min, max)), g, 0),
    vjp_max=lambda g, x, min, max: where(_above(x, min, max), g, 0),
    jvp=lambda t_x, t_min, t_max, x, min, max: where(
        _above(x, min, max),
        t_max,
        where(less(x, min), t_min, where(_inside(x, min, max), t_x, 0)),
    ),
    batch="elementwise",
)


def _inside(x: Any, min: Any, max: Any) -> Any:
    return logical_and(greater_equal(x, min), less_equal(x, max))


def _above(x: Any, min: Any, max: Any) -> Any:
    """Where the result of clip is `max`: also wherever the bounds are in the wrong order."""
    if hasattr(min, "dtype") or hasattr(max, "dtype"):
        return logical_or(greater(x, max), greater(min, max))
    return greater(x, max) if min <= max else equal(x, x)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Keep values within bounds.

    The gradient passes where ``min <= x <= max``, bounds included; outside, it goes to the bound.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([-1.0, 0.0, 0.5, 2.0], requires_grad=True)
    >>> ag.grad(ag.clip(x, 0, 1).sum(), x)
    tensor([0., 1., 1., 0.])
    """
    if min is None and max is None:
        return positive(x)
    if backend_of(x).kind(x.dtype) == "i":  # nothing to differentiate, and no infinities
        x = x if min is None else maximum(x, min)
        return x if max is None else minimum(x, max)
    return _clip(x, -math.inf if min is None else min, math.inf if max is None else max)


# --- no derivative -------------------------------------------------------------------------------

equal = constant("equal", "x", "y")
not_equal = constant("not_equal", "x", "y")
less = constant("less", "x", "y")
less_equal = constant("less_equal", "x", "y")
greater = constant("greater", "x", "y")
greater_equal = constant("greater_equal", "x", "y")
logical_and = constant("logical_and", "x", "y")
logical_or = constant("logical_or", "x", "y")
logical_xor = constant("logical_xor", "x", "y")
logical_not = constant("logical_not", "x")
bitwise_and = constant("bitwise_and", "x", "y")
bitwise_or = constant("bitwise_or", "x", "y")
bitwise_xor = constant("bitwise_xor", "x", "y")
bitwise_invert = constant("bitwise_invert", "x")
bitwise_left_shift = constant("bitwise_left_shift", "x", "y")
bitwise_right_shift = constant("bitwise_right_shift", "x", "y")
isfinite = constant("isfinite", "x")
isinf = constant("isinf", "x")
isnan = constant("isnan", "x")
signbit = constant("signbit", "x")
nextafter = constant("nextafter", "x", "y")
