"""Quotients that are rounded down, and remainders: of floats, and of integers by a constant.

A remainder of floats is exact: if the quotient is below 2**24 or 2**53, a fused product and
difference has no rounding error. For larger quotients, the C library computes it for each lane.
"""

from __future__ import annotations

import math

from .functions import library
from .vectors import Value, Writer

# Quotients from here on are not known to the last digit.
_LARGE = {"float": 2.0**24, "double": 2.0**53}


def fmod(w: Writer, x: Value, y: Value) -> Value:
    """The remainder with the sign of `x`."""
    top, size = w.math("fabs", x), w.math("fabs", y)
    quotient = w.math("trunc", w.divide(top, size))
    rest = w.math("fma", w.negate(quotient), size, top)
    # The quotient may have been rounded up to an integer.
    is_over = w.compare("lt", rest, w.like(x, 0.0))
    rest = w.choose(is_over, w.exact("fadd", rest, size), rest)
    rest = w.choose(w.compare("eq", size, w.like(x, math.inf)), top, rest)
    # What is not a number, or has no remainder: infinities over anything, anything over zero.
    is_none = w.compare("eq", size, w.like(x, 0.0))
    is_none = w.logic("or", is_none, w.compare("eq", top, w.like(x, math.inf)))
    is_none = w.logic("or", is_none, w.compare("uno", x, y))
    near = w.math("copysign", w.choose(is_none, w.like(x, math.nan), rest), x)
    far = w.compare("ge", quotient, w.like(x, _LARGE[x.kind]))
    far = w.choose(is_none, w.like(far, False), far)
    if x.lanes:
        far = w.intrinsic(f"llvm.vector.reduce.or.v{x.lanes}i1", "i1", far, kind="i1", lanes=0)
    before, slow, after = w.block, w.name("slow"), w.name("after")
    w.branch(far, slow, after)
    w.start(slow)
    other = library(w, "fmod", x, y)
    end = w.block
    w.jump(after)
    w.start(after)
    text = f"phi {x.type} [ {near.text}, %{before} ], [ {other.text}, %{end} ]"
    return w.let(text, x.kind, x.lanes)


def _differ(w: Writer, x: Value, y: Value) -> Value:
    """Where two numbers have different signs, and the first is not zero."""
    zero = w.like(x, 0)
    signs = w.logic("xor", w.compare("lt", x, zero), w.compare("lt", y, zero))
    return w.logic("and", signs, w.compare("ne", x, zero))


def remainder(w: Writer, x: Value, y: Value) -> Value:
    """The remainder with the sign of `y`. Integers must be divided by a constant, not 0 or -1."""
    if x.kind not in _LARGE:
        rest = w.logic("srem", x, y)
        return w.choose(_differ(w, rest, y), w.add(rest, y), rest)
    rest = fmod(w, x, y)
    moved = w.choose(_differ(w, rest, y), w.exact("fadd", rest, y), rest)
    is_zero = w.compare("eq", rest, w.like(x, 0.0))
    return w.choose(is_zero, w.math("copysign", rest, y), moved)


def floor_divide(w: Writer, x: Value, y: Value) -> Value:
    """The quotient, rounded down. Integers must be divided by a constant, not 0 or -1.

    Of floats of which one is infinite, it is the quotient itself, as the standard has it.
    """
    if x.kind not in _LARGE:
        rest = w.logic("srem", x, y)
        quotient = w.logic("sdiv", x, y)
        return w.choose(_differ(w, rest, y), w.subtract(quotient, w.like(x, 1)), quotient)
    rest = fmod(w, x, y)
    whole = w.divide(w.exact("fsub", x, rest), y)
    whole = w.choose(_differ(w, rest, y), w.exact("fsub", whole, w.like(x, 1.0)), whole)
    down = w.math("floor", whole)
    is_above = w.compare("gt", w.exact("fsub", whole, down), w.like(x, 0.5))
    down = w.choose(is_above, w.exact("fadd", down, w.like(x, 1.0)), down)
    plain = w.divide(x, y)
    signed = w.math("copysign", w.like(x, 0.0), plain)
    down = w.choose(w.compare("eq", whole, w.like(x, 0.0)), signed, down)
    infinite = w.like(x, math.inf)
    is_plain = w.compare("eq", y, w.like(x, 0.0))
    for part in (x, y):
        is_infinite = w.compare("eq", w.math("fabs", part), infinite)
        is_plain = w.logic("or", is_plain, is_infinite)
    return w.choose(is_plain, plain, down)
