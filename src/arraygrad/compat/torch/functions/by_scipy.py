"""Bessel functions and orthogonal polynomials: those of `arraygrad.scipy.special`.

They need SciPy, which is loaded when one of them is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import ops
from ....core.array import Array
from ..dtypes import result_type
from ..handles import Tensor
from ..publish import elementwise_unary, floating, function

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t",
    "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "erfcx",
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
    "legendre_polynomial_p", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
    "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "spherical_bessel_j0",
]  # fmt: skip


def scipy_special() -> Any:
    """The module of special functions."""
    from ....scipy import special

    return special


def _bessel(name: str, scipy_name: str, *order: int) -> Callable[..., Tensor]:
    def native(x: Any) -> Any:
        return getattr(scipy_special(), scipy_name)(*order, floating(x))

    native.__doc__ = f"`scipy.special.{scipy_name}`."
    return elementwise_unary(native, name, in_place=False, method=False)


bessel_j0, bessel_j1 = _bessel("bessel_j0", "j0"), _bessel("bessel_j1", "j1")
bessel_y0, bessel_y1 = _bessel("bessel_y0", "y0"), _bessel("bessel_y1", "y1")
modified_bessel_i0 = _bessel("modified_bessel_i0", "i0")
modified_bessel_i1 = _bessel("modified_bessel_i1", "i1")
modified_bessel_k0 = _bessel("modified_bessel_k0", "k0")
modified_bessel_k1 = _bessel("modified_bessel_k1", "k1")
scaled_modified_bessel_k0 = _bessel("scaled_modified_bessel_k0", "k0e")
scaled_modified_bessel_k1 = _bessel("scaled_modified_bessel_k1", "k1e")
erfcx = _bessel("erfcx", "erfcx")


@function(method=False)
def spherical_bessel_j0(input: Any) -> Any:
    """The spherical Bessel function of order zero, `sin(x) / x`."""
    from ....special import sinc

    return sinc(floating(input) / np.pi)


airy_ai = function(
    lambda input: scipy_special().airy(floating(input))[0], name="airy_ai", method=False
)


# --- orthogonal polynomials: p(input, n) ---


def _polynomial(name: str, value: Callable[[Any, Any], Any]) -> Callable[..., Tensor]:
    """A polynomial in PyTorch's order of arguments. One of a negative degree is zero."""

    def made(input: Any, n: Any) -> Any:
        wanted = result_type(*(floating(v) for v in (input, n)))
        x = ops.astype(input, np.float64) if isinstance(input, Array) else np.float64(input)
        degree = ops.astype(n.detach(), np.int64) if isinstance(n, Array) else np.int64(n)
        known = ops.where(degree < 0, 0, degree)
        return ops.astype(ops.where(degree < 0, 0, value(known, x)), wanted)

    return function(
        made, name=name, method=False, doc=f"The {name.replace('_', ' ')} of degree `n`."
    )


def _evaluated(name: str) -> Callable[[Any, Any], Any]:
    """The value of SciPy's polynomial of a name: a function of degree and place."""
    return lambda n, x: getattr(scipy_special(), f"eval_{name}")(n, x)


_first, _second = _evaluated("chebyt"), _evaluated("chebyu")


def _before(n: Any, x: Any) -> Any:
    """The polynomial of the second kind of a degree that is lower by one; zero at degree zero."""
    return ops.where(n < 1, 0, _second(ops.where(n < 1, n, n - 1), x))


_KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "t": _first,
    "u": _second,
    "v": lambda n, x: _second(n, x) - _before(n, x),
    "w": lambda n, x: _second(n, x) + _before(n, x),
}


def _shifted(kind: str) -> Callable[..., Tensor]:
    name = f"shifted_chebyshev_polynomial_{kind}"
    return _polynomial(name, lambda n, x: _KINDS[kind](n, 2 * x - 1))


chebyshev_polynomial_t, chebyshev_polynomial_u, chebyshev_polynomial_v, chebyshev_polynomial_w = (
    _polynomial(f"chebyshev_polynomial_{kind}", value) for kind, value in _KINDS.items()
)
shifted_chebyshev_polynomial_t, shifted_chebyshev_polynomial_u = _shifted("t"), _shifted("u")
shifted_chebyshev_polynomial_v, shifted_chebyshev_polynomial_w = _shifted("v"), _shifted("w")
hermite_polynomial_h = _polynomial("hermite_polynomial_h", _evaluated("hermite"))
hermite_polynomial_he = _polynomial("hermite_polynomial_he", _evaluated("hermitenorm"))
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", _evaluated("laguerre"))
legendre_polynomial_p = _polynomial("legendre_polynomial_p", _evaluated("legendre"))
