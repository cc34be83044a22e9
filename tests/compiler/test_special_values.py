"""Native code against NumPy: each elementwise op × dtype × special values.

Zeros of both signs, infinities, NaN, the largest and smallest numbers, subnormal ones, and the
limits of integers; beside arrays and beside Python's numbers. And what each op is defined as in
functions of the Array API, for libraries that have no kernels.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from rows import Row, crossed, over

import arraygrad as ag
from arraygrad.compiler.lower import scalars
from arraygrad.core.kinds import Elementwise

TABLES = (
    scalars.NUMBERS,
    scalars.FLOATS,
    scalars.QUOTIENTS,
    scalars.COMPARISONS,
    scalars.TESTS,
    scalars.LOGIC,
    scalars.BITS,
    scalars.SHIFTS,
    scalars.COMPOSED,
)
# Ops with native code, and those that are compiled as their definition.
OPS = {op.name: op for table in TABLES for op in table if type(op.kind) is Elementwise} | {
    found.op.name: found.op
    for module in (ag, ag.special)
    for found in (getattr(module, name) for name in module.__all__)
    if hasattr(found, "op") and type(found.op.kind) is Elementwise
}
DTYPES = "? b B h H i I l L e f d F D".split()
REAL = [c for c in DTYPES if c not in "?FD"]
EXPONENTS = (-2, -1, 0, 1, 2, 3, 8, 0.5, -0.5, -2.0, 3.0, 1e3)
NUMBERS = (0.0, -0.0, 2, -3, 0.1, 1e-5, 1e5, float("inf"), float("nan"))


def values(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        near = {0, 1, 2, 3, 7, limits.max, limits.max - 1, limits.max // 2}
        if dtype.kind == "i":
            near |= {-1, -2, -3, limits.min, limits.min + 1}
        return np.array(sorted(near), dtype)
    limits = np.finfo(dtype)
    ends = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 7.25, 1e3, np.inf, np.nan]
    ends += [float(limits.max), float(limits.tiny), float(limits.smallest_subnormal)]
    ends += [float(limits.max) ** 0.5 * 1.1, float(limits.tiny) ** 0.5 * 0.9, float(limits.eps)]
    both = np.array([sign * x for x in ends for sign in (1, -1)], limits.dtype)
    if dtype.kind == "f":
        return both
    few = both[:12:2]
    return np.array([complex(a, b) for a in few for b in few], dtype)


def check(function: Any, *arrays: Any, ulps: float = 16, signs: bool = True) -> None:
    """Compare compiled code with NumPy; or both raise."""
    with np.errstate(all="ignore"):
        try:
            expected = function(*arrays)
        except (TypeError, ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                ag.compile(function)(*arrays)
            return
        found = ag.compile(function)(*arrays)
    assert found.dtype == expected.dtype
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
        return
    limits = np.finfo(expected.dtype)
    for one, other in zip(_parts(found), _parts(expected), strict=True):
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
        if signs and expected.dtype.kind == "f":  # that of a complex zero is nobody's promise
            zero = other == 0
            np.testing.assert_array_equal(np.signbit(one[zero]), np.signbit(other[zero]))
        atol = 2 * float(limits.tiny) if expected.dtype.kind == "f" else float(limits.eps)
        np.testing.assert_allclose(one, other, rtol=ulps * float(limits.eps), atol=atol)


def _parts(x: Any) -> list[Any]:
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


# NumPy's own complex functions differ at infinity between versions.
COMPLEX = ("add", "subtract", "multiply", "negative", "positive")
# A quick run takes double precision for each op, and one more dtype in turn.
ALIKE = [
    Row(name, f"{name}-{char}", (name, char), quick=char == "d" or place == turn % len(DTYPES))
    for turn, name in enumerate(sorted(OPS))
    for place, char in enumerate(DTYPES)
    if char not in "FD" or name in COMPLEX
]


@over("name, char", ALIKE)
def test_special_values(name: str, char: str) -> None:
    op, x = OPS[name], values(np.dtype(char))
    count = len(op.inputs)
    if count == 1:
        check(op.function, x, ulps=64 if name in ("ndtr", "gelu") else 16)
        return
    if count != 2:
        return
    a, b = (np.array(side) for side in zip(*itertools.product(x, x), strict=True))
    if np.dtype(char).kind in "iu" and name in ("pow", "remainder", "floor_divide"):
        b = np.abs(b) + (b == 0)
        keep = (b > 0) & (b < 8)
        a, b = a[keep], b[keep]
    # Which of 0.0 and -0.0 is the larger is nobody's promise.
    check(op.function, a, b, signs=name not in ("maximum", "minimum"))


# `floor_divide` is the library's own; SciPy computes the others otherwise at these points.
OTHERWISE = ("floor_divide", "kl_div", "rel_entr", "logical_and", "logical_or", "logical_xor")


@pytest.mark.parametrize("name", sorted(set(OPS) - set(OTHERWISE)))
def test_definitions_in_another_library(name: str) -> None:
    """What an op computes by functions of the standard alone, against NumPy's kernel."""
    xp = pytest.importorskip("array_api_strict")
    op, x = OPS[name], values(np.dtype("d"))
    if len(op.inputs) > 2:
        pytest.skip("more than two inputs")
    arrays = [x] if len(op.inputs) == 1 else list(zip(*itertools.product(x, x), strict=True))
    with np.errstate(all="ignore"):
        try:
            expected = op.function(*map(np.asarray, arrays))
        except TypeError:
            pytest.skip("not for floating-point numbers")
        found = op.function(*(xp.asarray(np.asarray(a)) for a in arrays))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-11, atol=1e-300)


@crossed(char=REAL, exponent=EXPONENTS)
def test_powers_by_numbers(char: str, exponent: float) -> None:
    check(lambda x: ag.pow(x, exponent), values(np.dtype(char)))


@crossed(char=REAL, k=NUMBERS)
def test_python_numbers(char: str, k: float) -> None:
    x = values(np.dtype(char))
    for function in (
        lambda x: x + k,
        lambda x: k - x,
        lambda x: x * k,
        lambda x: x / k,
        lambda x: k / x,
        lambda x: ag.where(x > k, x, k),
        lambda x: x < k,
    ):
        check(function, x)


@crossed(one=DTYPES, other=DTYPES[1:] + DTYPES[:1])  # a quick run takes different ones
def test_two_dtypes(one: str, other: str) -> None:
    x, y = values(np.dtype(one))[:6], values(np.dtype(other))[:6]
    n = min(len(x), len(y))
    check(lambda x, y: x * y, x[:n], y[:n])
    if {one, other} <= set(REAL):
        check(lambda x, y: ag.logaddexp(x, y), x[:n], y[:n])
