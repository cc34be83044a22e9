"""Orthogonal polynomials, by the argument, and spherical harmonics, by both angles.

The derivative of a polynomial is one of another family.
"""

from __future__ import annotations

from typing import Any

from ...core.array import AnyFunction
from ...ops import equal, exp, maximum, sqrt, where
from ..twins import array_like, twin
from .declaring import SCIPY, special

__all__ = [
    "eval_chebyc",
    "eval_chebys",
    "eval_chebyt",
    "eval_chebyu",
    "eval_gegenbauer",
    "eval_genlaguerre",
    "eval_hermite",
    "eval_hermitenorm",
    "eval_jacobi",
    "eval_laguerre",
    "eval_legendre",
    "eval_sh_chebyt",
    "eval_sh_chebyu",
    "eval_sh_legendre",
    "lpmv",
    "sph_harm_y",
]


def _lower(run: AnyFunction, n: Any, x: Any) -> Any:
    """``run(n - 1, x)``; zero for order zero, whose derivative is zero."""
    if not hasattr(n, "dtype"):
        return run(n - 1, x) if n else 0 * x
    return where(equal(n, 0), 0, run(where(equal(n, 0), n, n - 1), x))


eval_jacobi = special(
    "eval_jacobi",
    "n",
    "alpha",
    "beta",
    "x",
    d_x=lambda n, alpha, beta, x: (
        _lower(lambda k, x: eval_jacobi(k, alpha + 1.0, beta + 1.0, x), n, x)
        * ((n + alpha + beta + 1) * 0.5)
    ),
)
eval_legendre = special(
    "eval_legendre",
    "n",
    "x",
    d_x=lambda n, x: _lower(lambda k, x: eval_jacobi(k, 1.0, 1.0, x), n, x) * ((n + 1) * 0.5),
)
eval_gegenbauer = special(
    "eval_gegenbauer",
    "n",
    "alpha",
    "x",
    d_x=lambda n, alpha, x: (
        _lower(lambda k, x: eval_gegenbauer(k, alpha + 1.0, x), n, x) * (2 * alpha)
    ),
)
eval_chebyt = special("eval_chebyt", "n", "x", d_x=lambda n, x: _lower(eval_chebyu, n, x) * n)
eval_chebyu = special(
    "eval_chebyu",
    "n",
    "x",
    d_x=lambda n, x: _lower(lambda k, x: eval_gegenbauer(k, 2.0, x), n, x) * 2,
)
eval_genlaguerre = special(
    "eval_genlaguerre",
    "n",
    "alpha",
    "x",
    d_x=lambda n, alpha, x: _lower(lambda k, x: -eval_genlaguerre(k, alpha + 1.0, x), n, x),
)
eval_laguerre = special(
    "eval_laguerre",
    "n",
    "x",
    d_x=lambda n, x: _lower(lambda k, x: -eval_genlaguerre(k, 1.0, x), n, x),
)
eval_hermite = special(
    "eval_hermite", "n", "x", d_x=lambda n, x: _lower(eval_hermite, n, x) * (2 * n)
)
eval_hermitenorm = special(
    "eval_hermitenorm", "n", "x", d_x=lambda n, x: _lower(eval_hermitenorm, n, x) * n
)


def _at(name: str, run: AnyFunction, slope: float, start: float, factor: float) -> AnyFunction:
    """A family that is another one at ``slope * x + start``, times a factor."""

    @twin(getattr(SCIPY, name))
    def shifted(n: Any, x: Any) -> Any:
        out = run(n, array_like(x) * slope + start)
        return out if factor == 1 else out * factor

    return shifted


eval_sh_legendre = _at("eval_sh_legendre", eval_legendre, 2, -1, 1)
eval_sh_chebyt = _at("eval_sh_chebyt", eval_chebyt, 2, -1, 1)
eval_sh_chebyu = _at("eval_sh_chebyu", eval_chebyu, 2, -1, 1)
eval_chebys = _at("eval_chebys", eval_chebyu, 0.5, 0, 1)
eval_chebyc = _at("eval_chebyc", eval_chebyt, 0.5, 0, 2)

# Associated Legendre functions, inside of the interval.
lpmv = special(
    "lpmv",
    "m",
    "v",
    "x",
    d_x=lambda m, v, x, out: (v * x * out - (v + m) * lpmv(m, v - 1, x)) / (x * x - 1),
)


def _raised(n: Any, m: Any, theta: Any, phi: Any, sign: int) -> Any:
    """The harmonic of the order beside `m`, as the operator of angular momentum gives it."""
    size = sqrt(maximum((n - sign * m) * (n + sign * m + 1) * 1.0, 0.0))
    return size * exp(phi * (-1j * sign)) * sph_harm_y(n, m + sign, theta, phi)


# By both neighbours, so that the poles of the sphere are points like others.
sph_harm_y = special(
    "sph_harm_y",
    "n",
    "m",
    "theta",
    "phi",
    d_theta=lambda n, m, theta, phi: (
        0.5 * (_raised(n, m, theta, phi, 1) - _raised(n, m, theta, phi, -1))
    ),
    d_phi=lambda m, out: 1j * m * out,
)
