"""Powers, logarithms to other bases, and the length of a vector, as instructions."""

from __future__ import annotations

import math

from .functions import exp, library, log, log_at_ends, log_parts
from .vectors import Value, Writer

# The second numbers are what the nearest float64 to the first ones lack; _SHORT for float32.
_LOG2_E = (1.4426950408889634, 2.0355273740931033e-17)
_LOG10_E = (0.4342944819032518, 1.098319650216765e-17)
_LOG10_2 = (0.30102999566398120, -2.8037281277851704e-18)


def _parts(kind: str, number: tuple[float, float]) -> tuple[float, float]:
    """A number as the nearest one of a type, and the rest."""
    if kind == "double":
        return number
    high = _float32(number[0])
    return high, number[0] - high + number[1]


def _float32(x: float) -> float:
    mantissa, exponent = math.frexp(x)
    return math.ldexp(round(mantissa * 2**24), exponent - 24)


def log2(w: Writer, x: Value) -> Value:
    """The logarithm to the base 2."""
    n, y = log_parts(w, x)
    high, low = (w.like(x, part) for part in _parts(x.kind, _LOG2_E))
    rest = w.exact("fadd", n, w.exact("fmul", y, low))
    return log_at_ends(w, x, w.math("fma", y, high, rest))


def log10(w: Writer, x: Value) -> Value:
    """The logarithm to the base 10."""
    n, y = log_parts(w, x)
    high, low = (w.like(x, part) for part in _parts(x.kind, _LOG10_E))
    two, less = (w.like(x, part) for part in _parts(x.kind, _LOG10_2))
    rest = w.math("fma", n, less, w.exact("fmul", y, low))
    rest = w.math("fma", y, high, rest)
    return log_at_ends(w, x, w.math("fma", n, two, rest))


def hypot(w: Writer, x: Value, y: Value) -> Value:
    """The length of a vector in the plane."""
    a, b = w.math("fabs", x), w.math("fabs", y)
    large = w.choose(w.compare("gt", a, b), a, b)
    # Squares must be neither too large nor too small: first multiply by a power of two.
    far, more = (60, 30) if x.kind == "float" else (500, 100)
    one, zero, infinite = w.like(x, 1.0), w.like(x, 0.0), w.like(x, math.inf)
    is_large = w.compare("gt", large, w.like(x, 2.0**far))
    is_small = w.compare("lt", large, w.like(x, 2.0**-far))
    up, down = (w.like(x, 2.0 ** (sign * (far + more))) for sign in (1, -1))
    factor = w.choose(is_large, down, w.choose(is_small, up, one))
    back = w.choose(is_large, up, w.choose(is_small, down, one))
    a, b = w.exact("fmul", a, factor), w.exact("fmul", b, factor)
    root = w.math("sqrt", w.math("fma", a, a, w.exact("fmul", b, b)))
    found = w.exact("fmul", root, back)
    for part in (a, b):
        found = w.choose(w.compare("eq", part, infinite), infinite, found)
    return w.choose(w.compare("eq", large, zero), w.exact("fadd", a, b), found)


def power(w: Writer, x: Value, y: Value) -> Value:
    """`x` to the power of `y`: for float32 by way of float64, else by the C library."""
    if x.kind == "double":
        return library(w, "pow", x, y)
    a = w.cast(w.math("fabs", x), "double")
    found = w.cast(exp(w, w.multiply(w.cast(y, "double"), log(w, a))), "float")
    one, zero = w.like(x, 1.0), w.like(x, 0.0)
    # One to any power, and any number to the power of zero, are one.
    size = w.math("fabs", x)
    found = w.choose(w.compare("eq", size, one), w.choose(w.compare("uno", y, y), y, one), found)
    half = w.exact("fmul", y, w.like(y, 0.5))
    is_whole = w.compare("eq", w.math("trunc", y), y)
    is_odd = w.logic("and", is_whole, w.compare("ne", w.math("trunc", half), half))
    is_negative = w.compare("lt", w.math("copysign", one, x), zero)
    found = w.choose(w.logic("and", is_odd, is_negative), w.negate(found), found)
    finite = w.compare("lt", w.math("fabs", x), w.like(x, math.inf))
    wrong = w.logic("and", w.compare("lt", x, zero), w.compare("ne", w.math("trunc", y), y))
    found = w.choose(w.logic("and", wrong, finite), w.like(x, math.nan), found)
    found = w.choose(w.compare("uno", x, x), x, found)
    found = w.choose(w.compare("eq", y, zero), one, found)
    return w.choose(w.compare("eq", x, one), one, found)
