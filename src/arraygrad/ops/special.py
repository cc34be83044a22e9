"""Special functions, under `scipy.special`'s names.

What training loops live on (`expit`, `softplus`, `softmax`, `logsumexp`, …) is computed here or by
the backend. The rest is computed by the special functions that come with the array library:
SciPy's for NumPy, imported when first used. All derivatives are ours.
"""

from __future__ import annotations

import functools
import importlib
import math
from types import ModuleType
from typing import Any

from ..backends import backend_of, numpy_special
from .array import Function
from .axes import kept, many_axes
from .batching import Flags, Params, elementwise
from .elementwise import (
    cos,
    equal,
    exp,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    multiply,
    sign,
    sin,
    where,
)
from .op import Op, Operator, binary, constant, declare, unary
from .reductions import _keep, _sum
from .rules import Rule, sum_of_rules
from .series import hurwitz_zeta_slope
from .shape import _reshape, broadcast_shapes, broadcast_to

Axes = tuple[int, ...]

# --- sigmoids ------------------------------------------------------------------------------------

expit = unary(
    "expit",
    d=lambda out: out * (1 - out),
    compute=lambda xp, x: 1 / (1 + xp.exp(-x)),
    doc="The logistic sigmoid, ``1 / (1 + exp(-x))``.",
)
softplus = unary(
    "softplus",
    d=lambda x: expit(x),
    compute=lambda xp, x: xp.log1p(xp.exp(-xp.abs(x))) + xp.where(x > 0, x, 0 * x),
    doc="``log(1 + exp(x))``, exact for large `x` of either sign.",
)
log_expit = unary(
    "log_expit",
    d=lambda x: expit(-x),
    compute=lambda xp, x: xp.where(x < 0, x, 0 * x) - xp.log1p(xp.exp(-xp.abs(x))),
    doc="The logarithm of `expit`, exact also where that is too small for a number.",
)

# --- softmax and its kin -------------------------------------------------------------------------


def _peak_of(xp: Any, x: Any, axis: Axes) -> Any:
    """The maximum with axes kept; zero where it is not finite, and to subtract it would be NaN."""
    if 0 in x.shape:
        return xp.zeros(kept(x.shape, axis), dtype=x.dtype, device=backend_of(x).device(x))
    top = xp.max(x, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))


def _softmax_at(xp: Any, x: Any, shift: Any, axis: Axes) -> Any:
    """The softmax, computed from numbers near `shift`, on which the result does not depend."""
    powers = xp.exp(x - shift)
    return powers / xp.sum(powers, axis=axis, keepdims=True)


def _log_softmax_of(xp: Any, x: Any, axis: Axes) -> Any:
    x = x - _peak_of(xp, x, axis)
    return x - xp.log(xp.sum(xp.exp(x), axis=axis, keepdims=True))


def _logsumexp_of(xp: Any, x: Any, axis: Axes, keepdims: bool) -> Any:
    shift = _peak_of(xp, x, axis)
    total = xp.log(xp.sum(xp.exp(x - shift), axis=axis, keepdims=True)) + shift
    return total if keepdims else xp.reshape(total, _left(x.shape, axis))


def _left(shape: tuple[int, ...], axis: Axes) -> tuple[int, ...]:
    """The shape without the axes of a reduction."""
    return tuple(n for i, n in enumerate(shape) if i not in axis)


def _axes(axis: Any, ndim: int) -> Axes:
    """What users pass as `axis`, as a tuple."""
    found = many_axes(axis, ndim, numbers=True)
    return tuple(range(ndim)) if found is None else found


def _dot(x: Any, y: Any, axis: Axes) -> Any:
    return _sum(x * y, axis=axis, keepdims=True)


def _broadcast_and_up(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    """The batching rule of arrays that broadcast, with axes of the shape that they broadcast to."""
    ups = {"axis": tuple(a + 1 for a in params["axis"])}
    return elementwise(op, arrays, batched, params | ups)


# The Jacobian of the softmax, which is symmetric, at its result `y`, times `v`.
_softmax_tangent = declare(
    "softmax_tangent",
    "v",
    "y",
    compute=lambda xp, v, y, axis: y * (v - xp.sum(v * y, axis=axis, keepdims=True)),
    vjp_v=lambda g, y, axis: _softmax_tangent(g, y, axis=axis),
    vjp_y=lambda g, v, y, axis: g * (v - _dot(v, y, axis)) - v * _dot(g, y, axis),
    jvp=lambda t_v, t_y, v, y, axis: (
        _softmax_tangent(t_v, y, axis=axis) + t_y * (v - _dot(v, y, axis)) - y * _dot(v, t_y, axis)
    ),
    batch=_broadcast_and_up,
)
_softmax = declare(
    "softmax",
    "x",
    compute=lambda xp, x, axis: _softmax_at(xp, x, xp.max(x, axis=axis, keepdims=True), axis),
    vjp=lambda g, out, axis: _softmax_tangent(g, out, axis=axis),
    jvp=lambda t, out, axis: _softmax_tangent(t, out, axis=axis),
    batch="axis",
)
# For the gradient of `logsumexp`, which knows its result: a shift as good as the maximum.
_shifted_softmax = declare(
    "shifted_softmax",
    "x",
    "shift",
    compute=_softmax_at,
    vjp_x=lambda g, out, axis: _softmax_tangent(g, out, axis=axis),
    jvp=lambda t, out, axis: _softmax_tangent(t, out, axis=axis),
    batch=_broadcast_and_up,
)
_log_softmax = declare(
    "log_softmax",
    "x",
    compute=_log_softmax_of,
    vjp=lambda g, out, axis: g - multiply(exp(out), _sum(g, axis=axis, keepdims=True)),
    jvp=lambda t, out, axis: t - _sum(exp(out) * t, axis=axis, keepdims=True),
    batch="axis",
)


def _weights(x: Any, out: Any, axis: Axes, keepdims: bool) -> Any:
    # Not `exp(x - out)`: where x is large, `out` is rounded, and these would not add up to one.
    shift = out if keepdims else _reshape(out, shape=kept(x.shape, axis))
    return _shifted_softmax(x, shift, axis=axis)


_logsumexp = declare(
    "logsumexp",
    "x",
    compute=_logsumexp_of,
    vjp=lambda g, x, out, axis, keepdims: (
        _keep(g, x.shape, axis, keepdims) * _weights(x, out, axis, keepdims)
    ),
    jvp=lambda t, x, out, axis, keepdims: _sum(
        t * _weights(x, out, axis, keepdims), axis=axis, keepdims=keepdims
    ),
    batch="axis",
)
_peak = constant("peak", "x", batch="axis", compute=_peak_of)


def _weighted(xp: Any, x: Any, y: Any) -> Any:
    x, y = _both_arrays(xp, x, y)
    out = x * xp.exp(xp.where(x == 0, xp.zeros_like(y), y))
    return xp.where(x == 0, xp.zeros_like(out), out)


# A weight of zero silences an exponential of any size.
_weighted_exp = binary(
    "weighted_exp",
    vjp_x=lambda g, y: g * exp(y),
    vjp_y=lambda g, out: g * out,
    compute=_weighted,
)


def softmax(x: Any, axis: Any = None) -> Any:
    """Exponentials that are scaled to add up to one, over all axes or some.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.special.softmax(ag.tensor([1000.0, 1000.0, -1000.0]))
    tensor([0.5, 0.5, 0. ])
    """
    return _softmax(x, axis=_axes(axis, x.ndim))


def log_softmax(x: Any, axis: Any = None) -> Any:
    """The logarithm of `softmax`, exact also where that is too small for a number.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1000.0, 0.0], requires_grad=True)
    >>> y = ag.special.log_softmax(x)
    >>> y.detach()
    tensor([    0., -1000.])
    >>> ag.grad(y[1], x)
    tensor([-1.,  1.])
    """
    return _log_softmax(x, axis=_axes(axis, x.ndim))


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of a sum of exponentials, without computing numbers that are too large.

    Parameters
    ----------
    a : array
    axis : None, int or tuple of ints
        What to sum over; by default everything.
    b : array, optional
        Factors of the exponentials. Where one is zero, `a` does not matter.
    keepdims : bool
        Whether to keep the axes that are summed over, with length one.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1000.0, 1000.0], requires_grad=True)
    >>> y = ag.special.logsumexp(x)
    >>> y.item() - 1000  # log(2)
    0.693147180559...
    >>> ag.grad(y, x)
    tensor([0.5, 0.5])
    """
    if b is None:
        return _logsumexp(a, axis=_axes(axis, a.ndim), keepdims=keepdims)
    a = broadcast_to(a, broadcast_shapes(a.shape, getattr(b, "shape", ())))
    axes = _axes(axis, a.ndim)
    shift = _peak(where(equal(b, 0), -math.inf, a), axis=axes)
    total = log(_sum(_weighted_exp(b, a - shift), axis=axes, keepdims=True)) + shift
    return total if keepdims else _reshape(total, shape=_left(a.shape, axes))


# --- x log y -------------------------------------------------------------------------------------


def _log_unless(flat: Any, logarithm: Function, y: Any) -> Any:
    """The logarithm, and zero in flat places, in derivatives of all orders."""
    return where(flat, 0, logarithm(where(flat, 1, y)))


def _product(xp: Any, logarithm: Any, x: Any, y: Any) -> Any:
    """`x` times a logarithm of `y`: zero where `x` is, unless `y` is NaN."""
    x, y = _both_arrays(xp, x, y)
    silent = (x == 0) & (y == y)
    out = x * logarithm(xp.where(silent, xp.ones_like(y), y))
    return xp.where(silent, xp.zeros_like(out), out)


def _both_arrays(xp: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands, of which one may be a number, as arrays."""
    if not hasattr(x, "dtype"):
        x = xp.asarray(x, dtype=getattr(y, "dtype", None))
    if not hasattr(y, "dtype"):
        y = xp.asarray(y, dtype=x.dtype)
    return x, y


xlogy = binary(
    "xlogy",
    vjp_x=lambda g, x, y: g * _log_unless(logical_and(equal(x, 0), less_equal(y, 0)), log, y),
    vjp_y=lambda g, x, y: g * (x / y),
    compute=lambda xp, x, y: _product(xp, xp.log, x, y),
    doc="``x * log(y)``, and zero wherever `x` is.",
)
xlog1py = binary(
    "xlog1py",
    vjp_x=lambda g, x, y: g * _log_unless(logical_and(equal(x, 0), less_equal(y, -1)), log1p, y),
    vjp_y=lambda g, x, y: g * (x / (y + 1)),
    compute=lambda xp, x, y: _product(xp, xp.log1p, x, y),
    doc="``x * log1p(y)``, and zero wherever `x` is.",
)


# --- the array library's own functions -----------------------------------------------------------

_LIBRARIES = {"torch": "torch.special", "cupy": "cupyx.scipy.special", "jax": "jax.scipy.special"}
# What SciPy's functions can compute on by themselves.
_SCIPY_TAKES = {"numpy", "dask"}


def _takes_scipy(parts: list[str]) -> bool:
    """Whether SciPy's functions compute on the arrays of a module: not on those of `jax.numpy`."""
    return not _SCIPY_TAKES.isdisjoint(parts) and _LIBRARIES.keys().isdisjoint(parts)


@functools.cache
def _kernel(xp: Any, name: str) -> Function:
    """The special function of this name for the arrays of a namespace."""
    parts = xp.__name__.split(".") if isinstance(xp, ModuleType) else []
    for part in parts:
        if part in _LIBRARIES:
            found = getattr(importlib.import_module(_LIBRARIES[part]), name, None)
            if found is not None:
                return found  # type: ignore[no-any-return]
    try:
        special = importlib.import_module("scipy.special")
    except ImportError as error:
        raise ImportError(
            f"special.{name} computes with SciPy, which cannot be imported: install it with "
            "pip install 'arraygrad[scipy]'"
        ) from error
    function = functools.partial(_by_scipy, getattr(special, name))
    if _takes_scipy(parts):
        return function
    return functools.partial(_on_the_host, xp, function)


def _by_scipy(function: Function, *arrays: Any) -> Any:
    """SciPy's function with a result in the arrays' dtype, which some of its functions widen."""
    out = function(*arrays)
    floats = [a.dtype for a in arrays if hasattr(a, "dtype") and a.dtype.kind in "fc"]
    if not floats:
        return out
    wanted = floats[0] if len(floats) == 1 else functools.reduce(_wider, floats)
    return out if out.dtype == wanted else out.astype(wanted)


def _wider(one: Any, other: Any) -> Any:
    import numpy as np

    return np.promote_types(one, other)


def _on_the_host(xp: Any, function: Function, *arrays: Any) -> Any:
    """For a library without the function: computed by SciPy on NumPy arrays, and taken back."""
    import numpy as np

    try:
        values = [np.asarray(a) if hasattr(a, "dtype") else a for a in arrays]
        if any(v.dtype == object for v in values if hasattr(v, "dtype")):
            raise TypeError("it has no __array__()")
    except Exception as error:  # each library has its own
        raise TypeError(
            f"{backend_of(arrays[-1]).name} has no such function, and SciPy's runs on the host "
            f"only, which the array cannot be moved to without being asked ({error}): use "
            "to_device() first"
        ) from error
    out = function(*values)
    like = next(a for a in arrays if hasattr(a, "dtype"))
    return xp.asarray(out, device=backend_of(like).device(like))


def _library(name: str) -> Function:
    return lambda xp, *arrays: _kernel(xp, name)(*arrays)


def _unary(
    name: str, d: Rule | None = None, *, vjp: Rule | None = None, doc: str | None = None
) -> Function:
    return unary(name, d, vjp=vjp, compute=_library(name), doc=doc)


def _binary(
    name: str,
    *,
    vjp_x: Rule | None = None,
    vjp_y: Rule | None = None,
    doc: str | None = None,
) -> Operator:
    return binary(name, vjp_x=vjp_x, vjp_y=vjp_y, compute=_library(name), doc=doc)


# --- the error function and the normal distribution ----------------------------------------------

erf = unary(
    "erf",
    d=lambda x: 2 / math.sqrt(math.pi) * exp(-x * x),
    compute=lambda xp, x: (
        numpy_special.erf(x) if numpy_special.is_many_float32(x) else _kernel(xp, "erf")(x)
    ),
    doc="The error function.",
)
erfc = _unary(
    "erfc",
    d=lambda x: -2 / math.sqrt(math.pi) * exp(-x * x),
    doc="One minus the error function, exact also where that is nearly one.",
)
erfinv = _unary(
    "erfinv",
    d=lambda out: math.sqrt(math.pi) / 2 * exp(out * out),
    doc="The inverse of the error function.",
)
ndtr = _unary(
    "ndtr", d=lambda x: _density(x), doc="The standard normal distribution's function: P(X < x)."
)
log_ndtr = _unary(
    "log_ndtr",
    d=lambda x: _hazard(x),
    doc="The logarithm of `ndtr`, exact also where that is too small for a number.",
)
ndtri = _unary(
    "ndtri",
    vjp=lambda g, out: g / _density(out),
    doc="The inverse of `ndtr`: the quantiles of the standard normal distribution.",
)
# The density over the distribution function, of which both are too small far to the left.
_hazard = unary(
    "normal_hazard",
    d=lambda x, out: -out * _excess(x),
    compute=lambda xp, x: _hazard_of(xp, x),
)


def _hazard_of(xp: Any, x: Any) -> Any:
    return math.sqrt(2 / math.pi) / _kernel(xp, "erfcx")(x * -math.sqrt(0.5))


def _excess_of(xp: Any, x: Any) -> Any:
    # Far to the left the sum has no digits left; there a continued fraction converges fast.
    far = x < -8
    t = xp.where(far, -x, 8 + 0 * x)
    fraction = 0 * t
    for k in range(40, 1, -1):
        fraction = k / (t + fraction)
    return xp.where(far, 1 / (t + fraction), x + _hazard_of(xp, x))


# By how much the hazard is above `-x`, which it comes close to on the left.
_excess = unary("normal_excess", d=lambda x, out: 1 + out * (x - out), compute=_excess_of)


def _density(x: Any) -> Any:
    return exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


# --- the gamma function and its kin --------------------------------------------------------------

gammaln = _unary(
    "gammaln",
    d=lambda x: digamma(x),
    doc="The logarithm of the absolute value of the gamma function.",
)
digamma = _unary(
    "digamma", d=lambda x: polygamma(1, x), doc="The derivative of the gamma function's logarithm."
)
psi = digamma
polygamma = _binary(
    "polygamma",
    vjp_y=lambda g, x, y: g * polygamma(x + 1, y),
    doc="``polygamma(n, x)``: the derivative of `digamma` of order `n`, an integer, at `x`.",
)
betaln = _binary(
    "betaln",
    vjp_x=lambda g, x, y: g * (digamma(x) - digamma(x + y)),
    vjp_y=lambda g, x, y: g * (digamma(y) - digamma(x + y)),
    doc="The logarithm of the absolute value of the beta function.",
)
gamma = _unary("gamma", vjp=lambda g, x, out: g * (out * digamma(x)), doc="The gamma function.")


def _no_derivative(function: str, argument: str, others: str) -> Rule:
    """The rule of an argument for which there is no formula."""

    def rule(g: Any) -> Any:
        raise NotImplementedError(
            f"{function} has no derivative with respect to {argument} here, only with respect to "
            f"{others}: detach() {argument} if it is meant as a constant"
        )

    return rule


_hurwitz_zeta = _binary(
    "zeta",
    vjp_x=lambda g, x, y: g * hurwitz_zeta_slope(x, y),
    vjp_y=lambda g, x, y: -g * (x * _hurwitz_zeta(x + 1, y)),
)


def _riemann_zeta_of(xp: Any, x: Any) -> Any:
    # Only SciPy's takes one argument, and then continues it to where the sum does not converge.
    alone = _takes_scipy(xp.__name__.split("."))
    return _kernel(xp, "zeta")(*((x,) if alone else (x, xp.ones_like(x))))


def _riemann_zeta_slope(x: Any) -> Any:
    """The derivative of Riemann's zeta function; below zero, by its reflection at one half."""
    below = less(x, 0)
    above = where(below, 2, x)
    direct = hurwitz_zeta_slope(above, 1.0)
    y = where(below, x, -1)
    angle = y * (math.pi / 2)
    value, slope = _riemann_zeta(1 - y), hurwitz_zeta_slope(1 - y, 1.0)
    inner = sin(angle) * ((math.log(2 * math.pi) - digamma(1 - y)) * value - slope)
    inner = inner + cos(angle) * (value * (math.pi / 2))
    reflected = exp(y * math.log(2 * math.pi)) * (gamma(1 - y) / math.pi) * inner
    return where(below, reflected, direct)


_riemann_zeta = unary("riemann_zeta", d=lambda x: _riemann_zeta_slope(x), compute=_riemann_zeta_of)


def zeta(x: Any, q: Any = None) -> Any:
    """The zeta function of Riemann, or with `q` of Hurwitz: the sum of ``1 / (k + q) ** x``.

    Without `q` it is continued to all `x` but one.

    Examples
    --------
    >>> import arraygrad as ag
    >>> q = ag.tensor(1.0, requires_grad=True)
    >>> ag.grad(ag.special.zeta(2.0, q), q).item()  # -2 times zeta(3)
    -2.404113806319...
    """
    return _riemann_zeta(x) if q is None else _hurwitz_zeta(x, q)


# --- incomplete integrals, which are what distributions are made of ------------------------------


def _of_arrays(name: str) -> Function:
    """The library's function, which may not take numbers, of arrays like the last argument."""

    def compute(xp: Any, *arrays: Any) -> Any:
        last = arrays[-1]
        if hasattr(last, "dtype"):
            like = {"dtype": last.dtype, "device": backend_of(last).device(last)}
            arrays = tuple([a if hasattr(a, "dtype") else xp.asarray(a, **like) for a in arrays])
        return _kernel(xp, name)(*arrays)

    return compute


gammainc = binary(
    "gammainc",
    compute=_of_arrays("gammainc"),
    vjp_x=_no_derivative("gammainc", "a", "x"),
    vjp_y=lambda g, x, y: g * _gamma_density(x, y),
    doc="""``gammainc(a, x)``: the gamma function's integral up to `x`, as a part of the whole.

    It can be differentiated with respect to `x` only.
    """,
)
gammaincc = binary(
    "gammaincc",
    compute=_of_arrays("gammaincc"),
    vjp_x=_no_derivative("gammaincc", "a", "x"),
    vjp_y=lambda g, x, y: -g * _gamma_density(x, y),
    doc="""``gammaincc(a, x)``: one minus `gammainc`, exact also where that is nearly one.

    It can be differentiated with respect to `x` only.
    """,
)
betainc = declare(
    "betainc",
    "a",
    "b",
    "x",
    compute=_of_arrays("betainc"),
    vjp_a=_no_derivative("betainc", "a", "x"),
    vjp_b=_no_derivative("betainc", "b", "x"),
    vjp_x=lambda g, a, b, x: g * _beta_density(a, b, x),
    batch="elementwise",
    doc="""``betainc(a, b, x)``: the beta function's integral up to `x`, as a part of the whole.

    It can be differentiated with respect to `x` only.
    """,
)
betainc.op.make_forward = sum_of_rules  # type: ignore[attr-defined]


def fdtr(dfn: Any, dfd: Any, x: Any) -> Any:
    """The function of the F distribution with `dfn` and `dfd` degrees of freedom: P(X < x).

    It can be differentiated with respect to `x` only.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.special.fdtr(2.0, 4.0, ag.tensor([1.0, 3.0]))
    tensor([0.55555556, 0.84      ])
    """
    return betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))


def fdtrc(dfn: Any, dfd: Any, x: Any) -> Any:
    """One minus `fdtr`, exact also where that is nearly one.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.special.fdtrc(2.0, 4.0, ag.tensor([1.0, 3.0]))
    tensor([0.44444444, 0.16      ])
    """
    return betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))


exp1 = _unary(
    "exp1",
    vjp=lambda g, x: -g * (exp(-x) / x),
    doc="The exponential integral: that of ``exp(-t) / t`` from `x` on.",
)
expi = _unary(
    "expi",
    vjp=lambda g, x: g * (exp(x) / x),
    doc="The exponential integral: that of ``exp(t) / t`` up to `x`.",
)


def _gamma_density(a: Any, x: Any) -> Any:
    return exp(xlogy(a - 1, x) - x - _log_gamma(a))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    constant = _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)
    return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) + constant)


def _log_gamma(a: Any) -> Any:
    return gammaln(a) if hasattr(a, "dtype") else math.lgamma(a)


# --- entropies -----------------------------------------------------------------------------------

entr = _unary(
    "entr",
    vjp=lambda g, x: -g * (log(x) + 1),
    doc="``-x * log(x)``, each element's part in an entropy; zero at zero.",
)
rel_entr = _binary(
    "rel_entr",
    vjp_x=lambda g, x, y: g * (log(x / y) + 1),
    vjp_y=lambda g, x, y: -g * _ratio(x, y),
    doc="``x * log(x / y)``, each element's part in a relative entropy; zero where `x` is.",
)
kl_div = _binary(
    "kl_div",
    vjp_x=lambda g, x, y: g * log(x / y),
    vjp_y=lambda g, x, y: g * (1 - _ratio(x, y)),
    doc="``x * log(x / y) - x + y``: as `rel_entr`, but convex and never negative.",
)


def _ratio(x: Any, y: Any) -> Any:
    """`x / y`, and zero where both are: there is no divergence from nothing at any `y`."""
    return x / where(logical_and(equal(x, 0), equal(y, 0)), 1, y)


# --- modified Bessel functions -------------------------------------------------------------------
# From the second order on, all go by the recurrence between neighbours, which has no pole at zero.

i0 = _unary(
    "i0", d=lambda x: i1(x), doc="The modified Bessel function of the first kind of order zero."
)
i1 = _unary(
    "i1",
    d=lambda x: (i0(x) + _iv(2, x)) * 0.5,
    doc="The modified Bessel function of the first kind of order one.",
)
i0e = _unary(
    "i0e", d=lambda x, out: i1e(x) - sign(x) * out, doc="``exp(-abs(x)) * i0(x)``: never too large."
)
i1e = _unary(
    "i1e",
    d=lambda x, out: (i0e(x) + _ive(2, x)) * 0.5 - sign(x) * out,
    doc="``exp(-abs(x)) * i1(x)``: never too large.",
)
_iv = _binary("iv", vjp_y=lambda g, x, y: g * (_iv(x - 1, y) + _iv(x + 1, y)) * 0.5)
_ive = _binary(
    "ive",
    vjp_y=lambda g, x, y, out: g * ((_ive(x - 1, y) + _ive(x + 1, y)) * 0.5 - sign(y) * out),
)

# --- others --------------------------------------------------------------------------------------


def _logit(g: Any, x: Any, out: Any) -> Any:
    return where(isnan(out), math.nan, g / (x * (1 - x)))


logit = _unary("logit", vjp=_logit, doc="``log(x / (1 - x))``, the inverse of `expit`.")


def _sinc_derivative_of(xp: Any, x: Any, n: int) -> Any:
    """The derivative of order `n` of ``sin(πx) / πx``.

    With z = πx, the derivatives f of sin(z) / z satisfy ``z f⁽ⁿ⁾ + n f⁽ⁿ⁻¹⁾ = sin⁽ⁿ⁾(z)``, which
    gives each from the one before, except near zero, where the power series does better.
    """
    z = x * math.pi
    near = xp.abs(z) < 1 + 0.28 * n  # where both lose equally many digits
    small = xp.where(near, z, xp.zeros_like(z))
    large = xp.where(near, xp.ones_like(z), z)
    waves = [xp.sin(large), xp.cos(large)]
    derivative = waves[0] / large
    for k in range(1, n + 1):
        wave = waves[k % 2] if k % 4 < 2 else -waves[k % 2]
        derivative = (wave - k * derivative) / large
    # The sum over j >= n / 2 of (-1)ʲ z²ʲ⁻ⁿ / ((2j - n)! (2j + 1)), from its smallest term.
    series, square = xp.zeros_like(z), small * small
    first = (n + 1) // 2
    for j in range(first + 12 + n // 2, first - 1, -1):
        power = 2 * j - n
        ratio = (power + 1) * (power + 2)  # between the factorials of this term and the next
        series = (-1) ** j / (2 * j + 1) + square / ratio * series
    series = series if n % 2 == 0 else series * small
    return xp.where(near, series, derivative) * math.pi**n


sinc = unary(
    "sinc",
    d=lambda x: _sinc_derivative(x, n=1),
    compute=lambda xp, x: _sinc_of(xp, x),
    doc="``sin(πx) / πx``, and one at zero. Its derivatives of all orders are exact there, too.",
)
_sinc_derivative = declare(
    "sinc_derivative",
    "x",
    compute=_sinc_derivative_of,
    vjp=lambda g, x, n: g * _sinc_derivative(x, n=n + 1),
    jvp=lambda t, x, n: t * _sinc_derivative(x, n=n + 1),
    batch="elementwise",
)


def _sinc_of(xp: Any, x: Any) -> Any:
    z = x * math.pi
    z = xp.where(z == 0, xp.full_like(z, xp.finfo(z.dtype).eps), z)
    return xp.sin(z) / z
