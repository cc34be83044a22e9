"""Native code against NumPy: each elementwise op × dtype × special values.

Zeros of both signs, infinities, NaN, the largest and smallest numbers, subnormal ones, and the
limits of integers; beside arrays and beside Python's numbers.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

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
OPS = {op.name: op for table in TABLES for op in table if type(op.kind) is Elementwise}
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


@pytest.mark.parametrize("name", sorted(OPS))
def test_special_values(name: str) -> None:
    for char in DTYPES:
        # NumPy's own complex functions differ at infinity between versions.
        if char not in "FD" or name in ("add", "subtract", "multiply", "negative", "positive"):
            check_op(name, char)


def check_op(name: str, char: str) -> None:
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


@pytest.mark.parametrize("char", REAL)
def test_powers_by_numbers(char: str) -> None:
    x = values(np.dtype(char))
    for y in EXPONENTS:
        check(lambda x, y=y: ag.pow(x, y), x)


@pytest.mark.parametrize("char", REAL)
def test_python_numbers(char: str) -> None:
    x = values(np.dtype(char))
    for k in NUMBERS:
        for function in (
            lambda x, k=k: x + k,
            lambda x, k=k: k - x,
            lambda x, k=k: x * k,
            lambda x, k=k: x / k,
            lambda x, k=k: k / x,
            lambda x, k=k: ag.where(x > k, x, k),
            lambda x, k=k: x < k,
        ):
            check(function, x)


@pytest.mark.parametrize("one", DTYPES)
def test_two_dtypes(one: str) -> None:
    for other in DTYPES:
        x, y = values(np.dtype(one))[:6], values(np.dtype(other))[:6]
        n = min(len(x), len(y))
        check(lambda x, y: x * y, x[:n], y[:n])
        if {one, other} <= set(REAL):
            check(lambda x, y: ag.logaddexp(x, y), x[:n], y[:n])
