"""The zeta functions of Riemann and Hurwitz."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

from ...backends.filled import zeros_like
from ...backends.special import kernel, takes_scipy
from ..define.arguments import naming
from ..define.library import unary
from ..define.signatures import A, Number, Operand
from ..elementwise import add, cos, divide, exp, less, log, multiply, pow, sin, subtract, where
from .gamma import digamma, gamma
from .libraries import library_binary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...arrays.tensor import Tensor

__all__ = ["zeta"]

_hurwitz_zeta = library_binary(
    "zeta",
    vjp_x=lambda g, x, y: g * _hurwitz_zeta_slope(x, y),
    vjp_y=lambda g, x, y: -g * (x * _hurwitz_zeta(x + 1, y)),
)


def _riemann_zeta_of(xp: Any, x: Any) -> Any:
    # Only SciPy's function accepts one argument; then it also works where the sum diverges.
    alone = takes_scipy(xp.__name__.split("."))
    return kernel(xp, "zeta")(*((x,) if alone else (x, xp.ones_like(x))))


def _riemann_zeta_slope(x: Any) -> Any:
    """The derivative of Riemann's zeta function; for negative `x`, by the reflection formula."""
    below = less(x, 0)
    above = where(below, 2, x)
    direct = _hurwitz_zeta_slope(above, 1.0)
    y = where(below, x, -1)
    angle = y * (math.pi / 2)
    value, slope = _riemann_zeta(1 - y), _hurwitz_zeta_slope(1 - y, 1.0)
    inner = sin(angle) * ((math.log(2 * math.pi) - digamma(1 - y)) * value - slope)
    inner = inner + cos(angle) * (value * (math.pi / 2))
    reflected = exp(y * math.log(2 * math.pi)) * (gamma(1 - y) / math.pi) * inner
    return where(below, reflected, direct)


_riemann_zeta = unary("riemann_zeta", d=lambda x: _riemann_zeta_slope(x), compute=_riemann_zeta_of)


@overload
def zeta(x: Tensor, q: Operand | None = None) -> Tensor: ...
@overload
def zeta(x: Operand, q: Tensor) -> Tensor: ...
@overload
def zeta(x: NDArray[Any], q: NDArray[Any] | Number | None = None) -> NDArray[Any]: ...
@overload
def zeta(x: A, q: Operand | None = None) -> A: ...
@naming("x", "q")
def zeta(x: Any, q: Any = None) -> Any:
    """Riemann's zeta function or, with `q`, Hurwitz's: the sum of ``1 / (k + q) ** x``.

    Without `q`, the function is continued analytically to all `x` except one.

    Examples
    --------
    >>> import arraygrad as ag
    >>> q = ag.tensor(1.0, requires_grad=True)
    >>> ag.grad(ag.special.zeta(2.0, q), q).item()  # -2 times zeta(3)
    -2.404113806319...
    """
    return _riemann_zeta(x) if q is None else _hurwitz_zeta(x, q)


# Bernoulli's numbers B(2j) divided by (2j)!, for j = 1, 2, …
_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
    -174611 / 802857662698291200000,
)
_TERMS = 12


def _hurwitz_zeta_slope(x: Any, q: Any) -> Any:
    """The derivative of Hurwitz's zeta function by `x`, for positive `q`.

    It is the sum of ``-log(q + k) / (q + k) ** x``. A few terms are added directly. The
    Euler-Maclaurin formula gives the rest, and also continues the sum to `x` below one.
    """
    if not hasattr(q, "dtype"):
        q = zeros_like(x) + q
    total = -multiply(log(q), pow(q, -x))
    for k in range(1, _TERMS):
        total = total - multiply(log(q + k), pow(q + k, -x))
    end = q + _TERMS
    size, power = log(end), pow(end, -x)
    rest = divide(multiply(end, add(size, 1 / (x - 1))), x - 1)
    total = total - power * (rest + size / 2)
    # The product x (x + 1) … of an odd number of factors, and its derivative.
    product, slope, scale = x, zeros_like(x) + 1.0, power / end
    for j, number in enumerate(_BERNOULLI):
        total = total + number * scale * subtract(slope, multiply(product, size))
        for factor in (x + (2 * j + 1), x + (2 * j + 2)):
            product, slope = product * factor, multiply(slope, factor) + product
        scale = scale / (end * end)
    return total
