"""Elementary functions as instructions on numbers or vectors, for float32 and float64.

Each is within 4 units in the last place of the true value over its whole range. Infinities, NaN,
signed zeros and subnormal numbers give what they give in NumPy.

An argument is reduced to a short interval, where a polynomial approximates the function. The
coefficients minimise the largest relative error there. Far from zero, sine and cosine call the C
library for each lane.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .vectors import Value, Writer

# (exp(r) - 1 - r) / r² for |r| < log(2) / 2
_EXP = {
    "float": [
        0.5000000013543257, 0.1666657664354715, 0.041666464167313115, 0.00836323538462817,
        0.0013933733216281662,
    ],
    "double": [
        0.5, 0.1666666666666667, 0.04166666666666668, 0.008333333333326082,
        0.0013888888888879001, 0.00019841269875003973, 2.480158733663232e-05,
        2.7557255168123062e-06, 2.755726307600547e-07, 2.5105313423078524e-08,
        2.0918212752506956e-09,
    ],
}  # fmt: skip
# log(2) in two parts: products of the first with small integers are exact.
_LOG2 = {
    "float": (0.693359375, -2.12194440e-4),
    "double": (6.93147180369123816490e-01, 1.90821492927058770002e-10),
}
# Adding and subtracting it rounds a number to an integer.
_ROUNDS = {"float": 12582912.0, "double": 6755399441055744.0}
LARGEST_EXP = {"float": 89.0, "double": 710.0}
_SMALLEST_EXP = {"float": -104.0, "double": -746.0}
_EXPONENT = {"float": (127, 23), "double": (1023, 52)}  # its bias, and where its bits are

_LOG_FLOAT = [
    0.33333331190848126, -0.24999989048734916, 0.20000707478390767, -0.16668480239503194,
    0.14249936532976837, -0.1241105068400724, 0.11661511067736371, -0.11571200727082764,
    0.07149753890898826,
]  # fmt: skip
_LOG_DOUBLE = [
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
    2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
    1.479819860511658591e-01,
]  # fmt: skip

_SIN = {
    "float": [-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4],
    "double": [
        -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
    ],
}  # fmt: skip
_COS = {
    "float": [4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5],
    "double": [
        4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
    ],
}  # fmt: skip
_PI_HALF = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_FAR_ANGLE = {"float": 1e8, "double": 1e6}


# --- exponentials --------------------------------------------------------------------------------


def _power_of_two(w: Writer, n: Value, kind: str) -> Value:
    """Two to the power of an integer, of which the result must be a normal number."""
    bias, shift = _EXPONENT[kind]
    raised = w.logic("add", n, w.like(n, bias))
    return w.bits(w.logic("shl", raised, w.like(n, shift)), kind)


def _reduced(w: Writer, x: Value) -> tuple[Value, Value]:
    """The integer n (as a float) nearest to x / log(2), and x - n log(2)."""
    shift = w.like(x, _ROUNDS[x.kind])
    n = w.math("fma", x, w.like(x, 1 / math.log(2)), shift)
    n = w.exact("fsub", n, shift)
    high, low = _LOG2[x.kind]
    r = w.math("fma", n, w.like(x, -high), x)
    return n, w.math("fma", n, w.like(x, -low), r)


def _expm1_near_zero(w: Writer, r: Value) -> Value:
    g = w.polynomial(r, _EXP[r.kind])
    return w.math("fma", g, w.exact("fmul", r, r), r)


def _clamped(w: Writer, x: Value, low: float, high: float) -> Value:
    """`x` within bounds; NaN stays."""
    x = w.choose(w.compare("gt", x, w.like(x, high)), w.like(x, high), x)
    return w.choose(w.compare("lt", x, w.like(x, low)), w.like(x, low), x)


def _as_integer(w: Writer, n: Value) -> Value:
    """A float with an integer value as an integer; any integer for NaN."""
    known = w.choose(w.compare("uno", n, n), w.like(n, 0), n)
    return w.cast(known, w.integer_kind(n))


def exp(w: Writer, x: Value) -> Value:
    """The exponential function."""
    return exp_within(w, _clamped(w, x, _SMALLEST_EXP[x.kind], LARGEST_EXP[x.kind]))


def exp_within(w: Writer, x: Value, more: Value | None = None, halves: int = 0) -> Value:
    """The exponential of `x`, or of the sum of `x` and a much smaller number; halved, if asked for.

    `x` must not be far beyond the numbers whose exponential is neither zero nor infinite.
    """
    n, r = _reduced(w, x)
    r = r if more is None else w.exact("fadd", r, more)
    y = w.exact("fadd", _expm1_near_zero(w, r), w.like(x, 1.0))
    n = w.exact("fsub", n, w.like(n, halves)) if halves else n
    # In two steps, as a power of two may be subnormal, or too large by itself.
    i = _as_integer(w, n)
    half = w.logic("ashr", i, w.like(i, 1))
    y = w.exact("fmul", y, _power_of_two(w, half, x.kind))
    return w.exact("fmul", y, _power_of_two(w, w.logic("sub", i, half), x.kind))


def expm1(w: Writer, x: Value) -> Value:
    """`exp(x) - 1`, accurate for small `x`."""
    bounded = _clamped(w, x, -50.0, LARGEST_EXP[x.kind])
    n, r = _reduced(w, bounded)
    q = _expm1_near_zero(w, r)
    i = _as_integer(w, n)
    scale = _power_of_two(w, w.logic("sub", i, w.like(i, 1)), x.kind)  # half: it may be too large
    y = w.math("fma", scale, q, w.exact("fsub", scale, w.like(x, 0.5)))
    y = w.exact("fadd", y, y)
    y = w.choose(w.compare("eq", n, w.like(n, 0.0)), q, y)
    return w.choose(w.compare("eq", x, w.like(x, 0.0)), x, y)  # keeps the sign of zero


def tanh(w: Writer, x: Value) -> Value:
    """The hyperbolic tangent."""
    a = w.math("fabs", x)
    limit = w.like(x, 9.1 if x.kind == "float" else 20.0)
    a = w.choose(w.compare("gt", a, limit), limit, a)
    n, r = _reduced(w, w.exact("fadd", a, a))
    scale = _power_of_two(w, _as_integer(w, n), x.kind)
    m = w.math("fma", scale, _expm1_near_zero(w, r), w.exact("fsub", scale, w.like(x, 1.0)))
    return w.math("copysign", w.divide(m, w.exact("fadd", m, w.like(x, 2.0))), x)


def expit(w: Writer, x: Value) -> Value:
    """The logistic sigmoid."""
    low = w.like(x, _SMALLEST_EXP[x.kind])
    e = w.negate(w.math("fabs", x))
    e = exp_within(w, w.choose(w.compare("lt", e, low), low, e))
    d = w.divide(w.like(x, 1.0), w.exact("fadd", w.like(x, 1.0), e))
    return w.choose(w.compare("lt", x, w.like(x, 0.0)), w.exact("fmul", e, d), d)


# --- logarithms ----------------------------------------------------------------------------------


def _mantissa(w: Writer, x: Value) -> tuple[Value, Value]:
    """The exponent n and number f for which a positive number is ``2ⁿ (1 + f)``, from √½ to √2."""
    kind, integers = x.kind, w.integer_kind(x)
    tiny, up, shift, middle = {
        "float": (2.0**-126, 2.0**23, 23, 0x3F3504F3),
        "double": (2.0**-1022, 2.0**52, 52, 0x3FE6A09E667F3BCD),
    }[kind]
    is_tiny = w.compare("lt", x, w.like(x, tiny))
    x = w.choose(is_tiny, w.exact("fmul", x, w.like(x, up)), x)
    b = w.bits(x, integers)
    k = w.logic("ashr", w.logic("sub", b, w.like(b, middle)), w.like(b, shift))
    m = w.bits(w.logic("sub", b, w.logic("shl", k, w.like(b, shift))), kind)
    k = w.choose(is_tiny, w.logic("sub", k, w.like(k, shift)), k)
    return w.cast(k, kind), w.exact("fsub", m, w.like(m, 1.0))


def log_parts(w: Writer, x: Value) -> tuple[Value, Value]:
    """The exponent of a positive finite number, and the logarithm of the rest."""
    n, f = _mantissa(w, x)
    return n, _log_of(w, w.like(n, 0.0), f)


def _log(w: Writer, x: Value, lost: Value | None = None) -> Value:
    """The logarithm of positive finite numbers. `lost` is a small number to add to the result."""
    return _log_of(w, *_mantissa(w, x), lost)


def _log_of(w: Writer, n: Value, f: Value, lost: Value | None = None) -> Value:
    """The logarithm of ``2ⁿ (1 + f)``."""
    kind, x = f.kind, f
    high, low = (w.like(x, part) for part in _LOG2[kind])
    if kind == "float":
        square = w.exact("fmul", f, f)
        y = w.exact("fmul", w.exact("fmul", f, square), w.polynomial(f, _LOG_FLOAT))
        y = w.math("fma", n, low, y)
        y = w.math("fma", square, w.like(x, -0.5), y)
        y = y if lost is None else w.exact("fadd", y, lost)
        return w.math("fma", n, high, w.exact("fadd", f, y))
    s = w.divide(f, w.exact("fadd", f, w.like(f, 2.0)))
    z = w.exact("fmul", s, s)
    rest = w.exact("fmul", z, w.polynomial(z, _LOG_DOUBLE))
    half = w.exact("fmul", w.exact("fmul", f, f), w.like(f, 0.5))
    start = w.exact("fmul", n, low) if lost is None else w.math("fma", n, low, lost)
    tail = w.math("fma", s, w.exact("fadd", half, rest), start)
    y = w.exact("fsub", f, w.exact("fsub", half, tail))
    return w.math("fma", n, high, y)


def log_at_ends(w: Writer, x: Value, y: Value) -> Value:
    """The logarithm `y` of `x`, with its special values put in."""
    infinite = w.like(x, math.inf)
    y = w.choose(w.compare("eq", x, infinite), infinite, y)
    y = w.choose(w.compare("eq", x, w.like(x, 0.0)), w.like(x, -math.inf), y)
    y = w.choose(w.compare("lt", x, w.like(x, 0.0)), w.like(x, math.nan), y)
    return w.choose(w.compare("uno", x, x), x, y)


def log(w: Writer, x: Value) -> Value:
    """The natural logarithm."""
    return log_at_ends(w, x, _log(w, x))


def log1p(w: Writer, x: Value) -> Value:
    """`log(1 + x)`, accurate for small `x`."""
    one = w.like(x, 1.0)
    u = w.exact("fadd", x, one)
    after_one = w.exact("fsub", one, w.exact("fsub", u, x))
    after_x = w.exact("fsub", x, w.exact("fsub", u, one))
    lost = w.divide(w.choose(w.compare("gt", x, one), after_one, after_x), u)
    y = log_at_ends(w, u, _log(w, u, lost))
    limit = w.like(x, 2.0 ** (-25 if x.kind == "float" else -54))
    return w.choose(w.compare("lt", w.math("fabs", x), limit), x, y)


# --- sine and cosine -----------------------------------------------------------------------------


def quarters(w: Writer, x: Value) -> tuple[Value, Value, Value]:
    """The number of quarter turns, and sine and cosine of the rest."""
    wide = w.cast(x, "double")
    shift = w.like(wide, _ROUNDS["double"])
    turns = w.math("fma", wide, w.like(wide, 2 / math.pi), shift)
    n = w.exact("fsub", turns, shift)
    quarter = w.bits(turns, "i64")
    r = wide
    for part in _PI_HALF[: 2 if x.kind == "float" else 3]:
        r = w.math("fma", n, w.like(wide, -part), r)
    if x.kind == "float":
        r, quarter = w.cast(r, "float"), w.cast(quarter, "i32")
    z = w.exact("fmul", r, r)
    s = w.polynomial(z, _SIN[x.kind])
    s = w.math("fma", w.exact("fmul", s, z), r, r)
    c = w.polynomial(z, _COS[x.kind])
    half = w.exact("fmul", z, w.like(z, 0.5))
    rough = w.exact("fsub", w.like(z, 1.0), half)
    lost = w.exact("fsub", w.exact("fsub", w.like(z, 1.0), rough), half)
    c = w.exact("fadd", rough, w.math("fma", w.exact("fmul", z, z), c, lost))
    return quarter, s, c


def _turned(w: Writer, quarter: Value, s: Value, c: Value) -> Value:
    """The sine after a number of quarter turns."""
    zero = w.like(quarter, 0)
    is_odd = w.compare("ne", w.logic("and", quarter, w.like(quarter, 1)), zero)
    y = w.choose(is_odd, c, s)
    is_flipped = w.compare("ne", w.logic("and", quarter, w.like(quarter, 2)), zero)
    return w.choose(is_flipped, w.negate(y), y)


def near_or_far(w: Writer, name: str, x: Value, near: Value) -> Value:
    """`near`, unless an angle is too large for it: then the C library's function, by lanes."""
    # For NaN it is false, and `near` is NaN.
    far = w.compare("gt", w.math("fabs", x), w.like(x, _FAR_ANGLE[x.kind]))
    if x.lanes:
        far = w.intrinsic(f"llvm.vector.reduce.or.v{x.lanes}i1", "i1", far, kind="i1", lanes=0)
    before, slow, after = w.block, w.name("slow"), w.name("after")
    w.branch(far, slow, after)
    w.start(slow)
    other = library(w, name, x)
    end = w.block
    w.jump(after)
    w.start(after)
    text = f"phi {x.type} [ {near.text}, %{before} ], [ {other.text}, %{end} ]"
    return w.let(text, x.kind, x.lanes)


def sin(w: Writer, x: Value) -> Value:
    """The sine."""
    quarter, s, c = quarters(w, x)
    y = w.choose(w.compare("eq", x, w.like(x, 0.0)), x, _turned(w, quarter, s, c))
    return near_or_far(w, "sin", x, y)


def cos(w: Writer, x: Value) -> Value:
    """The cosine."""
    quarter, s, c = quarters(w, x)
    y = _turned(w, w.logic("add", quarter, w.like(quarter, 1)), s, c)
    return near_or_far(w, "cos", x, y)


# --- functions of the C library, and simple ones -------------------------------------------------


def library(w: Writer, name: str, *args: Value) -> Value:
    """A function of the C library, called for each lane."""
    x = args[0]
    symbol = name + ("f" if x.kind == "float" else "")
    w.module.declare(symbol, f"declare {x.kind} @{symbol}({', '.join([x.kind] * len(args))})")

    def call(values: Sequence[Value]) -> Value:
        given = ", ".join(f"{v.type} {v.text}" for v in values)
        return w.let(f"call {x.kind} @{symbol}({given})", x.kind)

    if not x.lanes:
        return call(args)
    found = Value("poison", x.kind, x.lanes)
    for i in range(x.lanes):
        one = call([w.lane(a, i) for a in args])
        text = f"insertelement {found.type} {found.text}, {x.kind} {one.text}, i64 {i}"
        found = w.let(text, x.kind, x.lanes)
    return found


def sign(w: Writer, x: Value) -> Value:
    """One, minus one or zero; NaN for NaN."""
    zero = w.like(x, 0)
    y = w.choose(w.compare("gt", x, zero), w.like(x, 1), zero)
    y = w.choose(w.compare("lt", x, zero), w.like(x, -1), y)
    return y if x.kind not in _EXP else w.choose(w.compare("uno", x, x), x, y)


def absolute(w: Writer, x: Value) -> Value:
    """The absolute value."""
    if x.kind in _EXP:
        return w.math("fabs", x)
    return w.choose(w.compare("lt", x, w.like(x, 0)), w.negate(x), x)
