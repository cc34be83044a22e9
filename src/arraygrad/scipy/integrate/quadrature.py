"""Integrals of functions: `quad` and its relatives.

SciPy computes the integral. Its derivatives are those of a weighted sum over the points at which
SciPy's last subdivision evaluates the function (see `rules`), and of the ends of the range. The sum
is compared with SciPy's integral: if they differ, differentiating would not be accurate, and an
error says so.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction, Array
from ...errors import NotASolutionError
from ..field import Field
from ..formula import as_array, by_ops, carries, const
from ..names import scipy_module
from ..values import Runs, attach, on_values
from .rules import Rule, double_exponential, gauss_kronrod, on_half_line, on_intervals
from .weights import principal_value, waves, with_powers


def quad(
    func: AnyFunction,
    a: Any,
    b: Any,
    args: Any = (),
    full_output: Any = 0,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: str | None = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: int = 50,
    limlst: int = 50,
    complex_func: bool = False,
) -> Any:
    """`scipy.integrate.quad`; the integral has derivatives by the ends, `args` and closures.

    With a `weight`, there are also derivatives by `wvar`.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> def area(a):
    ...     return ag.scipy.integrate.quad(lambda x: np.exp(-a * x**2), 0, np.inf)[0]
    >>> print(round(float(ag.func.grad(area)(1.0)), 6))  # -sqrt(pi) / 4
    -0.443113
    """
    scipy = scipy_module("scipy.integrate")
    options = {
        "epsabs": epsabs,
        "epsrel": epsrel,
        "limit": limit,
        "weight": weight,
        "maxp1": maxp1,
        "limlst": limlst,
        "complex_func": complex_func,
    }

    def run(func: Any, a: Any, b: Any, args: Any, points: Any, wvar: Any, full: Any) -> Any:
        more = {"points": points, "wvar": wvar, "wopts": wopts, "full_output": full}
        return scipy.quad(func, a, b, args, **more, **options)

    runs = on_values(run, func, a, b, args, points, wvar, full_output)
    value, *rest = runs.join(runs.results)
    if not runs.has_derivatives:
        return runs.as_given(value), *rest
    extra = args if isinstance(args, tuple) else (args,)

    def function(x: Any) -> Any:
        y = as_array(func(x, *extra))
        return ops.reshape(y, ()) if y.ndim else y

    if weight is not None and weight not in ("cos", "sin"):
        return _weighted(function, value, as_array(a), as_array(b), weight, wvar), *rest
    waving = weight is not None and _is_infinite(a, b)

    def integrand(x: Any) -> Any:
        wave = 1.0 if weight is None else getattr(ops, weight)(as_array(wvar) * x)
        return function(x) * wave

    def last(*given: Any) -> Any:
        func, a, b, args, points, wvar = given
        if waving:
            return waves(float(a), float(b), float(wvar))
        _, _, info, *_ = run(func, a, b, args, points, wvar, 1)
        infos = [info["real"], info["imag"]] if complex_func else [info]
        breaks = np.asarray([] if points is None else points, float)
        return (float(a), float(b)), _subdivision(infos), breaks

    second = on_values(last, func, a, b, args, points, wvar)
    if waving:
        rules = second.results
    else:
        rules = [_points(ends, edges) for ends, edges, _ in second.results]
    total, size = _sum(integrand, second, rules)
    if not waving and not _agree(total, value, size):
        rules = [_near_ends(ends, breaks) for ends, _, breaks in second.results]
        total, size = _sum(integrand, second, rules)
    _check_agree(total, value, size)
    value = value if isinstance(value, Array) else np.asarray(value)
    return attach(value, total + _ends(integrand, a, b)), *rest


def _shown(x: Any) -> str:
    return str(np.asarray(const(x) if not isinstance(const(x), Array) else "a batch"))


def _check_agree(total: Any, value: Any, size: Any) -> None:
    if not _agree(total, value, size):
        raise NotASolutionError(
            "quad: the integral cannot be differentiated accurately: at the points of the last "
            f"subdivision, the integrand sums to {_shown(total)}, not to {_shown(value)}. Name "
            "singular points by points=, or lower epsabs and epsrel"
        )


def _is_infinite(*ends: Any) -> bool:
    return any(not isinstance(x, Array) and np.isinf(x) for x in ends)


def _weighted(function: AnyFunction, value: Any, a: Any, b: Any, weight: str, wvar: Any) -> Any:
    """An integral with a weight that is infinite somewhere."""
    if weight == "cauchy":
        total, size = principal_value(function, a, b, as_array(wvar))
    else:
        total, size = with_powers(function, a, b, weight, wvar)
    _check_agree(total, value, size)
    return attach(value if isinstance(value, Array) else np.asarray(value), total)


# --- points and sums ------------------------------------------------------------------------------


def _subdivision(infos: list[Any]) -> Any:
    """The intervals of the last subdivision, from QUADPACK's reports; None if it has none."""
    edges: Any = []
    for info in infos:
        if "alist" not in info:
            return None
        count = info["last"]
        edges = np.union1d(edges, np.append(info["alist"][:count], info["blist"][:count]))
    return np.stack([edges[:-1], edges[1:]], axis=1)


def _points(ends: tuple[float, float], edges: Any) -> Rule:
    """The points and weights for the intervals of a subdivision."""
    a, b = ends
    if edges is None:
        edges = np.array([[min(a, b), max(a, b)]])
    if np.isfinite(a) and np.isfinite(b):
        x, w = on_intervals(gauss_kronrod(10), edges)
        return x, w if a <= b else -w
    rule = on_intervals(gauss_kronrod(7), edges)
    sign = 1.0 if a <= b else -1.0
    if np.isinf(a) and np.isinf(b):
        both = [on_half_line(rule, 0.0, direction) for direction in (1.0, -1.0)]
        x, w = (np.concatenate(parts) for parts in zip(*both, strict=True))
        return x, sign * w
    start = b if np.isinf(a) else a
    x, w = on_half_line(rule, start, 1.0 if np.inf in (a, b) else -1.0)
    return x, sign * w


def _near_ends(ends: tuple[float, float], breaks: Any) -> Rule:
    """The points and weights of the double exponential rule, between points given by the user."""
    a, b = sorted(ends)
    edges = [a, *np.sort(breaks), b]
    parts = [double_exponential(*pair) for pair in itertools.pairwise(edges)]
    x, w = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return x, w if ends[0] <= ends[1] else -w


def _sum(integrand: AnyFunction, runs: Runs, rules: list[Rule]) -> tuple[Any, Any]:
    """The weighted sum of an integrand over points, and of its absolute values.

    The points differ between members of a batch.
    """
    count = max(len(x) for x, _ in rules)
    points = runs.join([np.append(x, np.repeat(x[-1:], count - len(x))) for x, _ in rules])
    weights = runs.join([np.append(w, np.zeros(count - len(w))) for _, w in rules])
    values = Field(integrand, points)((points,))
    # At a singular end, a point may round to the end itself, with a weight of almost nothing.
    finite = ops.isfinite(const(values))
    weights = ops.reshape(weights, (count, *[1] * (values.ndim - 1)))
    terms = ops.where(finite, values, 0.0) * weights
    return ops.sum(terms, axis=0), ops.sum(ops.abs(const(terms)), axis=0)


def _agree(total: Any, value: Any, size: Any) -> bool:
    """Whether a sum of terms of some size is the integral that SciPy found."""
    near = ops.abs(const(total) - value) <= 1e-7 * size
    while isinstance(near, Array):
        near = near._array
    return bool(np.all(near))


def _ends(integrand: AnyFunction, a: Any, b: Any) -> Any:
    """Zero, with the derivatives of the integral by its ends.

    It is the integral from the value of an end to the end itself, by Gauss's rule.
    """
    total: Any = 0.0
    x, w = np.polynomial.legendre.leggauss(4)
    for end, sign in ((b, 0.5), (a, -0.5)):
        if carries(end):
            at = const(end)
            if np.any(np.isinf(np.asarray(_plain(at)))):
                continue
            points = at + (end - at) * (x + 1) / 2
            values = Field(integrand, const(points))((points,))
            weights = np.reshape(w, (-1, *[1] * (values.ndim - 1)))
            total = total + sign * (end - at) * ops.sum(weights * values, axis=0)
    return total


def _plain(x: Any) -> Any:
    while isinstance(x, Array):
        x = x._array
    return x


# --- several dimensions ---------------------------------------------------------------------------


def nquad(
    func: AnyFunction, ranges: Any, args: Any = None, opts: Any = None, full_output: bool = False
) -> Any:
    """`scipy.integrate.nquad`; the integral has derivatives by ranges, `args` and closures."""
    scipy = scipy_module("scipy.integrate")

    def run(func: Any, ranges: Any, args: Any, opts: Any) -> Any:
        return scipy.nquad(func, ranges, args, opts, full_output)

    runs = on_values(run, func, ranges, args, opts)
    value, *rest = runs.join(runs.results)
    if not runs.has_derivatives:
        return runs.as_given(value), *rest
    extra = () if args is None else args if isinstance(args, tuple) else (args,)

    def integral(depth: int, *outer: Any) -> Any:
        """Over the variables up to a depth; `outer` are the values of the others."""
        given = ranges[depth]
        low, high = given(*outer, *extra) if callable(given) else given
        option = _option(opts, depth, outer, extra)

        def integrand(x: Any) -> Any:
            return integral(depth - 1, x, *outer) if depth else func(x, *outer, *extra)

        return quad(integrand, low, high, **option)[0]

    value = value if isinstance(value, Array) else np.asarray(value)
    return attach(value, integral(len(ranges) - 1)), *rest


def _option(opts: Any, depth: int, outer: Any, extra: Any) -> Any:
    if opts is None:
        return {}
    option = opts if isinstance(opts, dict) else opts[depth]
    return option(*outer, *extra) if callable(option) else option


def dblquad(
    func: AnyFunction,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:
    """`scipy.integrate.dblquad`; the integral has derivatives by limits, `args` and closures."""

    def inner(x: Any, *_: Any) -> Any:
        return [_limit(gfun, x), _limit(hfun, x)]

    return nquad(func, [inner, [a, b]], args, {"epsabs": epsabs, "epsrel": epsrel})


def tplquad(
    func: AnyFunction,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> Any:
    """`scipy.integrate.tplquad`; the integral has derivatives by limits, `args` and closures."""

    def innermost(y: Any, x: Any, *_: Any) -> Any:
        return [_limit(qfun, x, y), _limit(rfun, x, y)]

    def inner(x: Any, *_: Any) -> Any:
        return [_limit(gfun, x), _limit(hfun, x)]

    return nquad(func, [innermost, inner, [a, b]], args, {"epsabs": epsabs, "epsrel": epsrel})


def _limit(limit: Any, *point: Any) -> Any:
    return limit(*point) if callable(limit) else limit


# --- vectors --------------------------------------------------------------------------------------


def quad_vec(
    f: AnyFunction,
    a: Any,
    b: Any,
    *more: Any,
    args: Any = (),
    full_output: bool = False,
    **options: Any,
) -> Any:
    """`scipy.integrate.quad_vec`; the integrals have derivatives by ends, `args` and closures."""
    scipy = scipy_module("scipy.integrate")

    def run(f: Any, a: Any, b: Any, args: Any, full: bool) -> Any:
        return scipy.quad_vec(f, a, b, *more, args=args, full_output=full, **options)

    runs = on_values(run, f, a, b, args, full_output)
    value, *rest = runs.join(runs.results)
    if not runs.has_derivatives:
        return runs.as_given(value), *rest
    extra = args if isinstance(args, tuple) else (args,)

    def integrand(x: Any) -> Any:
        return as_array(f(x, *extra))

    def last(f: Any, a: Any, b: Any, args: Any) -> Any:
        info = run(f, a, b, args, True)[2]
        is_line = np.isinf(a) and np.isinf(b)
        edges = _halves(info.intervals) if is_line else info.intervals
        return (float(a), float(b)), edges

    second = on_values(last, f, a, b, args)
    rules = [_points(ends, edges) for ends, edges in second.results]
    total, size = _sum(integrand, second, rules)
    if not _agree(total, value, size):
        raise NotASolutionError(
            "quad_vec: the integral cannot be differentiated accurately at the points of the last "
            "subdivision: name singular points by points=, or lower epsabs and epsrel"
        )
    return attach(value, total + _ends(integrand, a, b)), *rest


def _halves(intervals: Any) -> Any:
    """The intervals on both sides of zero, as intervals from zero to one for both."""
    edges = np.unique(np.abs(np.ravel(intervals)))
    return np.stack([edges[:-1], edges[1:]], axis=1)


def fixed_quad(func: AnyFunction, a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    """`scipy.integrate.fixed_quad`; the sum has derivatives by `a`, `b`, `args` and closures."""
    scipy = scipy_module("scipy.integrate")

    def run(func: Any, a: Any, b: Any, args: Any) -> Any:
        return scipy.fixed_quad(func, a, b, args, n)

    runs = on_values(run, func, a, b, args)
    value, rest = runs.join(runs.results)
    if not runs.has_derivatives:
        return runs.as_given(value), rest
    x, w = np.polynomial.legendre.leggauss(n)
    points = a + (b - a) * (x + 1) / 2
    values = by_ops(lambda x: func(x, *args), points)(points)
    value = value if isinstance(value, Array) else np.asarray(value)
    return attach(value, (b - a) / 2 * ops.sum(w * values, axis=-1)), rest
