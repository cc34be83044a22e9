"""Bessel, Hankel, Airy, Struve functions and their spherical and scaled forms.

Derivatives by the argument use the recurrences between neighbouring orders, which have no pole at
zero. There is no formula for the derivative by the order: it is refused.
"""

from __future__ import annotations

import math
from typing import Any

from ...backends.filled import zeros_like
from ...core.array import AnyFunction
from ...ops import equal, less, maximum, sign, sqrt, where
from ..twins import array_like, twin
from .declaring import SCIPY, op, special, whole
from .distributions import rgamma

__all__ = [
    "airy",
    "airye",
    "hankel1",
    "hankel1e",
    "hankel2",
    "hankel2e",
    "iv",
    "ive",
    "j0",
    "j1",
    "jn",
    "jv",
    "jve",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kn",
    "kv",
    "kve",
    "modstruve",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "struve",
    "y0",
    "y1",
    "yn",
    "yv",
    "yve",
]

_HALF_LOG_PI = 0.5723649429247001

# --- cylinder functions --------------------------------------------------------------------------

jv = special("jv", "v", "z", d_z=lambda v, z: (jv(v - 1, z) - jv(v + 1, z)) * 0.5)
yv = special("yv", "v", "z", d_z=lambda v, z: (yv(v - 1, z) - yv(v + 1, z)) * 0.5)
iv = special("iv", "v", "z", d_z=lambda v, z: (iv(v - 1, z) + iv(v + 1, z)) * 0.5)
kv = special("kv", "v", "z", d_z=lambda v, z: (kv(v - 1, z) + kv(v + 1, z)) * -0.5)
hankel1 = special(
    "hankel1", "v", "z", d_z=lambda v, z: (hankel1(v - 1, z) - hankel1(v + 1, z)) * 0.5
)
hankel2 = special(
    "hankel2", "v", "z", d_z=lambda v, z: (hankel2(v - 1, z) - hankel2(v + 1, z)) * 0.5
)
jn = jv
# Of integer order: SciPy leaves out a fraction. Their derivatives need the order minus one, which
# `yv` and `kv` have.
yn = special("yn", "n", "x", d_x=lambda n, x: (yv(whole(n) - 1, x) - yv(whole(n) + 1, x)) * 0.5)
kn = special("kn", "n", "x", d_x=lambda n, x: (kv(whole(n) - 1, x) + kv(whole(n) + 1, x)) * -0.5)

j0 = special("j0", "x", d_x=lambda x: -j1(x))
j1 = special("j1", "x", d_x=lambda x: (j0(x) - jv(2, x)) * 0.5)
y0 = special("y0", "x", d_x=lambda x: -y1(x))
y1 = special("y1", "x", d_x=lambda x: (y0(x) - yv(2, x)) * 0.5)
k0 = special("k0", "x", d_x=lambda x: -k1(x))
k1 = special("k1", "x", d_x=lambda x: (k0(x) + kv(2, x)) * -0.5)

# --- scaled, so that they do not overflow --------------------------------------------------------


def _real(name: str, z: Any) -> Any:
    """`z`, unless complex: the scale depends on its real or imaginary part only."""
    if "complex" in str(getattr(z, "dtype", "")):
        raise NotImplementedError(
            f"{name} of complex numbers is not holomorphic and has no derivative here: multiply "
            "the function without the last e by the scale"
        )
    return z


kve = special("kve", "v", "z", d_z=lambda v, z, out: out - (kve(v - 1, z) + kve(v + 1, z)) * 0.5)
k0e = special("k0e", "x", d_x=lambda x, out: out - k1e(x))
k1e = special("k1e", "x", d_x=lambda x, out: out - (k0e(x) + kve(2, x)) * 0.5)
ive = special(
    "ive",
    "v",
    "z",
    d_z=lambda v, z, out: (ive(v - 1, z) + ive(v + 1, z)) * 0.5 - sign(_real("ive", z)) * out,
)
# For real arguments, the scale of these two is one.
jve = special("jve", "v", "z", d_z=lambda v, z: (jve(v - 1, _real("jve", z)) - jve(v + 1, z)) * 0.5)
yve = special("yve", "v", "z", d_z=lambda v, z: (yve(v - 1, _real("yve", z)) - yve(v + 1, z)) * 0.5)
hankel1e = special(
    "hankel1e",
    "v",
    "z",
    d_z=lambda v, z, out: (hankel1e(v - 1, z) - hankel1e(v + 1, z)) * 0.5 - out * 1j,
)
hankel2e = special(
    "hankel2e",
    "v",
    "z",
    d_z=lambda v, z, out: (hankel2e(v - 1, z) - hankel2e(v + 1, z)) * 0.5 + out * 1j,
)

# --- spherical -----------------------------------------------------------------------------------


def _spherical(name: str, below: int, above: int) -> Any:
    """A kind with ``f'[n] = (below n f[n-1] + above (n+1) f[n+1]) / (2n+1)``."""
    original = getattr(SCIPY, name)

    def slope(n: Any, z: Any) -> Any:
        lower = run(where(equal(n, 0), 0, n - 1) if hasattr(n, "dtype") else max(n - 1, 0), z)
        return (lower * (below * n) + run(n + 1, z) * (above * (n + 1))) / (2 * n + 1)

    run = op(name, "n", "z", compute=lambda n, z: original(n, z), d_z=slope)

    @twin(original)
    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        n = n if isinstance(n, int) else array_like(n)
        z = array_like(z)
        return slope(n, z) if derivative else run(n, z)

    return function


spherical_jn = _spherical("spherical_jn", 1, -1)
spherical_yn = _spherical("spherical_yn", 1, -1)
spherical_in = _spherical("spherical_in", 1, 1)
spherical_kn = _spherical("spherical_kn", -1, -1)

# --- Struve --------------------------------------------------------------------------------------


def _between(v: Any, x: Any) -> Any:
    """``(x/2)**v / (sqrt(pi) gamma(v + 3/2))``."""
    return (x * 0.5) ** v * (rgamma(v + 1.5 + zeros_like(x)) * math.exp(-_HALF_LOG_PI))


def _struve_ratio(v: Any, x: Any, function: AnyFunction) -> Any:
    """``v / x`` times a function of order v; for negative x, which have integer orders only."""
    x = where(less(x, 0), x, -1)
    return v / x * function(v, x)


def _struve_slope(v: Any, x: Any, function: AnyFunction, sign: float) -> Any:
    """By the order below and above; below zero, SciPy has no function of negative order."""
    negative = less(x, 0)
    rest = function(v + 1, x) * sign + _between(v, x)
    below = function(v - 1, where(negative, 1.0, x))
    return where(negative, _struve_ratio(v, x, function) + rest, (below + rest) * 0.5)


struve = special("struve", "v", "x", d_x=lambda v, x: _struve_slope(v, x, struve, -1.0))
modstruve = special("modstruve", "v", "x", d_x=lambda v, x: _struve_slope(v, x, modstruve, 1.0))

# --- Airy ----------------------------------------------------------------------------------------

_ai = op("airy_ai", "z", compute=lambda z: SCIPY.airy(z)[0], d_z=lambda z: _aip(z))
_aip = op("airy_aip", "z", compute=lambda z: SCIPY.airy(z)[1], d_z=lambda z: _ai(z) * z)
_bi = op("airy_bi", "z", compute=lambda z: SCIPY.airy(z)[2], d_z=lambda z: _bip(z))
_bip = op("airy_bip", "z", compute=lambda z: SCIPY.airy(z)[3], d_z=lambda z: _bi(z) * z)


@twin(SCIPY.airy)
def airy(z: Any) -> Any:
    """Airy's functions Ai, Ai', Bi, Bi'."""
    z = array_like(z)
    return _ai(z), _aip(z), _bi(z), _bip(z)


_aie = op(
    "airye_ai",
    "z",
    compute=lambda z: SCIPY.airye(z)[0],
    d_z=lambda z, out: _aipe(z) + out * sqrt(_real("airye", z)),
)
_aipe = op(
    "airye_aip",
    "z",
    compute=lambda z: SCIPY.airye(z)[1],
    d_z=lambda z, out: _aie(z) * z + out * sqrt(_real("airye", z)),
)
_bie = op(
    "airye_bi",
    "z",
    compute=lambda z: SCIPY.airye(z)[2],
    d_z=lambda z, out: _bipe(z) - out * sqrt(maximum(_real("airye", z), 0)),
)
_bipe = op(
    "airye_bip",
    "z",
    compute=lambda z: SCIPY.airye(z)[3],
    d_z=lambda z, out: _bie(z) * z - out * sqrt(maximum(_real("airye", z), 0)),
)


@twin(SCIPY.airye)
def airye(z: Any) -> Any:
    """Airy's functions, scaled so that they neither overflow nor underflow."""
    z = array_like(z)
    return _aie(z), _aipe(z), _bie(z), _bipe(z)
