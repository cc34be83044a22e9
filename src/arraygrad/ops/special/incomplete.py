"""Incomplete gamma and beta functions, the F distribution, and exponential integrals."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, overload

from ...backends import backend_of
from ...core.array import AnyFunction, plain
from ...core.kinds import Elementwise
from ..define.arguments import naming
from ..define.library import binary, declare
from ..define.signatures import A, Operand, ThreeArrays
from ..elementwise import equal, exp, logical_or, minimum, where
from .entropies import xlog1py, xlogy
from .gamma import gammaln
from .libraries import library_unary, of_arrays
from .parameters import betainc_slope, gammainc_slope

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["betainc", "exp1", "expi", "fdtr", "fdtrc", "gammainc", "gammaincc"]


gammainc = binary(
    "gammainc",
    compute=of_arrays("gammainc"),
    vjp_x=lambda g, x, y: g * gammainc_slope(x, y, n=1),
    vjp_y=lambda g, x, y: g * _gamma_density(x, y),
    doc="``gammainc(a, x)``: the gamma function's integral up to `x`, divided by the whole.",
)
gammaincc = binary(
    "gammaincc",
    compute=of_arrays("gammaincc"),
    vjp_x=lambda g, x, y: -g * gammainc_slope(x, y, n=1),
    vjp_y=lambda g, x, y: -g * _gamma_density(x, y),
    doc="``gammaincc(a, x)``: one minus `gammainc`, accurate even if `gammainc` is nearly one.",
)
betainc: ThreeArrays[[]] = declare(
    "betainc",
    "a",
    "b",
    "x",
    compute=of_arrays("betainc"),
    vjp_a=lambda g, a, b, x: g * betainc_slope(a, b, x, m=1, n=0),
    vjp_b=lambda g, a, b, x: g * betainc_slope(a, b, x, m=0, n=1),
    vjp_x=lambda g, a, b, x: g * _beta_density(a, b, x),
    kind=Elementwise(),
    doc="""``betainc(a, b, x)``: the beta function's integral up to `x`, divided by the whole.

    >>> ag.special.betainc(ag.tensor([2.0]), 1.0, 0.5)
    tensor([0.25])
    """,
)


@overload
def fdtr(dfn: Operand, dfd: Operand, x: NDArray[Any]) -> NDArray[Any]: ...
@overload
def fdtr(dfn: Operand, dfd: Operand, x: A) -> A: ...
@naming("dfn", "dfd", "x")
def fdtr(dfn: Any, dfd: Any, x: Any) -> Any:
    """The distribution function P(X < x) of the F distribution.

    `dfn` and `dfd` are the degrees of freedom of the numerator and the denominator.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.special.fdtr(2.0, 4.0, ag.tensor([1.0, 3.0]))
    tensor([0.55555556, 0.84      ])
    """
    return betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))


@overload
def fdtrc(dfn: Operand, dfd: Operand, x: NDArray[Any]) -> NDArray[Any]: ...
@overload
def fdtrc(dfn: Operand, dfd: Operand, x: A) -> A: ...
@naming("dfn", "dfd", "x")
def fdtrc(dfn: Any, dfd: Any, x: Any) -> Any:
    """One minus `fdtr`, accurate even if `fdtr` is nearly one.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.special.fdtrc(2.0, 4.0, ag.tensor([1.0, 3.0]))
    tensor([0.44444444, 0.16      ])
    """
    return betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))


exp1 = library_unary(
    "exp1",
    vjp=lambda g, x: -g * (exp(-x) / x),
    doc="The exponential integral E₁: the integral of ``exp(-t) / t`` from `x` to infinity.",
)
expi = library_unary(
    "expi",
    vjp=lambda g, x: g * (exp(x) / x),
    doc="The exponential integral Ei: the integral of ``exp(t) / t`` from minus infinity to `x`.",
)


def _gamma_density(a: Any, x: Any) -> Any:
    constant = -_log_gamma(a)
    return _by_ends(
        x,
        lambda x: exp(xlogy(a - 1, x) - x + constant),
        (0, lambda x: x ** (a - 1) * exp(constant - x)),
    )


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    constant = _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)
    factor = exp(minimum(constant, 700.0))  # it is multiplied by zero where it would be infinite
    return _by_ends(
        x,
        lambda x: exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) + constant),
        (0, lambda x: x ** (a - 1) * ((1 - x) ** (b - 1) * factor)),
        (1, lambda x: (1 - x) ** (b - 1) * (x ** (a - 1) * factor)),
    )


def _by_ends(x: Any, inside: AnyFunction, *ends: tuple[float, AnyFunction]) -> Any:
    """A function that has a formula of its own at some ends, so that it has derivatives there."""
    masks = [equal(x, at) for at, _ in ends]
    at_end = functools.reduce(logical_or, masks)
    values = plain(at_end)
    backend = backend_of(values)
    if backend.has_values(values) and not bool(backend.xp.any(values)):
        return inside(x)
    out = inside(where(at_end, 0.5, x))
    for mask, (_, formula) in zip(masks, ends, strict=True):
        out = where(mask, formula(where(mask, x, 0.5)), out)
    return out


def _log_gamma(a: Any) -> Any:
    if hasattr(a, "dtype"):
        return gammaln(a)
    return math.inf if a <= 0 and a == math.floor(a) else math.lgamma(a)
