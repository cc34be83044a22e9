"""Functions of each element: most are arraygrad's ops under PyTorch's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import nn, ops, special
from ....arrays.creation import asarray
from ....core.array import Array, plain
from ..dtypes import default_for, result_type
from ..publish import (
    METHODS,
    as_promoted,
    elementwise_binary,
    elementwise_unary,
    floating,
    function,
    ops_tensor,
)
from .axes import check_mask, check_static

# The names of `torch` that are made here.
__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "addcdiv", "addcmul", "angle", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh",
    "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "ceil", "clamp", "clamp_max", "clamp_min", "clip", "complex", "conj",
    "conj_physical", "copysign", "cos", "cosh", "deg2rad", "digamma", "dist", "div", "divide", "eq",
    "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "fix", "float_power", "floor", "floor_divide",
    "fmax", "fmin", "fmod", "frac", "ge", "greater", "greater_equal", "gt", "heaviside", "hypot",
    "i0", "igamma", "igammac", "imag", "isfinite", "isinf", "isnan", "isneginf", "isposinf",
    "isreal", "ldexp", "le", "lerp", "less", "less_equal", "lgamma", "log", "log1p", "log2",
    "log10", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor",
    "logit", "lt", "maximum", "minimum", "mul", "multiply", "mvlgamma", "nan_to_num", "ne", "neg",
    "negative", "nextafter", "not_equal", "polar", "polygamma", "positive", "pow", "rad2deg",
    "real", "reciprocal", "relu", "remainder", "resolve_conj", "resolve_neg", "round", "rsqrt",
    "rsub", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh", "sqrt", "square", "sub",
    "subtract", "tan", "tanh", "threshold", "true_divide", "trunc", "where", "xlogy",
]  # fmt: skip

# --- of one tensor ---


def _numbers(native: Any) -> Any:
    """An op that leaves booleans as they are, which NumPy does not count as numbers."""

    def made(x: Any) -> Any:
        return ops.copy(x) if x.dtype.kind == "b" else native(x)

    made.__doc__ = native.__doc__
    return made


def _signed(x: Any) -> Any:
    """The negative of each element."""
    if x.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return ops.negative(x)


def _square(x: Any) -> Any:
    """The square of each element."""
    return ops.square(ops.astype(x, np.int64) if x.dtype.kind == "b" else x)


def _ordered(native: Any, name: str) -> Any:
    """A function that refuses complex numbers, which have no order."""

    def compare(x: Any, *others: Any) -> Any:
        check_ordered(name, x, *others)
        return native(x, *others)

    compare.__doc__ = native.__doc__
    return compare


def check_ordered(name: str, *values: Any) -> None:
    """Raise for complex numbers."""
    for value in values:
        kind = value.dtype.kind if isinstance(value, Array) else np.asarray(value).dtype.kind
        if kind == "c":
            raise NotImplementedError(
                f'"{name}" not implemented for complex numbers, which have no order'
            )


def _unary(module: Any, names: str, **how: Any) -> Any:
    """Functions that a module has under PyTorch's names."""
    return (elementwise_unary(getattr(module, name), **how) for name in names.split())


abs, acos, acosh, asin, asinh, atan, atanh = _unary(ops, "abs acos acosh asin asinh atan atanh")
ceil, cos, cosh, deg2rad, exp, exp2, expm1 = _unary(ops, "ceil cos cosh deg2rad exp exp2 expm1")
floor, log, log10, log1p, log2, rad2deg = _unary(ops, "floor log log10 log1p log2 rad2deg")
reciprocal, sin, sinh, sqrt, tan, tanh = _unary(ops, "reciprocal sin sinh sqrt tan tanh")
digamma, erf, erfc, erfinv, i0, sinc = _unary(special, "digamma erf erfc erfinv i0 sinc")
angle, isfinite, isinf, isnan, signbit = _unary(
    ops, "angle isfinite isinf isnan signbit", in_place=False
)
absolute, arccos, arccosh, arcsin, arcsinh, arctan, arctanh = (
    abs, acos, acosh, asin, asinh, atan, atanh
)  # fmt: skip
bitwise_not = elementwise_unary(ops.bitwise_invert, "bitwise_not")
conj = function(lambda input: ops.conj(input) if ops.is_complex(input) else input, name="conj")
conj_physical = elementwise_unary(_numbers(ops.conj), "conj_physical")
resolve_conj = function(lambda input: input, name="resolve_conj")
resolve_neg = function(lambda input: input, name="resolve_neg")
trunc, fix = elementwise_unary(ops.trunc), elementwise_unary(ops.trunc, "fix")
lgamma = elementwise_unary(special.gammaln, "lgamma")
neg = negative = elementwise_unary(_signed, "neg")
sigmoid = elementwise_unary(special.expit, "sigmoid")
sign = elementwise_unary(_ordered(_numbers(ops.sign), "sign"), "sign")
sgn = elementwise_unary(_numbers(ops.sign), "sgn")
square = elementwise_unary(_square, "square")
isposinf = function(lambda input: ops.equal(input, math.inf), name="isposinf")
isneginf = function(lambda input: ops.equal(input, -math.inf), name="isneginf")
frac = function(lambda input: input - ops.trunc(input), name="frac", in_place=True)
threshold = function(nn.threshold, in_place=True)
real = function(
    lambda input: input if input.dtype.kind != "c" else ops.real(input), name="real", method=False
)


@function(method=False)
def imag(input: Any) -> Any:
    """The imaginary part, as a view."""
    if input.dtype.kind != "c":
        raise RuntimeError("imag() is for complex tensors")
    return ops.imag(input)


@function
def positive(input: Any) -> Any:
    """The tensor itself."""
    if input.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@function
def isreal(input: Any) -> Any:
    """Whether each element has no imaginary part."""
    if input.dtype.kind == "c":
        return ops.equal(ops.imag(input), 0)
    return ops.ones_like(ops.equal(input, 0))


rsqrt = function(
    lambda input: ops.reciprocal(ops.sqrt(floating(input))), name="rsqrt", in_place=True
)


@function(in_place=True)
def logit(input: Any, eps: float | None = None) -> Any:
    """The inverse of the sigmoid; `eps` keeps the argument from 0 and 1."""
    x = floating(input)
    return special.logit(x if eps is None else ops.clip(x, eps, 1 - eps))


@function(in_place=True)
def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest integer, or number with some decimals."""
    return ops.round(input) if not decimals else ops.round(input * 10.0**decimals) / 10.0**decimals


@function(in_place=True)
def nan_to_num(input: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in the place of NaN and infinities."""
    return ops.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)


logical_not = function(
    lambda input: ops.logical_not(_truth(input)), name="logical_not", in_place=True
)


@function(in_place=True)
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Each element, or the bound that it is beyond."""
    if min is None and max is None:
        raise RuntimeError("clamp(): at least one of min and max must not be None")
    check_ordered("clamp", *(v for v in (input, min, max) if v is not None))
    wanted = result_type(*(v for v in (input, min, max) if v is not None))
    x = ops.astype(input, wanted) if input.dtype != wanted else input
    if min is not None:
        x = ops.where(_below(x, min) | _is_nan(min), _as(min, wanted), x)
    if max is not None:
        x = ops.where(_below(max, x) | _is_nan(max), _as(max, wanted), x)
    return x


def _is_nan(bound: Any) -> Any:
    if isinstance(bound, Array):
        return ops.isnan(bound) if bound.dtype.kind == "f" else False
    return bound != bound


def _as(bound: Any, wanted: Any) -> Any:
    return ops.astype(bound, wanted) if isinstance(bound, Array) else bound


def _below(x: Any, y: Any) -> Any:
    return ops.less(x, y) if isinstance(x, Array) else ops.greater(y, x)


clip = clamp
clamp_min = function(
    lambda input, min: clamp.__wrapped__(input, min), name="clamp_min", in_place=True
)
clamp_max = function(
    lambda input, max: clamp.__wrapped__(input, None, max), name="clamp_max", in_place=True
)


@function(in_place=True)
def relu(input: Any) -> Any:
    """The larger of each element and zero."""
    check_ordered("relu", input)
    return nn.relu(input)


@function(in_place=True)
def mvlgamma(input: Any, p: int) -> Any:
    """The logarithm of the multivariate gamma function."""
    x = floating(input)
    shifts = [special.gammaln(x - k / 2) for k in range(p)]
    total = shifts[0]
    for shift in shifts[1:]:
        total = total + shift
    return total + p * (p - 1) / 4 * math.log(math.pi)


@function(in_place=True)
def polygamma(n: Any, input: Any = None) -> Any:
    """A derivative of the digamma function."""
    if isinstance(n, Array):
        n, input = input, n
    return special.polygamma(n, floating(input))


def _not_by_zero(native: Any) -> Any:
    """A division that refuses integers by zero, for which NumPy gives numbers."""

    def divide(x: Any, y: Any) -> Any:
        kinds = [v.dtype.kind if isinstance(v, Array) else np.asarray(v).dtype.kind for v in (x, y)]
        whole = all(kind in "biu" for kind in kinds)
        divisor = plain(y) if whole else 1
        if type(divisor) in (int, np.ndarray) and not np.all(divisor):
            raise RuntimeError("ZeroDivisionError: integers cannot be divided by zero")
        return native(x, y)

    divide.__doc__ = native.__doc__
    return divide


def in_single(native: Any, x: Any, **keywords: Any) -> Any:
    """A function whose sums would overflow in half precision, computed in single precision."""
    if x.dtype != np.float16:
        return native(x, **keywords)
    return ops.astype(native(ops.astype(x, np.float32), **keywords), x.dtype)


whole_floor, whole_remainder = _not_by_zero(ops.floor_divide), _not_by_zero(ops.remainder)
# --- of two tensors ---


def _binary(names: str, numbers: Any = "either", *, in_place: bool = True) -> Any:
    """Functions that arraygrad has under PyTorch's names."""
    return (
        elementwise_binary(getattr(ops, name), numbers=numbers, in_place=in_place)
        for name in names.split()
    )


def _compared(name: str, native: Any) -> Any:
    """A function of numbers that have an order."""
    return elementwise_binary(_ordered(native, name), name, numbers="second")


def _logical(native: Any, name: str) -> Any:
    return elementwise_binary(lambda x, y: native(_truth(x), _truth(y)), name, numbers="none")


bitwise_and, bitwise_or, bitwise_xor, bitwise_left_shift, bitwise_right_shift = _binary(
    "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
)
atan2, hypot = _binary("atan2 hypot", "none")
fmax, fmin, logaddexp2 = _binary("fmax fmin logaddexp2", "none", in_place=False)
arctan2, copysign = atan2, elementwise_binary(ops.copysign, numbers="second")
eq = elementwise_binary(ops.equal, "eq", numbers="second")
ne = not_equal = elementwise_binary(ops.not_equal, "ne", numbers="second")
ge, gt = _compared("ge", ops.greater_equal), _compared("gt", ops.greater)
le, lt = _compared("le", ops.less_equal), _compared("lt", ops.less)
greater_equal, greater, less_equal, less = ge, gt, le, lt
maximum, minimum = (
    elementwise_binary(_ordered(getattr(ops, name), name), name, in_place=False, numbers="none")
    for name in ("maximum", "minimum")
)
logical_and = _logical(ops.logical_and, "logical_and")
logical_or = _logical(ops.logical_or, "logical_or")
logical_xor = _logical(ops.logical_xor, "logical_xor")
floor_divide = elementwise_binary(whole_floor, "floor_divide")
fmod = elementwise_binary(_not_by_zero(ops.fmod), "fmod", numbers="second")
heaviside = elementwise_binary(
    lambda x, y: ops.astype(ops.heaviside(floating(x), floating(y)), x.dtype),
    "heaviside",
    numbers="none",
)
igamma = elementwise_binary(special.gammainc, "igamma", numbers="none")
igammac = elementwise_binary(special.gammaincc, "igammac", numbers="none")
ldexp = elementwise_binary(lambda x, y: x * ops.pow(2.0, y), "ldexp", numbers="none")
logaddexp = elementwise_binary(
    lambda x, y: log_of_sum(x, y), "logaddexp", in_place=False, numbers="none"
)
mul = multiply = elementwise_binary(ops.multiply, "mul")
pow = elementwise_binary(lambda x, y: _power(x, y), "pow")
remainder = elementwise_binary(whole_remainder, "remainder")
true_divide = elementwise_binary(ops.divide, "true_divide")
xlogy = elementwise_binary(special.xlogy)
PLAIN_ADD, PLAIN_SUB = (  # for the operators
    elementwise_binary(ops.add, "add"), elementwise_binary(ops.subtract, "sub")
)  # fmt: skip


def log_of_sum(x: Any, y: Any) -> Any:
    """`log(exp(x) + exp(y))` without overflow; also of complex numbers."""
    if x.dtype.kind != "c":
        return ops.logaddexp(x, y)
    larger = ops.real(x) >= ops.real(y)
    high, low = ops.where(larger, x, y), ops.where(larger, y, x)
    return high + ops.log1p(ops.exp(low - high))  # the imaginary part is not wrapped


def _power(x: Any, y: Any) -> Any:
    """The power; of integers to negative exponents, rounded towards zero."""
    if not isinstance(x, Array) or not isinstance(y, Array) or y.dtype.kind != "i":
        return ops.pow(x, y)
    if x.dtype.kind not in "iu":
        return ops.pow(x, y)
    odd, below = ops.equal(ops.remainder(y, 2), 1), ops.less(y, 0)
    sign = ops.where(odd, x, ops.ones_like(x))
    one = ops.where(ops.equal(ops.abs(x), 1), sign, 0)
    return ops.astype(ops.where(below, one, ops.pow(x, ops.where(below, 0, y))), x.dtype)


def _double(x: Any) -> Any:
    if not isinstance(x, Array):
        return x
    return ops.astype(x, np.complex128 if x.dtype.kind == "c" else np.float64)


def _truth(x: Any) -> Any:
    if not isinstance(x, Array):
        return bool(x)
    return x if x.dtype.kind == "b" else ops.not_equal(x, 0)


def _both(input: Any, other: Any) -> tuple[Any, Any]:
    if isinstance(input, Array) and isinstance(other, Array) and input.dtype == other.dtype:
        return input, other
    return as_promoted(input, other)


def _scaled(native: Any, name: str) -> Any:
    def scaled(input: Any, other: Any, last: Any = None, *, alpha: Any = 1) -> Any:
        if last is not None:  # the order of older programs: alpha before the tensor
            other, alpha = last, other
        x, y = _both(input, other)
        return native(x, y if alpha == 1 else ops.multiply(y, alpha))

    return function(scaled, name=name, in_place=True, doc=f"`{name}`, with `other` times `alpha`.")


add, sub = _scaled(ops.add, "add"), _scaled(ops.subtract, "sub")
subtract = sub


@function(dtypes="promoted")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`other - alpha * input`."""
    if not isinstance(input, Array):
        raise TypeError(f"rsub(): input must be Tensor, not {type(input).__name__}")
    return ops.subtract(other, ops.multiply(input, alpha))


@function(in_place=True)
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """The quotient; rounded down or towards zero on request."""
    x, y = _both(input, other)
    if rounding_mode == "floor":
        return whole_floor(x, y)
    if rounding_mode not in (None, "trunc"):
        raise RuntimeError(f'rounding_mode must be None, "trunc" or "floor", not {rounding_mode!r}')
    wanted = result_type(input, other)
    if rounding_mode == "trunc":
        return ops.astype(ops.trunc(_not_by_zero(ops.divide)(x, y)), wanted)
    quotient = ops.divide(x, y)
    if wanted.kind in "biu":
        return ops.astype(quotient, default_for("f"))
    return quotient


divide = div


def _joined(name: str, native: Any, sign: str) -> Any:
    def joined(input: Any, tensor1: Any, tensor2: Any, last: Any = None, *, value: Any = 1) -> Any:
        if last is not None:  # the order of older programs: value before the tensors
            tensor1, tensor2, value = tensor2, last, tensor1
        found = native(tensor1, tensor2)
        return ops.add(input, found if value == 1 else found * value)

    return function(
        joined,
        name=name,
        in_place=True,
        dtypes="promoted",
        doc=f"`input + value * tensor1 {sign} tensor2`.",
    )


addcmul, addcdiv = _joined("addcmul", ops.multiply, "*"), _joined("addcdiv", ops.divide, "/")


@function(in_place=True, dtypes="same")
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """The point between two tensors at `weight`."""
    return ops.add(input, ops.multiply(weight, ops.subtract(end, input)))


@function(method=False)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Elements of one tensor where a condition holds, and of another elsewhere."""
    if input is None and other is None:
        check_static(condition, "where")
        return tuple(ops.nonzero(condition))
    if condition.dtype != np.uint8:  # an older kind of masks
        check_mask(condition, "where", "condition")
    wanted = result_type(input, other)
    x, y = (
        ops.astype(v, wanted) if isinstance(v, Array) and v.dtype != wanted else v
        for v in (input, other)
    )
    if not isinstance(x, Array) and not isinstance(y, Array):
        x = asarray(x, dtype=wanted)
    return ops.where(condition, x, y)


# The method is that of the values, and the condition comes second.
METHODS["where"] = lambda self, condition, other: where(condition, self, other)


@function(in_place=True, dtypes="floating")
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The norm of the difference."""
    from .... import linalg

    return in_single(linalg.vector_norm, input - other, ord=p)


@function(in_place=True)
def float_power(input: Any, exponent: Any) -> Any:
    """Powers in double precision."""
    if not isinstance(input, Array) and not isinstance(exponent, Array):
        raise TypeError("float_power(): input or exponent must be Tensor")
    base = input if isinstance(input, Array) else ops_tensor(input)
    return ops.pow(_double(base), _double(exponent))


nextafter = function(
    lambda input, other: ops.nextafter(*_both(input, other)), name="nextafter", in_place=True
)


def _check_parts(name: str, first: Any, second: Any) -> None:
    for value in (first, second):
        if not isinstance(value, Array):
            raise TypeError(f"{name}(): both arguments must be Tensor, not {type(value).__name__}")
        if value.dtype.kind != "f":
            raise RuntimeError(
                f"{name}(): Expected both inputs to be Half, Float or Double tensors but got "
                f"{value.dtype}"
            )
    if first.dtype != second.dtype:
        raise RuntimeError(
            f"{name}(): Expected object of scalar type {first.dtype} but got scalar type "
            f"{second.dtype} for second argument"
        )


@function(method=False)
def complex(real: Any, imag: Any) -> Any:
    """Complex numbers with these real and imaginary parts."""
    _check_parts("complex", real, imag)
    return ops.add(
        real, ops.multiply(imag, np.asarray(1j, np.result_type(real.dtype, "complex64")))
    )


@function(method=False)
def polar(abs: Any, angle: Any) -> Any:
    """Complex numbers with these moduli and angles."""
    _check_parts("polar", abs, angle)
    return complex.__wrapped__(abs * ops.cos(angle), abs * ops.sin(angle))


for _alias in __all__:  # second names are methods, too
    _name = globals()[_alias].__name__
    if _name != _alias and _name in METHODS:
        METHODS[_alias] = METHODS[_name]
        METHODS[f"{_alias}_"] = METHODS[f"{_name}_"]
