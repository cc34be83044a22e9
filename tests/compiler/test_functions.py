"""The elementary functions of native code: within 4 ulp, and NumPy's special values."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from rows import crossed

import arraygrad as ag

INF = float("inf")
FUNCTIONS: dict[str, tuple[Any, Any, tuple[float, float]]] = {
    "exp": (ag.exp, mpmath.exp, (-750.0, 712.0)),
    "expm1": (ag.expm1, mpmath.expm1, (-60.0, 712.0)),
    "log": (ag.log, mpmath.log, (0.0, INF)),
    "log1p": (ag.log1p, mpmath.log1p, (-1.0, INF)),
    "tanh": (ag.tanh, mpmath.tanh, (-INF, INF)),
    "expit": (ag.special.expit, lambda x: 1 / (1 + mpmath.exp(-x)), (-740.0, 740.0)),
    "sin": (ag.sin, mpmath.sin, (-INF, INF)),
    "cos": (ag.cos, mpmath.cos, (-INF, INF)),
    "erf": (ag.special.erf, mpmath.erf, (-INF, INF)),
    "sqrt": (ag.sqrt, mpmath.sqrt, (0.0, INF)),
    "erfc": (ag.special.erfc, mpmath.erfc, (-1e3, 1e3)),
    "ndtr": (ag.special.ndtr, mpmath.ncdf, (-1e3, 1e3)),
    "tan": (ag.tan, mpmath.tan, (-INF, INF)),
    "atan": (ag.atan, mpmath.atan, (-INF, INF)),
    "asin": (ag.asin, mpmath.asin, (-1.0, 1.0)),
    "acos": (ag.acos, mpmath.acos, (-1.0, 1.0)),
    "sinh": (ag.sinh, mpmath.sinh, (-712.0, 712.0)),
    "cosh": (ag.cosh, mpmath.cosh, (-712.0, 712.0)),
    "asinh": (ag.asinh, mpmath.asinh, (-INF, INF)),
    "acosh": (ag.acosh, mpmath.acosh, (1.0, INF)),
    "atanh": (ag.atanh, mpmath.atanh, (-0.999999, 0.999999)),
    "log2": (ag.log2, lambda x: mpmath.log(x, 2), (5e-324, INF)),
    "log10": (ag.log10, mpmath.log10, (5e-324, INF)),
}
DTYPES = [np.float32, np.float64]


def inputs(dtype: Any, low: float, high: float) -> Any:
    """Numbers of all sizes within bounds, and those next to where a method changes."""
    rng = np.random.default_rng(0)
    info = np.finfo(dtype)
    exponents = rng.uniform(info.minexp - info.nmant, info.maxexp - 1, 400)
    wide = rng.choice([-1, 1], 400) * np.exp2(exponents)
    edges = np.array([0.5**0.5, 2**0.5, 0.34657, 1.0, 2.0, np.pi / 2, np.pi, 9.1, 20.0, 88.7])
    near = np.concatenate([edges, -edges, edges * 1.0000001, edges * 0.9999999])
    subnormal = rng.uniform(-1, 1, 20) * float(info.smallest_normal)
    values = np.concatenate([wide, rng.normal(size=300) * 3, rng.uniform(-100, 100, 200), near])
    with np.errstate(over="ignore"):
        values = np.concatenate([values, subnormal]).astype(dtype)
    return values[(values >= low) & (values <= high) & np.isfinite(values)]


@crossed(name=FUNCTIONS, dtype=DTYPES)
def test_accuracy(name: str, dtype: Any) -> None:
    function, exact, (low, high) = FUNCTIONS[name]
    x = inputs(dtype, low, high)
    with np.errstate(all="ignore"):
        found = ag.compile(function)(x)
    worst = 0.0
    with mpmath.workprec(200):
        for a, b in zip(x.tolist(), found, strict=True):
            true = exact(mpmath.mpf(a))
            with np.errstate(over="ignore"):
                rounded = dtype(float(true))
            if not np.isfinite(rounded) or not np.isfinite(b):
                assert rounded == b, a
                continue
            unit = float(np.spacing(np.abs(rounded)))
            worst = max(worst, float(abs(true - mpmath.mpf(float(b))) / unit))
    assert worst < 4


@crossed(name=FUNCTIONS, dtype=DTYPES)
def test_special_values(name: str, dtype: Any) -> None:
    function = FUNCTIONS[name][0]
    tiny = np.finfo(dtype).smallest_subnormal
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, 1.0, -1.0], dtype)
    with np.errstate(all="ignore"):
        found, wanted = ag.compile(function)(x), function(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=0)
    np.testing.assert_array_equal(
        np.signbit(found)[~np.isnan(found)], np.signbit(wanted)[~np.isnan(found)]
    )


TWO: dict[str, tuple[Any, Any]] = {
    "atan2": (ag.atan2, mpmath.atan2),
    "hypot": (ag.hypot, mpmath.hypot),
    "pow": (lambda x, y: ag.pow(abs(x), y), mpmath.power),
}


@crossed(name=TWO, dtype=DTYPES)
def test_accuracy_of_two(name: str, dtype: Any) -> None:
    function, exact = TWO[name]
    rng = np.random.default_rng(1)
    size = np.exp2(rng.uniform(-30, 30, (2, 300)))
    x, y = (size * rng.normal(size=(2, 300))).astype(dtype)
    if name == "pow":
        x, y = abs(x), np.clip(y, -3, 3)
    found = ag.compile(function)(x, y)
    with mpmath.workprec(200):
        for a, b, c in zip(x.tolist(), y.tolist(), found, strict=True):
            true = exact(mpmath.mpf(a), mpmath.mpf(b))
            unit = float(np.spacing(dtype(float(true))))
            assert abs(true - mpmath.mpf(float(c))) < 4 * abs(unit), (a, b)


@crossed(name=["atan2", "hypot", "pow", "copysign", "logaddexp"], dtype=DTYPES)
def test_special_values_of_two(name: str, dtype: Any) -> None:
    function = getattr(ag, name)
    info = np.finfo(dtype)
    values = [0.0, 1.0, 1.5, 2.0, 3.0, 0.5, np.inf, np.nan]
    values += [info.smallest_subnormal, info.max, info.max / 2, info.tiny]
    both = np.array([*values, *(-v for v in values)], dtype)
    x, y = (v.ravel() for v in np.meshgrid(both, both))
    with np.errstate(all="ignore"):
        found, wanted = ag.compile(function)(x, y), function(x, y)
    np.testing.assert_allclose(found, wanted, rtol=4 * float(info.eps), atol=0)
    numbers = ~np.isnan(found)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers])


@pytest.mark.parametrize("exponent", [0.5, 2.5, -0.5, 0, 3, -1, 10])
def test_powers_with_numbers(exponent: float) -> None:
    x = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan, 0.3])
    function = ag.compile(lambda x: ag.pow(x, exponent))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(function(x), ag.pow(x, exponent), rtol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_and_signs(dtype: Any) -> None:
    values = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan], dtype)
    x, y = (v.ravel() for v in np.meshgrid(values, values))

    def both(x: Any, y: Any) -> Any:
        chosen = ag.where(x > y, x, y), ag.where(x == y, x, 2 * y), ag.where(x != y, x, y)
        lines = ag.max(ag.reshape(x, (7, 7)), axis=1), ag.min(ag.reshape(x, (7, 7)), axis=0)
        tests = ag.isnan(x), ag.isfinite(x), ag.isinf(y), ag.logical_not(x > y)
        return ag.maximum(x, y), ag.minimum(x, y), ag.sign(x), abs(x), *chosen, *lines, *tests

    with np.errstate(all="ignore"):
        for a, b in zip(ag.compile(both)(x, y), both(x, y), strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype


@pytest.mark.parametrize("name", ["ndtr", "erfc"])
def test_accuracy_at_many_places(name: str) -> None:
    """SciPy's float64 is exact enough for float32: so all of a line of numbers can be compared."""
    special = pytest.importorskip("scipy.special")
    low, high = (-14.1, 6.0) if name == "ndtr" else (-4.0, 10.0)
    x = np.linspace(low, high, 400_001).astype(np.float32)
    true = getattr(special, name)(x.astype(np.float64))
    found = ag.compile(getattr(ag.special, name))(x)
    unit = np.spacing(true.astype(np.float32)).astype(np.float64)
    assert np.max(np.abs(found - true) / unit) < 4
