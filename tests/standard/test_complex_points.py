"""Complex numbers with infinities, NaN and signed zeros: what the standard says of each function.

A row of the table says: for such a real part and such an imaginary part, this is the result. Rows
are for imaginary parts with the sign bit clear; the others follow by conjugation, and for odd and
even functions those of negative real parts by symmetry.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag

inf, nan, pi = math.inf, math.nan, math.pi
ZERO, ZEROS = (0.0,), (0.0, -0.0)
POSITIVE = (0.5, 1.0, 2.0, 4.0, 700.0)
NONZERO = (*POSITIVE, *(-x for x in POSITIVE))
FINITE = (*ZEROS, *NONZERO)
ANY = (*FINITE, inf, -inf, nan)
FINITE_ABOVE = (*ZERO, *POSITIVE)  # with the sign bit clear


class Either(NamedTuple):
    """A result whose sign is not specified."""

    size: float


def cis(size: float) -> Any:
    """That size, in the direction of the imaginary part."""
    return lambda b: (math.copysign(size, math.cos(b)), math.copysign(size, math.sin(b)))


def zero_cis_minus_one(b: float) -> Any:
    return -1.0, math.copysign(0.0, math.sin(b))


Row = tuple[tuple[float, ...], tuple[float, ...], Any]

EXP: list[Row] = [
    (ZEROS, ZERO, (1.0, 0.0)),
    (FINITE, (inf,), (nan, nan)),
    (FINITE, (nan,), (nan, nan)),
    ((inf,), ZERO, (inf, 0.0)),
    ((-inf,), FINITE_ABOVE, cis(0.0)),
    ((inf,), POSITIVE, cis(inf)),
    ((-inf,), (inf,), (Either(0.0), Either(0.0))),
    ((inf,), (inf,), (Either(inf), nan)),
    ((-inf,), (nan,), (Either(0.0), Either(0.0))),
    ((inf,), (nan,), (Either(inf), nan)),
    ((nan,), ZERO, (nan, 0.0)),
    ((nan,), (*POSITIVE, inf, nan), (nan, nan)),
]
EXPM1: list[Row] = [
    (ZEROS, ZERO, (0.0, 0.0)),
    (FINITE, (inf,), (nan, nan)),
    (FINITE, (nan,), (nan, nan)),
    ((inf,), ZERO, (inf, 0.0)),
    ((-inf,), FINITE_ABOVE, zero_cis_minus_one),
    ((inf,), POSITIVE, cis(inf)),
    ((-inf,), (inf,), (-1.0, Either(0.0))),
    ((inf,), (inf,), (Either(inf), nan)),
    ((-inf,), (nan,), (-1.0, Either(0.0))),
    ((inf,), (nan,), (Either(inf), nan)),
    ((nan,), ZERO, (nan, 0.0)),
    ((nan,), (*POSITIVE, inf, nan), (nan, nan)),
]
LARGE_LOG: list[Row] = [
    (FINITE, (inf,), (inf, pi / 2)),
    (FINITE, (nan,), (nan, nan)),
    ((-inf,), FINITE_ABOVE, (inf, pi)),
    ((inf,), FINITE_ABOVE, (inf, 0.0)),
    ((-inf,), (inf,), (inf, 3 * pi / 4)),
    ((inf,), (inf,), (inf, pi / 4)),
    ((inf, -inf), (nan,), (inf, nan)),
    ((nan,), FINITE_ABOVE, (nan, nan)),
    ((nan,), (inf,), (inf, nan)),
    ((nan,), (nan,), (nan, nan)),
]
LOG: list[Row] = [((-0.0,), ZERO, (-inf, pi)), (ZERO, ZERO, (-inf, 0.0)), *LARGE_LOG]
LOG1P: list[Row] = [((-1.0,), ZERO, (-inf, 0.0)), *LARGE_LOG]
SQRT: list[Row] = [
    (ZEROS, ZERO, (0.0, 0.0)),
    (ANY, (inf,), (inf, inf)),
    (FINITE, (nan,), (nan, nan)),
    ((-inf,), POSITIVE, (0.0, inf)),
    ((inf,), POSITIVE, (inf, 0.0)),
    ((-inf,), (nan,), (nan, Either(inf))),
    ((inf,), (nan,), (inf, nan)),
    ((nan,), (*FINITE_ABOVE, nan), (nan, nan)),
]
COSH: list[Row] = [
    (ZERO, ZERO, (1.0, 0.0)),
    (ZERO, (inf, nan), (nan, Either(0.0))),
    (NONZERO, (inf, nan), (nan, nan)),
    ((inf,), ZERO, (inf, 0.0)),
    ((inf,), POSITIVE, cis(inf)),
    ((inf,), (inf,), (Either(inf), nan)),
    ((inf,), (nan,), (inf, nan)),
    ((nan,), ZERO, (nan, Either(0.0))),
    ((nan,), (*POSITIVE, nan), (nan, nan)),
]
SINH: list[Row] = [
    (ZERO, ZERO, (0.0, 0.0)),
    (ZERO, (inf, nan), (Either(0.0), nan)),
    (POSITIVE, (inf, nan), (nan, nan)),
    ((inf,), ZERO, (inf, 0.0)),
    ((inf,), POSITIVE, cis(inf)),
    ((inf,), (inf, nan), (Either(inf), nan)),
    ((nan,), ZERO, (nan, 0.0)),
    ((nan,), (*POSITIVE, nan), (nan, nan)),
]
TANH: list[Row] = [
    (ZERO, ZERO, (0.0, 0.0)),
    (NONZERO, (inf, nan), (nan, nan)),
    (ZERO, (inf, nan), (0.0, nan)),
    ((inf,), POSITIVE, (1.0, Either(0.0))),
    ((inf,), (inf, nan), (1.0, Either(0.0))),
    ((nan,), ZERO, (nan, 0.0)),
    ((nan,), (*POSITIVE, nan), (nan, nan)),
]
ASINH: list[Row] = [
    (ZERO, ZERO, (0.0, 0.0)),
    (POSITIVE, (inf,), (inf, pi / 2)),
    (FINITE, (nan,), (nan, nan)),
    ((inf,), POSITIVE, (inf, 0.0)),
    ((inf,), (inf,), (inf, pi / 4)),
    ((nan,), ZERO, (nan, 0.0)),
    ((nan,), POSITIVE, (nan, nan)),
    ((nan,), (inf,), (Either(inf), nan)),
    ((nan,), (nan,), (nan, nan)),
]
ACOS: list[Row] = [
    (ZEROS, ZERO, (pi / 2, -0.0)),
    (ZEROS, (nan,), (pi / 2, nan)),
    (FINITE, (inf,), (pi / 2, -inf)),
    (NONZERO, (nan,), (nan, nan)),
    ((-inf,), POSITIVE, (pi, -inf)),
    ((inf,), POSITIVE, (0.0, -inf)),
    ((-inf,), (inf,), (3 * pi / 4, -inf)),
    ((inf,), (inf,), (pi / 4, -inf)),
    ((inf, -inf), (nan,), (nan, Either(inf))),
    ((nan,), FINITE_ABOVE, (nan, nan)),
    ((nan,), (inf,), (nan, -inf)),
    ((nan,), (nan,), (nan, nan)),
]
ACOSH: list[Row] = [
    (ZEROS, ZERO, (0.0, pi / 2)),
    (FINITE, (inf,), (inf, pi / 2)),
    (NONZERO, (nan,), (nan, nan)),
    (ZERO, (nan,), (nan, Either(pi / 2))),
    ((-inf,), POSITIVE, (inf, pi)),
    ((inf,), POSITIVE, (inf, 0.0)),
    ((-inf,), (inf,), (inf, 3 * pi / 4)),
    ((inf,), (inf,), (inf, pi / 4)),
    ((inf, -inf), (nan,), (inf, nan)),
    ((nan,), FINITE_ABOVE, (nan, nan)),
    ((nan,), (inf,), (inf, nan)),
    ((nan,), (nan,), (nan, nan)),
]
ATANH: list[Row] = [
    (ZERO, ZERO, (0.0, 0.0)),
    (ZERO, (nan,), (0.0, nan)),
    ((1.0,), ZERO, (inf, 0.0)),
    (POSITIVE, (inf,), (0.0, pi / 2)),
    (NONZERO, (nan,), (nan, nan)),
    ((inf,), (*POSITIVE, inf), (0.0, pi / 2)),
    ((inf,), (nan,), (0.0, nan)),
    ((nan,), FINITE_ABOVE, (nan, nan)),
    ((nan,), (inf,), (Either(0.0), pi / 2)),
    ((nan,), (nan,), (nan, nan)),
]
SIGN: list[Row] = [
    (ZEROS, ZERO, (0.0, 0.0)),
    ((nan,), FINITE_ABOVE, (nan, nan)),
    ((*FINITE, nan), (nan,), (nan, nan)),
]
ABS: list[Row] = [
    ((inf, -inf), (*FINITE_ABOVE, inf, nan), (inf, 0.0)),
    (ANY, (inf,), (inf, 0.0)),
    ((nan,), FINITE_ABOVE, (nan, 0.0)),
    ((*FINITE, nan), (nan,), (nan, 0.0)),
    (ZEROS, POSITIVE, lambda b: (b, 0.0)),
]

TABLE = {
    "abs": ABS,
    "acos": ACOS,
    "acosh": ACOSH,
    "asinh": ASINH,
    "atanh": ATANH,
    "cosh": COSH,
    "exp": EXP,
    "expm1": EXPM1,
    "log": LOG,
    "log1p": LOG1P,
    "sign": SIGN,
    "sinh": SINH,
    "sqrt": SQRT,
    "tanh": TANH,
}
ODD = {"asinh", "atanh", "sinh", "tanh"}
EVEN = {"cosh"}
# These are made of hyperbolic ones, says the standard: of the numbers a quarter turn further.
TURNED = {"asin": "asinh", "atan": "atanh", "cos": "cosh", "sin": "sinh", "tan": "tanh"}
BASES = {"log2": math.log(2), "log10": math.log(10)}
NAMES = [*TABLE, *TURNED, *BASES]

Point = tuple[float, float, Any, Any]


def minus(value: Any) -> Any:
    return value if isinstance(value, Either) else -value


def points(name: str) -> list[Point]:
    """The real and imaginary parts of arguments, and those of the results."""
    if name in TURNED:  # f(z) = -i h(iz); for even functions, f(z) = h(iz)
        turned = points(TURNED[name])
        if TURNED[name] in EVEN:
            return [(b, -a, real, imag) for a, b, real, imag in turned]
        return [(b, -a, imag, minus(real)) for a, b, real, imag in turned]
    if name in BASES:
        return [
            (a, b, real / BASES[name], imag / BASES[name]) for a, b, real, imag in points("log")
        ]
    found = []
    for reals, imaginaries, result in TABLE[name]:
        for a in reals:
            for b in imaginaries:
                real, imag = result(b) if callable(result) else result
                found.append((a, b, real, imag))
                below = imag if name in ("abs", "sign") else minus(imag)
                found.append((a, -b, real, below))
                if name in ODD:
                    found += [(-a, b, minus(real), imag), (-a, -b, minus(real), minus(imag))]
                if name in EVEN:
                    found += [(-a, b, real, minus(imag)), (-a, -b, real, imag)]
    return found


def is_result(found: float, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, Either):
        found, expected = abs(found), expected.size
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) and math.isnan(found)
    if math.copysign(1, found) != math.copysign(1, expected):
        return False
    return found == expected or abs(found - expected) < tolerance * abs(expected)


def number(real: float, imag: float, dtype: Any) -> Any:
    made = np.empty((), dtype)
    made.real, made.imag = real, imag
    return made


@crossed(name=NAMES, form=["array", "0-d", "scalar", "tensor"], dtype=[np.complex64, np.complex128])
def test_values(name: str, form: str, dtype: Any) -> None:
    """In an array of all of them, and each by itself."""
    table = points(name)
    x = np.stack([number(a, b, dtype) for a, b, *_ in table])
    function = getattr(ag, name)
    with np.errstate(all="ignore"):
        if form == "array":
            found = function(x)
        elif form == "tensor":
            found = function(ag.tensor(x)).numpy()
        else:
            each = [np.asarray(z) if form == "0-d" else z for z in x]
            found = np.stack([function(z) for z in each])
    tolerance = 4 * np.finfo(dtype).eps
    wrong = [
        f"{name}({a}, {b}) = {z}, not {real}, {imag}"
        for z, (a, b, real, imag) in zip(found, table, strict=True)
        if not (is_result(z.real, real, tolerance) and is_result(z.imag, imag, tolerance))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("dtype", "large"), [(np.complex64, 100.0), (np.complex128, 800.0)])
def test_expm1_where_the_exponential_overflows(dtype: Any, large: float) -> None:
    """A zero stays a zero, and no NaN comes of zero times infinity."""
    parts = [(large, 0.0), (large, -0.0), (large, 1.0), (large, 2.0), (-large, 0.0), (-large, -1.0)]
    x = np.stack([number(a, b, dtype) for a, b in parts])
    with np.errstate(over="ignore"):
        found = ag.expm1(x)
        single = np.stack([ag.expm1(z) for z in x])
        expected = np.exp(x)
    expected.real -= 1
    for parts_of in (np.real, np.imag):
        np.testing.assert_array_equal(parts_of(found), parts_of(expected))
        np.testing.assert_array_equal(np.signbit(parts_of(found)), np.signbit(parts_of(expected)))
    np.testing.assert_array_equal(single, found)


def test_expm1_warns_as_exp_does() -> None:
    for real, imag in ((inf, 0.0), (-inf, 1.0), (-inf, inf), (nan, 0.0), (inf, nan), (0.0, 0.0)):
        ag.expm1(number(real, imag, np.complex128))  # without a warning, which would be an error
    with pytest.warns(RuntimeWarning, match="invalid value"):
        ag.expm1(number(1.0, inf, np.complex128))


def test_expm1_of_small_numbers() -> None:
    x = np.array([1e-10 + 1e-12j, -1e-10j, 1e-300 + 1e-20j, 0.1 - 0.2j])
    series = x + x**2 / 2 + x**3 / 6 + x**4 / 24 + x**5 / 120 + x**6 / 720 + x**7 / 5040
    found = ag.expm1(x)
    np.testing.assert_allclose(found.real[:2], series.real[:2], rtol=1e-15)
    np.testing.assert_allclose(found, series, rtol=1e-8)
    around = x + 200j * pi  # many periods further, and in an array with special numbers
    further = ag.expm1(np.append(around, [0, inf]))[:-2]
    np.testing.assert_allclose(further, np.expm1(around), rtol=1e-15)
    leaf = ag.tensor(x, requires_grad=True)
    np.testing.assert_allclose(ag.grad(ag.expm1(leaf), leaf, x).numpy(), x * np.exp(x).conj())
