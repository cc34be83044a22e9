"""Integrals of functions: `quad` and its relatives.

SciPy computes the integral. Its derivatives are those of the op in `integral`, and of the ends of
the range. An integrand that takes decisions, or calls a solver, is known only at the points where
it was called: then the derivatives are those of a weighted sum over points that resolve the
derivatives of the integrand along a direction of each array. If there are none, an error says so.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

import numpy as np

from ... import ops
from ...core.array import AnyFunction, Array, plain
from ...errors import NotASolutionError
from ...func import jvp
from ..field import Field
from ..formula import Formula, as_array, by_ops, carries, const
from ..linear import is_floating
from ..names import scipy_module
from ..solving import solver
from ..values import Runs, attach, once
from .integral import integral
from .resolving import Range, Sum, Tolerance, jumps, on_edges, resolved, stacked, tolerance
from .rules import WAVES, Nodes
from .weights import principal_value, with_powers

__all__ = ["dblquad", "fixed_quad", "nquad", "quad", "quad_vec", "tplquad"]

SCIPY = scipy_module("scipy.integrate")


def _quad(given: dict[str, Any]) -> Any:
    """SciPy's integral of plain values, and where it was computed."""
    found = SCIPY.quad(**given | {"full_output": 1})
    infos = list(found[2].values()) if given.get("complex_func") else [found[2]]
    breaks = np.asarray([] if given.get("points") is None else given["points"], float)
    ends, weight = (float(given["a"]), float(given["b"])), given.get("weight")
    if weight is None or weight in ("cos", "sin"):
        is_wave = weight is not None and any(map(np.isinf, ends))
        frequency = float(given["wvar"]) if is_wave else None
        place = Range(ends, _subdivision(infos), breaks, frequency)
    else:
        place = Range((0.0, 1.0), None, np.asarray([]))
    if not given.get("full_output"):
        if len(found) > 3:
            warnings.warn(found[3], SCIPY.IntegrationWarning, stacklevel=2)
        found = found[:2]
    return found, place


@solver(SCIPY.quad, _quad)
def quad(
    runs: Any,
    result: Any,
    func: Any,
    a: Any,
    b: Any,
    args: Any,
    epsabs: float,
    epsrel: float,
    weight: str | None,
    wvar: Any,
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
    value, *rest = result
    extra = args if isinstance(args, tuple) else (args,)

    def function(x: Any) -> Any:
        y = as_array(func(x, *extra))
        return ops.reshape(y, ()) if y.ndim else y

    def wave(x: Any) -> Any:
        return function(x) * getattr(ops, str(weight))(as_array(wvar) * x)

    allowed = tolerance(epsabs, epsrel, "quad")
    if weight is None:
        found = _integral(value, function, runs, allowed, (a, b), runs.formula(of_numbers=True))
    elif weight in ("cos", "sin"):
        found = _integral(value, wave, runs, allowed, (a, b))
    elif weight == "cauchy":
        of_part = principal_value(function, as_array(a), as_array(b), as_array(wvar))
        found = _integral(value, of_part, runs, allowed)
    else:
        of_part = with_powers(function, as_array(a), as_array(b), weight, wvar)
        found = _integral(value, of_part, runs, allowed)
    return found, *rest


def _check_waves(total: Any, value: Any) -> None:
    """Raise if a sum over a part of an infinite range is not the integral."""
    found, exact = np.asarray(plain(const(total))), np.asarray(plain(const(value)))
    if not np.allclose(found, exact, rtol=1e-6, atol=1e-8):
        raise NotASolutionError(
            f"quad: the integral of waves cannot be differentiated accurately: over {sum(WAVES)} "
            f"half periods, the integrand sums to {found}, not to {exact}. Split the range"
        )


# --- points and sums ------------------------------------------------------------------------------


def _subdivision(infos: list[Any]) -> Any:
    """The intervals of the last subdivision, from QUADPACK's reports; None if it has none."""
    if "alist" not in infos[0]:
        return None
    if len(infos) == 1:
        return np.stack([infos[0][key][: infos[0]["last"]] for key in ("alist", "blist")], axis=1)
    parts = [info[key][: info["last"]] for info in infos for key in ("alist", "blist")]
    edges = np.unique(np.concatenate(parts))
    return np.stack([edges[:-1], edges[1:]], axis=1)


def _integral(
    value: Any,
    integrand: AnyFunction,
    runs: Runs,
    allowed: Tolerance,
    ends: tuple[Any, Any] = (0.0, 0.0),
    formula: Formula | None = None,
) -> Any:
    """SciPy's integral with derivatives by its ends, and by all arrays that the integrand uses.

    `formula` is the integrand, if it is known already, and the same everywhere.
    """
    value = value if isinstance(value, Array) else np.asarray(value)
    ranges: list[Range] = runs.reports
    if formula is None:

        def make(nodes: list[Nodes], is_twice: bool) -> _Sum:
            return _Sum(integrand, runs, nodes, is_twice)

        with np.errstate(all="ignore"):
            first = on_edges(make, ranges, [p.first() for p in ranges])
            is_wave = ranges[0].frequency is not None
            formula = None if is_wave else first.field.formula
            if formula is None:
                found = resolved(make, first, ranges, allowed)
            elif formula.is_of_numbers:
                formula = formula.of_numbers()
    if formula is not None:
        total = integral(value, formula, runs, allowed)
    else:
        place = found.jump()
        if place is not None:
            raise jumps(allowed.name, place)
        total = found.total(allowed.name)
        if is_wave:
            _check_waves(total, value)
        total = attach(value, total)
    at_ends = _ends(integrand, *ends)
    return total if at_ends is None else attach(value, total + at_ends)


class _Sum(Sum):
    """The weighted sum of an integrand over points.

    Its terms are the derivatives of the integrand along a direction of each array.
    """

    def __init__(
        self, integrand: AnyFunction, runs: Runs, nodes: list[Nodes], is_twice: bool
    ) -> None:
        super().__init__(nodes, is_twice)
        self._x, self._w, _ = stacked(nodes)
        self._points = runs.join([np.ravel(part) for part in self._x])
        self.field = Field(integrand, self._points)
        self._runs = runs

    @functools.cached_property
    def _places(self) -> Any:
        """The places of the points that have weights."""
        count, points = self._x.shape[1:]
        every = np.arange(count * points).reshape(count, points)
        return np.ravel(every[:, : points - self.nodes[0].checks])

    def _values(self, outside: Any) -> Any:
        return self.field.map(None, (self._points,), outside, self._places)

    def total(self, name: str) -> Any:
        """The sum; a second derivative is refused if the first jumps where a parameter says."""
        places, outside = self._places, self.field.outside
        for slope in self.terms:
            place = self.jump(np.reshape(slope, (-1, slope.shape[-1]))[places])
            if place is not None:
                of = f"the first derivative of {name}, which jumps near x = {place:.6g},"
                outside = [once(array, of=of) if carries(array) else array for array in outside]
        values = self._values(outside)
        weights = self._runs.join([np.ravel(part)[places] for part in self._w])
        shape = (len(places), *[1] * (values.ndim - 1))
        # At a singular end, a point may round to the end itself, with a weight of almost nothing.
        values = ops.where(ops.isfinite(const(values)), values, 0.0)
        return ops.sum(values * ops.reshape(weights, shape), axis=0)

    @functools.cached_property
    def terms(self) -> list[Any]:  # type: ignore[override]
        return [_members(t, self._x.shape) for t in _slopes(self.field, self._points)]

    def vanishing(self) -> Any:
        values = _members(self._values(self.field.outside), self._x.shape)
        return super().vanishing() & (values == 0).all(-1)

    def jump(self, values: Any = None) -> float | None:
        """Where the integrand, or other values, jump at a place that depends on a parameter."""
        if isinstance(self._points, Array) or not self.field.has_choices:
            return None
        values = const(self._values(self.field.outside)) if values is None else values
        return self.field.jump(self._points[self._places], values, True, self._places)


def _slopes(field: Field, points: Any) -> list[Any]:
    """The derivatives of an integrand along a direction of each array that it depends on."""
    given = [const(array) for array in field.outside]
    slopes = []
    for i, array in enumerate(given):
        if field.is_shared[i] and is_floating(array):
            parts = 0.5 + 0.618034 * np.arange(1, array.size + 1) % 1
            along = ops.zeros_like(array) + np.reshape(parts, array.shape)

            def of_one(moving: Any, i: int = i) -> Any:
                return field((points,), [*given[:i], moving, *given[i + 1 :]])

            slopes.append(jvp(of_one, (array,), (along,))[1])
    return slopes


def _members(terms: Any, shape: tuple[int, ...]) -> Any:
    """The terms as a plain array (members, intervals, points, components)."""
    array = np.asarray(plain(const(terms)))
    if array.size < np.prod(shape):  # it does not depend on the member, or the point
        array = np.broadcast_to(array, (*shape[:1], shape[1] * shape[2], *array.shape[1:]))
    return np.reshape(array, (*shape, -1))


_gauss = functools.cache(np.polynomial.legendre.leggauss)
_ORDER = 32  # the highest order of derivatives by the ends


def _ends(integrand: AnyFunction, a: Any, b: Any) -> Any:
    """Zero, with the derivatives of the integral by its ends; None if they carry none.

    It is the integral from the value of an end to the end itself, by Gauss's rule, which has the
    right derivatives up to twice the number of its points.
    """
    total: Any = None
    x, w = _gauss(_ORDER // 2)
    for end, sign in ((b, 0.5), (a, -0.5)):
        if carries(end):
            at = const(end)
            if np.any(np.isinf(np.asarray(plain(at)))):
                continue
            points = at + (end - at) * (x + 1) / 2
            values = Field(integrand, const(points))((points,))
            weights = np.reshape(w, (-1, *[1] * (values.ndim - 1)))
            part = sign * (end - at) * ops.sum(weights * values, axis=0)
            total = part if total is None else total + part
    return total


# --- several dimensions ---------------------------------------------------------------------------


@solver(SCIPY.nquad)
def nquad(runs: Any, result: Any, func: Any, ranges: Any, args: Any, opts: Any) -> Any:
    """`scipy.integrate.nquad`; the integral has derivatives by ranges, `args` and closures."""
    value, *rest = result
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


def _over_regions(name: str, *pairs: tuple[str, str]) -> AnyFunction:
    """The twin of a function whose parameters with these names are limits, from the inside out."""
    signature = inspect.signature(getattr(SCIPY, name))

    def run(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments

        def limits(depth: int) -> AnyFunction:
            def both(*outer: Any) -> list[Any]:
                point = outer[: len(pairs) - 1 - depth][::-1]
                ends = (given[end] for end in pairs[depth])
                return [end(*point) if callable(end) else end for end in ends]

            return both

        options = {key: given[key] for key in ("epsabs", "epsrel")}
        ranges = [limits(depth) for depth in range(len(pairs))]
        return nquad(given["func"], ranges, given["args"], options)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = f"`scipy.integrate.{name}`, with derivatives by limits, `args` and closures."
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


dblquad = _over_regions("dblquad", ("gfun", "hfun"), ("a", "b"))
tplquad = _over_regions("tplquad", ("qfun", "rfun"), ("gfun", "hfun"), ("a", "b"))

# --- vectors --------------------------------------------------------------------------------------


def _quad_vec(given: dict[str, Any]) -> Any:
    """SciPy's integrals of plain values, and where they were computed."""
    a, b = given["a"], given["b"]
    found = SCIPY.quad_vec(**given | {"full_output": True})
    is_line = np.isinf(a) and np.isinf(b)
    edges = _halves(found[2].intervals) if is_line else found[2].intervals
    breaks = np.asarray([] if given.get("points") is None else given["points"], float)
    place = Range((float(a), float(b)), edges, breaks)
    return found if given.get("full_output") else found[:2], place


@solver(SCIPY.quad_vec, _quad_vec)
def quad_vec(runs: Any, result: Any, f: Any, a: Any, b: Any, args: Any) -> Any:
    """`scipy.integrate.quad_vec`; the integrals have derivatives by ends, `args` and closures."""
    value, *rest = result
    extra = args if isinstance(args, tuple) else (args,)

    def integrand(x: Any) -> Any:
        return as_array(f(x, *extra))

    allowed = tolerance(1e-200, 1e-8, "quad_vec")
    return _integral(value, integrand, runs, allowed, (a, b)), *rest


def _halves(intervals: Any) -> Any:
    """The intervals on both sides of zero, as intervals from zero to one for both."""
    edges = np.unique(np.abs(np.ravel(intervals)))
    return np.stack([edges[:-1], edges[1:]], axis=1)


@solver(SCIPY.fixed_quad, is_whole=True)
def fixed_quad(runs: Any, result: Any, func: Any, a: Any, b: Any, args: Any, n: int) -> Any:
    """`scipy.integrate.fixed_quad`; the sum has derivatives by `a`, `b`, `args` and closures."""
    x, w = np.polynomial.legendre.leggauss(n)
    points = a + (b - a) * (x + 1) / 2

    def integrand(x: Any) -> Any:
        return func(x, *args)

    values = (integrand if result is None else by_ops(integrand, points))(points)
    found = (b - a) / 2 * ops.sum(w * values, axis=-1)
    if result is None:
        return found, None
    value, rest = result
    return attach(value if isinstance(value, Array) else np.asarray(value), found), rest
