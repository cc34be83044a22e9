"""Tangent, and the inverse trigonometric functions, as instructions; see `functions`."""

from __future__ import annotations

import math

from .functions import near_or_far, quarters
from .vectors import Value, Writer

# (atan(t) - t) / t³ and (asin(t) - t) / t³ as functions of t², up to 0.67² and 0.5²
_ATAN = {
    "float": [
        -0.33333333268813636, 0.19999981545135465, -0.1428483716099256, 0.11094989774724938,
        -0.089422732416024, 0.06921499165270958, -0.042973633433484315, 0.01455916213700596,
    ],
    "double": [
        -0.3333333333333333, 0.19999999999999782, -0.14285714285672968, 0.11111111107994974,
        -0.09090908967038022, 0.07692304702182143, -0.06666619046826487, 0.058818255633205474,
        -0.05258953330427864, 0.04737218330394335, -0.04239545671723034, 0.036422726197762906,
        -0.028097242880625168, 0.01751535206550656, -0.007517695297598324, 0.001610585791858146,
    ],
}  # fmt: skip
_ASIN = {
    "float": [
        0.16666666337430908, 0.07500094543497424, 0.04459940152851218, 0.03110066273549457,
        0.017149238357677253, 0.03369084720283012,
    ],
    "double": [
        0.16666666666666666, 0.07500000000000118, 0.044642857142551895, 0.03038194447553234,
        0.02237215744350722, 0.017352816540325496, 0.01396378001220357, 0.011566459612121669,
        0.009621842970100282, 0.009319560794767446, 0.0030448799094556773, 0.019554513336123378,
        -0.01924167174674304, 0.02961201126495512,
    ],
}  # fmt: skip
# What is missing in the nearest float64 to π/2; and in the nearest float32.
_PI_HALF = {"float": (1.57079637050628662109375, -4.37113900018624283e-8)}
_PI_HALF["double"] = (math.pi / 2, 6.123233995736766e-17)


def tan(w: Writer, x: Value) -> Value:
    """The tangent."""
    quarter, s, c = quarters(w, x)
    is_odd = w.compare("ne", w.logic("and", quarter, w.like(quarter, 1)), w.like(quarter, 0))
    y = w.divide(w.choose(is_odd, w.negate(c), s), w.choose(is_odd, s, c))
    return near_or_far(w, "tan", x, w.choose(w.compare("eq", x, w.like(x, 0.0)), x, y))


def _odd(w: Writer, t: Value, coefficients: list[float]) -> Value:
    """The number ``t + t³ p(t²)``."""
    z = w.exact("fmul", t, t)
    return w.math("fma", w.exact("fmul", w.polynomial(z, coefficients), z), t, t)


def atan(w: Writer, x: Value) -> Value:
    """The angle with a tangent."""
    a = w.math("fabs", x)
    one = w.like(x, 1.0)
    is_large = w.compare("gt", a, w.like(x, 2.414213562373095))
    is_middle = w.compare("gt", a, w.like(x, 0.6666))
    # A number above 2.4 becomes minus its inverse; one above 0.67, the tangent of an eighth less.
    above = w.choose(is_large, w.like(x, -1.0), w.choose(is_middle, w.exact("fsub", a, one), a))
    below = w.choose(is_large, a, w.choose(is_middle, w.exact("fadd", a, one), one))
    t = w.divide(above, below)
    high, low = _PI_HALF[x.kind]
    y = _odd(w, t, _ATAN[x.kind])
    zero = w.like(x, 0.0)
    rest = w.choose(is_large, w.like(x, low), w.choose(is_middle, w.like(x, low / 2), zero))
    base = w.choose(is_large, w.like(x, high), w.choose(is_middle, w.like(x, high / 2), zero))
    return w.math("copysign", w.exact("fadd", base, w.exact("fadd", y, rest)), x)


def atan2(w: Writer, y: Value, x: Value) -> Value:
    """The angle of a point in the plane."""
    a, b = w.math("fabs", x), w.math("fabs", y)
    is_steep = w.compare("gt", b, a)
    small, large = w.choose(is_steep, a, b), w.choose(is_steep, b, a)
    ratio = w.divide(small, large)
    is_both = w.compare("eq", a, b)  # zeros and infinities, too
    is_zero = w.compare("eq", large, w.like(x, 0.0))
    ratio = w.choose(is_both, w.choose(is_zero, w.like(x, 0.0), w.like(x, 1.0)), ratio)
    angle = atan(w, ratio)
    high, low = _PI_HALF[x.kind]
    steep = w.exact("fsub", w.like(x, high), w.exact("fsub", angle, w.like(x, low)))
    angle = w.choose(is_steep, steep, angle)
    is_left = w.compare("lt", w.math("copysign", w.like(x, 1.0), x), w.like(x, 0.0))
    left = w.exact("fsub", w.like(x, 2 * high), w.exact("fsub", angle, w.like(x, 2 * low)))
    angle = w.math("copysign", w.choose(is_left, left, angle), y)
    is_nan = w.compare("uno", x, y)
    return w.choose(is_nan, w.like(x, math.nan), angle)


def _asin_and_half(w: Writer, x: Value) -> tuple[Value, Value]:
    """Whether |x| > 1/2; the arc sine of |x|, or then half the arc cosine of |x|."""
    a = w.math("fabs", x)
    is_large = w.compare("gt", a, w.like(x, 0.5))
    half = w.exact("fmul", w.exact("fsub", w.like(x, 1.0), a), w.like(x, 0.5))
    t = w.choose(is_large, w.math("sqrt", half), a)
    return is_large, _odd(w, t, _ASIN[x.kind])


def asin(w: Writer, x: Value) -> Value:
    """The angle with a sine."""
    is_large, y = _asin_and_half(w, x)
    high, low = _PI_HALF[x.kind]
    twice = w.exact("fsub", w.exact("fadd", y, y), w.like(x, low))
    y = w.choose(is_large, w.exact("fsub", w.like(x, high), twice), y)
    return w.math("copysign", y, x)


def acos(w: Writer, x: Value) -> Value:
    """The angle with a cosine."""
    is_large, y = _asin_and_half(w, x)
    is_negative = w.compare("lt", x, w.like(x, 0.0))
    high, low = _PI_HALF[x.kind]
    twice = w.exact("fadd", y, y)
    left = w.exact("fsub", w.like(x, 2 * high), w.exact("fsub", twice, w.like(x, 2 * low)))
    large = w.choose(is_negative, left, twice)
    signed = w.choose(is_negative, w.negate(y), y)
    small = w.exact("fsub", w.like(x, high), w.exact("fsub", signed, w.like(x, low)))
    return w.choose(is_large, large, small)
