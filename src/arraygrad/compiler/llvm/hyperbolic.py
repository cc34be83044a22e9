"""Hyperbolic functions and their inverses, as instructions; see `functions`."""

from __future__ import annotations

import math

from .functions import LARGEST_EXP, exp_within, log, log1p
from .vectors import Value, Writer

# (sinh(t) - t) / t³ as a function of t², up to 1
_SINH = {
    "float": [
        0.16666666646842135, 0.00833333967591706, 0.00019838101968683888, 2.8062802582276946e-06,
    ],
    "double": [
        0.16666666666666666, 0.008333333333333299, 0.00019841269841324198, 2.7557319191381816e-06,
        2.5052117695907823e-08, 1.6057679623801638e-10, 7.746178593018827e-13,
    ],
}  # fmt: skip
# From here on, adding one to the square changes nothing; its square root may be too large.
_FAR = {"float": 2.0**14, "double": 2.0**28}


def _half_exp(w: Writer, x: Value) -> Value:
    """Half of the exponential of |x|: it may be finite where the exponential is not."""
    a, top = w.math("fabs", x), w.like(x, LARGEST_EXP[x.kind] + 2)
    return exp_within(w, w.choose(w.compare("gt", a, top), top, a), halves=1)


def sinh(w: Writer, x: Value) -> Value:
    """The hyperbolic sine."""
    half = _half_exp(w, x)
    far = w.exact("fsub", half, w.divide(w.like(x, 0.25), half))
    z = w.exact("fmul", x, x)
    near = w.math("fma", w.exact("fmul", w.polynomial(z, _SINH[x.kind]), z), x, x)
    is_near = w.compare("lt", w.math("fabs", x), w.like(x, 1.0))
    return w.choose(is_near, near, w.math("copysign", far, x))


def cosh(w: Writer, x: Value) -> Value:
    """The hyperbolic cosine."""
    half = _half_exp(w, x)
    return w.exact("fadd", half, w.divide(w.like(x, 0.25), half))


def _log_twice(w: Writer, x: Value) -> Value:
    """The logarithm of twice a large number."""
    return w.exact("fadd", log(w, x), w.like(x, math.log(2)))


def asinh(w: Writer, x: Value) -> Value:
    """The inverse of the hyperbolic sine."""
    a, one = w.math("fabs", x), w.like(x, 1.0)
    far = w.compare("gt", a, w.like(x, _FAR[x.kind]))
    b = w.choose(far, one, a)
    square = w.exact("fmul", b, b)
    root = w.exact("fadd", w.math("sqrt", w.exact("fadd", square, one)), one)
    y = log1p(w, w.exact("fadd", b, w.divide(square, root)))
    return w.math("copysign", w.choose(far, _log_twice(w, a), y), x)


def acosh(w: Writer, x: Value) -> Value:
    """The inverse of the hyperbolic cosine."""
    one = w.like(x, 1.0)
    far = w.compare("gt", x, w.like(x, _FAR[x.kind]))
    t = w.exact("fsub", w.choose(far, one, x), one)
    # Below one, the root must not be real: it would be again below minus one.
    t = w.choose(w.compare("lt", t, w.like(x, 0.0)), w.like(x, math.nan), t)
    root = w.math("sqrt", w.math("fma", t, t, w.exact("fadd", t, t)))
    return w.choose(far, _log_twice(w, x), log1p(w, w.exact("fadd", t, root)))


def atanh(w: Writer, x: Value) -> Value:
    """The inverse of the hyperbolic tangent."""
    a = w.math("fabs", x)
    rest = w.exact("fsub", w.like(x, 1.0), a)
    y = log1p(w, w.divide(w.exact("fadd", a, a), rest))
    return w.math("copysign", w.exact("fmul", y, w.like(x, 0.5)), x)
