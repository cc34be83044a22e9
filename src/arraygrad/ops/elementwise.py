"""Elementwise functions of the standard: arithmetic, elementary functions, comparisons, logic.

Elementwise functions that only NumPy has are in `beyond`, special functions in `special`.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

from ..backends import backend_of
from ..backends.filled import zeros_like
from ..core.array import AnyFunction
from ..core.kinds import Elementwise
from .define.adoption import as_arrays
from .define.library import binary, constant, declare, unary
from .define.op import Own
from .define.signatures import ThreeArrays, one_array
from .shape import astype

__all__ = [
    "abs", "acos", "acosh", "add", "angle", "asin", "asinh", "atan", "atan2", "atanh",
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp",
    "exp2", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag",
    "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log1p", "log2", "log10",
    "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum",
    "minimum", "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "real",
    "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square",
    "subtract", "tan", "tanh", "trunc", "where",
]  # fmt: skip

# --- arithmetic --------------------------------------------------------------------------------

add = binary("add", vjp_x=lambda g: g, vjp_y=lambda g: g, doc="The sum of two arrays.")
subtract = binary(
    "subtract", vjp_x=lambda g: g, vjp_y=lambda g: -g, doc="The difference of two arrays."
)
multiply = binary(
    "multiply",
    dx=lambda y: y,
    dy=lambda x: x,
    own=Own(cuts=lambda position, x, y: _not_zero(y if position == 0 else x)),
    doc="The product of two arrays, element by element.",
)
divide = binary(
    "divide",
    vjp_x=lambda g, y: g / y,
    vjp_y=lambda g, y, out: -g * out / y,
    doc="The quotient of two arrays. At `y` zero, the derivatives are infinite.",
)
negative = unary("negative", vjp=lambda g: -g, doc="The elements with their sign changed.")
positive = unary("positive", vjp=lambda g: g, doc="The elements as they are: a copy.")
reciprocal = unary(
    "reciprocal",
    vjp=lambda g, out: -g * out * out,
    compute=lambda xp, x: 1 / x,
    doc="One divided by each element. At zero, the derivative is infinite.",
)
square = unary("square", vjp=lambda g, x: 2 * (g * x), doc="Each element times itself.")


def _not_zero(factor: Any) -> Any:
    """Where a constant factor is not zero: there the product depends on the other factor."""
    return None if factor is None else factor != 0


def _pow_x(g: Any, x: Any, y: Any) -> Any:
    if hasattr(y, "dtype"):
        # x ** 0 is constant, also at zero, but 0 ** -1 is not finite.
        flat = logical_and(equal(y, 0), logical_or(equal(x, 0), isnan(x)))
        return g * (y * where(flat, 1, x) ** (y - 1))
    if y == 0:
        return zeros_like(g)
    if y == 1:
        return g
    return g * (y * x) if y == 2 else g * (y * pow(x, y - 1))


def _pow_y(g: Any, x: Any, y: Any, out: Any) -> Any:
    # 0 ** y is constant for y >= 0, but log(0) is not finite.
    if hasattr(x, "dtype"):
        flat = logical_and(equal(x, 0), greater_equal(real(y), 0))
        base = where(flat, 1, x)
        # Below zero, the logarithm is complex, as the power is.
        return g * (out * log(astype(base, out.dtype) if is_complex(out) else base))
    if x == 0:
        below = where(less(real(y), 0), -math.inf, zeros_like(real(y)) + math.nan)
        return g * where(greater_equal(real(y), 0), 0, below)
    if isinstance(x, complex) or is_complex(out):
        return g * (out * cmath.log(x))
    return g * (out * (math.log(x) if x > 0 else math.nan))


pow = binary(
    "pow",
    vjp_x=_pow_x,
    vjp_y=_pow_y,
    doc="Each element of `x` to the power of the element of `y`. ``x**0`` is constant in `x`, and "
    "``0**y`` in `y` from zero on. By `y`, the derivative at a negative `x` is NaN.",
)

remainder = binary(
    "remainder",
    vjp_x=lambda g: g,
    vjp_y=lambda g, x, y: -g * floor_divide(x, y),
    kind=Elementwise(wraps=True),
    doc="The remainder of `x` divided by `y`, with the sign of `y`. The slope by `x` is one "
    "everywhere, also where the remainder jumps.",
)
floor_divide = binary(
    "floor_divide",
    kind=Elementwise(flat=("x", "y")),
    doc="The quotient of two arrays, rounded down. Its derivative is zero.",
)

# --- steps: the derivative is zero wherever it exists --------------------------------------------

_STEP = Elementwise(flat=("x",))
floor = unary("floor", kind=_STEP, doc="Rounded down. The derivative is zero.")
ceil = unary("ceil", kind=_STEP, doc="Rounded up. The derivative is zero.")
trunc = unary("trunc", kind=_STEP, doc="Rounded towards zero. The derivative is zero.")
round = unary(
    "round",
    kind=_STEP,
    doc="Rounded to the nearest integer, halves to the even one. The derivative is zero.",
)

# --- exponentials and logarithms -----------------------------------------------------------------

exp = unary("exp", d=lambda out: out, doc="The exponential function.")
exp2 = unary(
    "exp2",
    d=lambda out: out * math.log(2),
    compute=lambda xp, x: 2.0**x,
    doc="Two to the power of each element.",
)
expm1 = unary("expm1", d=lambda out: out + 1, doc="`exp(x) - 1`, accurate for small `x`.")
log = unary(
    "log", vjp=lambda g, x: g / x, doc="The natural logarithm. At zero, its derivative is infinite."
)
log1p = unary("log1p", vjp=lambda g, x: g / (x + 1), doc="`log(1 + x)`, accurate for small `x`.")
log2 = unary("log2", vjp=lambda g, x: g / (x * math.log(2)), doc="The logarithm to base two.")
log10 = unary("log10", vjp=lambda g, x: g / (x * math.log(10)), doc="The logarithm to base ten.")


def _expit(xp: Any, x: Any) -> Any:
    small = xp.exp(-xp.abs(x))  # which does not overflow
    return xp.where(x < 0, small, xp.ones_like(small)) / (1 + small)


expit = unary(
    "expit",
    d=lambda out: out * (1 - out),
    compute=_expit,
    doc="The logistic sigmoid, ``1 / (1 + exp(-x))``.",
)
# The rules do not use `exp(x - out)`: for large x the difference has no correct digits. Nor do they
# use `1 / (1 + exp(y - x))`: where the exponential overflows, its derivative is not a number.
logaddexp = binary(
    "logaddexp",
    vjp_x=lambda g, x, y: g * expit(x - y),
    vjp_y=lambda g, x, y: g * expit(y - x),
    doc="`log(exp(x) + exp(y))`, without overflow.",
)
sqrt = unary(
    "sqrt",
    vjp=lambda g, out: g / (2 * out),
    doc="The square root. At zero, its derivative is infinite.",
)

# --- trigonometric and hyperbolic ----------------------------------------------------------------

sin = unary("sin", d=lambda x: cos(x), doc="The sine of angles in radians.")
cos = unary("cos", d=lambda x: -sin(x), doc="The cosine of angles in radians.")
tan = unary("tan", d=lambda out: 1 + out * out, doc="The tangent of angles in radians.")
asin = unary(
    "asin",
    vjp=lambda g, x: g / sqrt(1 - x * x),
    doc="The inverse sine. At -1 and 1, its derivative is infinite.",
)
acos = unary(
    "acos",
    vjp=lambda g, x: -g / sqrt(1 - x * x),
    doc="The inverse cosine. At -1 and 1, its derivative is infinite.",
)
atan = unary("atan", vjp=lambda g, x: g / (1 + x * x), doc="The inverse tangent.")
sinh = unary("sinh", d=lambda x: cosh(x), doc="The hyperbolic sine.")
cosh = unary("cosh", d=lambda x: sinh(x), doc="The hyperbolic cosine.")
tanh = unary("tanh", d=lambda out: 1 - out * out, doc="The hyperbolic tangent.")
asinh = unary("asinh", vjp=lambda g, x: g / sqrt(x * x + 1), doc="The inverse hyperbolic sine.")
# Two roots: the root of the product is not the principal branch on the left half-plane. And
# `x - -1`: `x + 1` would lose the sign of a zero imaginary part, which chooses the branch.
acosh = unary(
    "acosh",
    vjp=lambda g, x: g / (sqrt(x - 1) * sqrt(x - -1)),
    doc="The inverse hyperbolic cosine. At 1, its derivative is infinite.",
)
atanh = unary(
    "atanh",
    vjp=lambda g, x: g / (1 - x * x),
    doc="The inverse hyperbolic tangent. At -1 and 1, its derivative is infinite.",
)


def _over_square(g: Any, x: Any, y: Any) -> Any:
    """`g / (x² + y²)`, zero at the origin."""
    return _over(g, x * x + y * y)


def _over(g: Any, size: Any) -> Any:
    """`g / size`; where `size` is zero, the result and all its derivatives are zero."""
    flat = equal(size, 0)
    return where(flat, 0, g / where(flat, 1, size))


atan2 = binary(
    "atan2",
    vjp_x=lambda g, x, y: _over_square(g, x, y) * y,
    vjp_y=lambda g, x, y: -(_over_square(g, x, y) * x),
    doc="The angle of the point with height `x` and width `y`. Its derivative at (0, 0) is zero.",
)
hypot = binary(
    "hypot",
    vjp_x=lambda g, x, out: g * (x / out),
    vjp_y=lambda g, y, out: g * (y / out),
    doc="The length of the hypotenuse: `sqrt(x**2 + y**2)`. At (0, 0), its derivatives are NaN.",
)

# --- absolute value, sign, complex parts ---------------------------------------------------------
# These functions have no complex derivative: their rules return the conjugate Wirtinger derivative.


def _sign(g: Any, x: Any) -> Any:
    if not is_complex(x):
        return zeros_like(g)
    unit = sign(x)
    return _over(g - multiply(unit, real(g * conj(unit))), abs(x))


def _angle(g: Any, x: Any) -> Any:
    if not is_complex(x):
        return zeros_like(g)
    return _over(g, real(x * conj(x))) * (x * 1j)


def is_complex(x: Any) -> bool:
    """Whether an array, of any library and under any transform, is complex."""
    return hasattr(x, "dtype") and backend_of(x).kind(x.dtype) == "c"


def is_inexact(x: Any) -> bool:
    """Whether something is an array of real or complex floating-point numbers."""
    return hasattr(x, "dtype") and backend_of(x).kind(x.dtype) in "fc"


abs = unary(
    "abs",
    vjp=lambda g, x: g * sign(x),
    kind=Elementwise(real=True),
    holomorphic=False,
    doc="The absolute value, also of complex numbers. The derivative at zero is zero.",
)
sign = unary(
    "sign",
    vjp=_sign,
    kind=Elementwise(flat="real"),
    holomorphic=False,
    doc="The sign: -1, 0 or 1, with derivative zero. For a complex number, the number divided by "
    "its absolute value.",
)
conj = unary(
    "conj",
    vjp=lambda g: conj(g),
    kind=Elementwise(linear=True),
    holomorphic=False,
    doc="The complex conjugate.",
)
real = unary(
    "real",
    vjp=lambda g: g,
    kind=Elementwise(linear=True, real=True, part="real"),
    holomorphic=False,
    doc="The real part.",
)
imag = unary(
    "imag",
    vjp=lambda g: g * 1j,
    kind=Elementwise(linear=True, real=True, part="imag"),
    holomorphic=False,
    doc="The imaginary part.",
)
angle = unary(
    "angle",
    vjp=_angle,
    kind=Elementwise(flat="real", real=True),
    holomorphic=False,
    compute=lambda xp, x: xp.atan2(xp.imag(x), xp.real(x)),
    doc="The angle of a complex number. The derivative is zero at zero, and for real numbers.",
)
copysign = binary(
    "copysign",
    vjp_x=lambda g, x, out: g * where(equal(x, 0), 0, sign(x) * sign(out)),
    kind=Elementwise(flat=("y",)),
    doc="The absolute value of `x` with the sign of `y`. The derivative at `x` zero is zero.",
)

# --- choosing ------------------------------------------------------------------------------------


def _larger(g: Any, x: Any, y: Any) -> Any:
    """The cotangent of `x` in `maximum(x, y)`: ties are shared evenly."""
    return where(equal(x, y), g * 0.5, where(less(x, y), 0, g))


maximum = binary(
    "maximum",
    vjp_x=lambda g, x, y: _larger(g, x, y),
    vjp_y=lambda g, x, y: _larger(g, y, x),
    doc="The larger of two elements. At ties, both get half of the gradient. If one is NaN, so is "
    "the result, and both get all of it.",
)
minimum = binary(
    "minimum",
    vjp_x=lambda g, x, y: _larger(g, y, x),
    vjp_y=lambda g, x, y: _larger(g, x, y),
    doc="The smaller of two elements. At ties, both get half of the gradient. If one is NaN, so is "
    "the result, and both get all of it.",
)
# The minimum swaps the arguments of `_larger`: it takes x where x is smaller than y.


def _chosen(position: int, condition: Any, x: Any, y: Any) -> Any:
    """Where the result depends on `x` (position 1) or `y`, for a constant condition."""
    if condition is None:
        return None
    return condition != 0 if position == 1 else condition == 0


def _declare_choice(
    name: str, kind: Elementwise, doc: str, compute: AnyFunction | None = None
) -> AnyFunction:
    return declare(
        name,
        "condition",
        "x",
        "y",
        kind=kind,
        compute=compute,
        vjp_x=lambda g, condition: where(condition, g, 0),
        vjp_y=lambda g, condition: where(condition, 0, g),
        holomorphic=False,
        own=Own(cuts=_chosen),
        doc=doc,
    )


where: ThreeArrays[[]] = _declare_choice(
    "where",
    Elementwise(linear=True),
    """Elements of `x` where the condition holds, of `y` elsewhere. Others have gradient zero.

    >>> ag.where(ag.tensor([True, False]), ag.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """,
)
choose = _declare_choice(
    "choose",
    Elementwise(linear=True, chooses=True),
    "Like `where`, but elements that are not chosen never affect a gradient, even if they are NaN.",
    compute=lambda xp, condition, x, y: xp.where(condition, x, y),
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
    kind=Elementwise(),
)


def _inside(x: Any, min: Any, max: Any) -> Any:
    return logical_and(greater_equal(x, min), less_equal(x, max))


def _above(x: Any, min: Any, max: Any) -> Any:
    """Where the result of clip is `max`: above it, and wherever `min` is greater than `max`."""
    if hasattr(min, "dtype") or hasattr(max, "dtype"):
        return logical_or(greater(x, max), greater(min, max))
    return greater(x, max) if min <= max else equal(x, x)


@one_array
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Limit values to an interval.

    Where ``min <= x <= max``, the gradient goes to `x`; elsewhere, it goes to the bound.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([-1.0, 0.0, 0.5, 2.0], requires_grad=True)
    >>> ag.grad(ag.clip(x, 0, 1).sum(), x)
    tensor([0., 1., 1., 0.])
    """
    if min is None and max is None:
        return positive(x)
    min, max = _like(min, x), _like(max, x)
    if backend_of(x).kind(x.dtype) == "i":  # nothing to differentiate, and no infinities
        x = x if min is None else maximum(x, min)
        return x if max is None else minimum(x, max)
    return _clip(x, -math.inf if min is None else min, math.inf if max is None else max)


def _like(bound: Any, x: Any) -> Any:
    """A bound in the dtype of `x`, if both dtypes are of one kind: `x` decides on the dtype."""
    if not hasattr(bound, "dtype") or bound.dtype is x.dtype:
        return bound
    _, bound = as_arrays(x, bound)
    if backend_of(bound) is not backend_of(x) or bound.dtype == x.dtype:
        return bound
    same = backend_of(bound).kind(bound.dtype) == backend_of(x).kind(x.dtype)
    return astype(bound, x.dtype) if same else bound


# --- no derivative -------------------------------------------------------------------------------

equal = constant("equal", "x", "y", doc="Where two arrays are equal.")
not_equal = constant("not_equal", "x", "y", doc="Where two arrays differ.")
less = constant("less", "x", "y", doc="Where `x` is less than `y`.")
less_equal = constant("less_equal", "x", "y", doc="Where `x` is at most `y`.")
greater = constant("greater", "x", "y", doc="Where `x` is greater than `y`.")
greater_equal = constant("greater_equal", "x", "y", doc="Where `x` is at least `y`.")
logical_and = constant("logical_and", "x", "y", doc="Where both are true.")
logical_or = constant("logical_or", "x", "y", doc="Where either is true.")
logical_xor = constant("logical_xor", "x", "y", doc="Where one is true and the other is not.")
logical_not = constant("logical_not", "x", doc="Where elements are not true.")
bitwise_and = constant("bitwise_and", "x", "y", doc="The bits set in both.")
bitwise_or = constant("bitwise_or", "x", "y", doc="The bits set in either.")
bitwise_xor = constant("bitwise_xor", "x", "y", doc="The bits set in one but not in the other.")
bitwise_invert = constant("bitwise_invert", "x", doc="All bits inverted.")
bitwise_left_shift = constant(
    "bitwise_left_shift", "x", "y", doc="The bits of `x` moved up by `y` places."
)
bitwise_right_shift = constant(
    "bitwise_right_shift", "x", "y", doc="The bits of `x` moved down by `y` places."
)
isfinite = constant("isfinite", "x", doc="Where elements are neither infinite nor NaN.")
isinf = constant("isinf", "x", doc="Where elements are infinite.")
isnan = constant("isnan", "x", doc="Where elements are NaN.")
signbit = constant("signbit", "x", doc="Where the sign bit is set.")
nextafter = binary(
    "nextafter",
    vjp_x=lambda g: g,
    kind=Elementwise(flat=("y",)),
    doc="The next floating-point number from `x` towards `y`. It changes as `x` does.",
)
