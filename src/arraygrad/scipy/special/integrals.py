"""Error functions, exponential, trigonometric and Fresnel integrals, Lambert's W, and relatives."""

from __future__ import annotations

import math
from typing import Any

from ...ops import (
    abs,
    conj,
    cos,
    cosh,
    equal,
    exp,
    greater,
    greater_equal,
    is_complex,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    maximum,
    minimum,
    real,
    sign,
    sin,
    sinh,
    sqrt,
    where,
)
from ...ops.special.normal import _hazard, erf
from ...ops.special.sinc import sinc
from ..twins import array_like, twin
from .declaring import SCIPY, by_formula, op, special, whole

__all__ = [
    "boxcox",
    "cosm1",
    "dawsn",
    "erfcinv",
    "erfcx",
    "erfi",
    "exp10",
    "expn",
    "exprel",
    "fresnel",
    "huber",
    "inv_boxcox",
    "lambertw",
    "ndtri_exp",
    "owens_t",
    "pseudo_huber",
    "shichi",
    "sici",
    "spence",
    "voigt_profile",
    "wofz",
    "wrightomega",
]

_ROOT_PI = math.sqrt(math.pi)
_FAR = 400.0  # the squared distance, in widths, from which on a series is exact

# --- error functions -----------------------------------------------------------------------------


def _or_series(x: Any, out: Any, near: Any, factor: Any, sign: float) -> Any:
    """A derivative; by a series far from zero, where what it is made of cancels."""
    far = logical_and(greater(abs(x), 1e4), less(abs(out), 1e-3))
    u = 0.5 / where(far, x, 1.0) ** 2
    return where(far, factor * u * (1 + sign * 3 * u), near)


wofz = special(
    "wofz",
    "z",
    d_z=lambda z, out: _or_series(z, out, out * z * -2 + 2j / _ROOT_PI, -2j / _ROOT_PI, 1),
)
dawsn = special("dawsn", "x", d_x=lambda x, out: _or_series(x, out, 1 - 2 * x * out, -1, 1))
erfcx = special(
    "erfcx",
    "x",
    d_x=lambda x, out: _or_series(x, out, 2 * x * out - 2 / _ROOT_PI, -2 / _ROOT_PI, -1),
)
erfi = special("erfi", "z", d_z=lambda z: exp(z * z) * (2 / _ROOT_PI))
erfcinv = special("erfcinv", "y", d_y=lambda out: exp(out * out) * (-_ROOT_PI / 2))
ndtri_exp = special("ndtri_exp", "y", d_y=lambda out: 1 / _hazard(out))
owens_t = special(
    "owens_t",
    "h",
    "a",
    d_h=lambda h, a: (
        erf(a * h * math.sqrt(0.5)) * exp(h * h * -0.5) * (-0.5 / math.sqrt(2 * math.pi))
    ),
    d_a=lambda h, a: exp(h * h * (1 + a * a) * -0.5) / ((1 + a * a) * (2 * math.pi)),
)


@by_formula("voigt_profile")
def voigt_profile(x: Any, sigma: Any, gamma: Any) -> Any:
    """Voigt's profile: the real part of Faddeeva's function."""
    x, sigma, gamma = array_like(x), array_like(sigma), array_like(gamma)
    place = x + gamma * 1j
    # Far from the centre of a narrow line, by the moments of the Gauss function.
    far = greater(real(place * conj(place)), 2 * _FAR * sigma * sigma)
    far = logical_and(far, logical_and(greater_equal(sigma, 0), greater_equal(gamma, 0)))
    inverse = where(far, sigma, 0.0) / where(far, place, 1.0)
    series: Any = 1.0
    for k in range(9, 0, -1):
        series = 1 + series * inverse * inverse * (2 * k - 1)
    width = where(far, 1.0, sigma * math.sqrt(2))
    near = real(wofz(where(far, 0.0, place) / width)) / (width * _ROOT_PI)
    return where(far, real(1j * series / where(far, place, 1.0)) * (1 / math.pi), near)


# --- integrals -----------------------------------------------------------------------------------


def _expn_slope(n: Any, x: Any) -> Any:
    """Minus the function of the order below; SciPy has none below zero."""
    first = -exp(-x) * (1 + x) / (x * x)
    n = whole(n)
    below = -expn(maximum(n, 1) - 1 if hasattr(n, "dtype") else max(n, 1) - 1, x)
    return where(equal(n, 0), first, below)


expn = special("expn", "n", "x", d_x=_expn_slope)


def _log_over_rest(z: Any) -> Any:
    """``log(z) / (1 - z)``, by its series near one."""
    near = less(abs(z - 1), 0.02)
    u = where(near, z - 1, 0)
    series: Any = 0.0
    for k in range(10, 0, -1):
        series = series * u + (1.0 if k % 2 == 0 else -1.0) / k
    other = where(near, 2, z)
    return where(near, series, log(other) / (1 - other))


spence = special("spence", "z", d_z=_log_over_rest)


def _sinhc(x: Any) -> Any:
    """``sinh(x) / x``, by its series near zero."""
    near = less(abs(x), 0.3)
    square = where(near, x, 0) ** 2
    series: Any = 0.0
    for k in range(8, -1, -1):
        series = series * square + 1 / math.factorial(2 * k + 1)
    other = where(near, 1, x)
    return where(near, series, sinh(other) / other)


_SICI, _SHICHI, _FRESNEL = SCIPY.sici, SCIPY.shichi, SCIPY.fresnel
_si = op("sici_si", "x", compute=lambda x: _SICI(x)[0], d_x=lambda x: sinc(x * (1 / math.pi)))
_ci = op("sici_ci", "x", compute=lambda x: _SICI(x)[1], d_x=lambda x: cos(x) / x)
_shi = op("shichi_shi", "x", compute=lambda x: _SHICHI(x)[0], d_x=_sinhc)
_chi = op("shichi_chi", "x", compute=lambda x: _SHICHI(x)[1], d_x=lambda x: cosh(x) / x)
_fresnel_s = op(
    "fresnel_s",
    "z",
    compute=lambda z: _FRESNEL(z)[0],
    d_z=lambda z: sin(z * z * (math.pi / 2)),
)
_fresnel_c = op(
    "fresnel_c",
    "z",
    compute=lambda z: _FRESNEL(z)[1],
    d_z=lambda z: cos(z * z * (math.pi / 2)),
)


def _of_reals(name: str, x: Any) -> Any:
    x = array_like(x)
    if is_complex(x):
        raise NotImplementedError(f"{name} has derivatives here for real numbers only")
    return x


@twin(_SICI)
def sici(x: Any) -> Any:
    """The sine and cosine integrals."""
    x = _of_reals("sici", x)
    return _si(x), _ci(x)


@twin(_SHICHI)
def shichi(x: Any) -> Any:
    """The hyperbolic sine and cosine integrals."""
    x = _of_reals("shichi", x)
    return _shi(x), _chi(x)


@twin(_FRESNEL)
def fresnel(z: Any) -> Any:
    """Fresnel's integrals S and C."""
    z = array_like(z)
    return _fresnel_s(z), _fresnel_c(z)


# --- Lambert's W ---------------------------------------------------------------------------------

# The derivative is W / (z (1 + W)); this form of it has no pole at zero.
_lambertw = op(
    "lambertw",
    "z",
    "k",
    compute=lambda z, k: SCIPY.lambertw(z, k),
    d_z=lambda out: exp(-out) / (1 + out),
)


@twin(SCIPY.lambertw)
def lambertw(z: Any, k: Any, tol: float) -> Any:
    """The inverse of ``w exp(w)``, on branch `k`."""
    if tol != 1e-8:
        raise NotImplementedError("lambertw of tensors has the default tol only")
    return _lambertw(array_like(z), k)


wrightomega = special("wrightomega", "z", d_z=lambda out: out / (1 + out))

# --- losses, and elementary functions without loss of digits -------------------------------------


def _exprel_slope(x: Any, out: Any) -> Any:
    near = less(abs(x), 0.5)
    small = where(near, x, 0)
    series: Any = 0.0
    for k in range(14, -1, -1):
        series = series * small + 1 / (math.factorial(k) * (k + 2))
    other = where(near, 1, x)
    return where(near, series, (exp(other) - where(near, 1, out)) / other)


exprel = special("exprel", "x", d_x=_exprel_slope)
cosm1 = special("cosm1", "x", d_x=lambda x: -sin(x))
exp10 = special("exp10", "x", d_x=lambda out: out * math.log(10))
huber = special(
    "huber",
    "delta",
    "r",
    d_delta=lambda delta, r: where(less_equal(abs(r), delta), 0, abs(r) - delta),
    d_r=lambda delta, r: sign(r) * minimum(abs(r), delta + 0 * r),
)


def _pseudo_root(delta: Any, r: Any) -> Any:
    return sqrt(1 + (r / delta) ** 2)


pseudo_huber = special(
    "pseudo_huber",
    "delta",
    "r",
    d_delta=lambda delta, r, out: (2 * out - r * r / _pseudo_root(delta, r)) / delta,
    d_r=lambda delta, r: r / _pseudo_root(delta, r),
)


@by_formula("boxcox")
def boxcox(x: Any, lmbda: Any) -> Any:
    """The transformation of Box and Cox, ``(x**lmbda - 1) / lmbda``; the logarithm at zero."""
    x, lmbda = array_like(x), array_like(lmbda)
    zero = equal(x, 0)
    size = log(where(zero, 1.0, x))
    power = where(zero, lmbda, 1.0)
    at_zero = (where(zero, x, 1.0) ** power - 1) / power
    return where(zero, at_zero, size * exprel(size * lmbda))


@by_formula("inv_boxcox")
def inv_boxcox(y: Any, lmbda: Any) -> Any:
    """The inverse of `boxcox`, ``(lmbda * y + 1) ** (1 / lmbda)``; the exponential at zero."""
    z = array_like(y) * array_like(lmbda)
    small = less_equal(abs(z), 1e-3)
    series: Any = 0.0  # of log(1 + z) / z
    for n in range(7, 0, -1):
        series = 1 / n - z * series
    size = where(small, 1.0, z)
    return exp(y * where(small, series, log1p(size) / size))
