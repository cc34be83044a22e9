"""Integrals of functions: `quad` and its relatives.

SciPy computes the integral. Its derivatives are those of a weighted sum over points (see `rules`),
and of the ends of the range. The points are those of SciPy's last subdivision, if the derivatives
of the integrand, along a direction of each array, are resolved there as well as SciPy's
integral has to be. Otherwise the subdivision goes on. If this does not help either, an error says
so.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, NamedTuple

import numpy as np

from ... import ops
from ...core.array import AnyFunction, Array, plain
from ...errors import NotASolutionError, SingularError
from ...func import jvp
from ..field import Field
from ..formula import as_array, by_ops, carries, const
from ..linear import is_floating
from ..names import scipy_module
from ..solving import solver
from ..values import Runs, attach
from .rules import WAVES, Nodes, errors, half_periods, near_ends, on_intervals, on_waves
from .weights import principal_value, with_powers

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
        place = _Range(ends, _subdivision(infos), breaks, frequency)
    else:
        place = _Range((0.0, 1.0), None, np.asarray([]))
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

    if weight is None or weight in ("cos", "sin"):
        integrand = function if weight is None else wave
        total = _resolved(integrand, runs, epsabs, epsrel, "quad")
        if runs.reports[0].frequency is not None:
            _check_waves(total, value)
        total = total + _ends(integrand, a, b)
    elif weight == "cauchy":
        of_part = principal_value(function, as_array(a), as_array(b), as_array(wvar))
        total = _resolved(of_part, runs, epsabs, epsrel, "quad")
    else:
        of_part = with_powers(function, as_array(a), as_array(b), weight, wvar)
        total = _resolved(of_part, runs, epsabs, epsrel, "quad")
    return attach(value if isinstance(value, Array) else np.asarray(value), total), *rest


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
    parts = [info[key][: info["last"]] for info in infos for key in ("alist", "blist")]
    edges = np.unique(np.concatenate(parts))
    return np.stack([edges[:-1], edges[1:]], axis=1)


class _Range(NamedTuple):
    """Where one member of a batch is integrated."""

    ends: tuple[float, float]
    edges: Any  # the intervals of the last subdivision
    breaks: Any  # points given by the user
    frequency: float | None = None  # of waves to infinity

    def nodes(self, edges: Any) -> Nodes:
        """The points on a subdivision."""
        if self.frequency is not None:
            return on_waves(self.ends, self.frequency, edges)
        return on_intervals(self.ends, edges)

    def first(self) -> Any:
        """The first subdivision."""
        if self.frequency is not None:
            return half_periods(self.frequency)
        if self.edges is None or not len(self.edges):
            return np.sort([self.ends])
        return self.edges


_MOST = 5000  # points: with more, intervals are not divided any more
_PARTS = 8  # into which an interval is divided
_FAR = 1e12  # where an integrand that is zero stays zero


def _resolved(integrand: AnyFunction, runs: Runs, epsabs: float, epsrel: float, name: str) -> Any:
    """The integral as a sum over points at which its derivatives are resolved."""
    with np.errstate(all="ignore"):
        found = _refined(integrand, runs, epsabs, epsrel, name)
    place = found.jump()
    if place is not None:
        raise SingularError(
            f"{name}: the integrand jumps near x = {place:.6g}, at a place that depends on a "
            "parameter, so that its derivative misses what the jump adds to the integral's: split "
            "the range at the jump, as the ends of a range have derivatives"
        )
    return found.total


def _refined(integrand: AnyFunction, runs: Runs, epsabs: float, epsrel: float, name: str) -> _Sum:
    ranges: list[_Range] = runs.reports
    edges = [p.first() for p in ranges]

    def on_edges() -> _Sum:
        pairs = zip(ranges, edges, strict=True)
        twice = all(map(np.isinf, ranges[0].ends))
        return _Sum(integrand, runs, [p.nodes(e) for p, e in pairs], twice)

    found = on_edges()
    # The estimates are those of the rougher rule. SciPy extrapolates; a sum does not.
    epsabs, epsrel = min(epsabs, 1.49e-8), min(10 * max(epsrel, 1e-12), 1e-6)
    if found.excess(epsrel) <= 1:
        return found
    if ranges[0].frequency is None:
        nodes = [near_ends(p.ends, p.breaks) for p in ranges]
        ends = _Sum(integrand, runs, nodes)
        if ends.excess(epsrel) <= 1:
            far = ends.vanishing()
            return _Sum(integrand, runs, list(map(_without, nodes, far))) if far.any() else ends
    while found.excess(epsrel) > 1 and found.count < _MOST:
        bad = found.unresolved(epsrel)
        edges = [_divided(e, is_bad) for e, is_bad in zip(edges, bad, strict=True)]
        found = on_edges()
    if found.excess(epsrel, epsabs) <= 1:
        return found
    raise NotASolutionError(
        f"{name}: the integral cannot be differentiated accurately: at {found.count} points, the "
        f"derivative of the integrand has an error of {found.error:.1e}. Name singular points by "
        "points=, or split the range there"
    )


def _divided(edges: Any, is_bad: Any) -> Any:
    """A subdivision with some of its intervals divided further."""
    places = np.linspace(0.0, 1.0, _PARTS + 1)
    low, high = edges[is_bad, :1], edges[is_bad, 1:]
    cuts = low * (1 - places) + high * places
    parts = np.stack([cuts[:, :-1], cuts[:, 1:]], axis=-1)
    return np.concatenate([edges[~is_bad], np.reshape(parts, (-1, 2))])


class _Sum:
    """The weighted sum of an integrand over points, and how well it resolves the integral.

    The points differ between members of a batch.
    """

    def __init__(
        self, integrand: AnyFunction, runs: Runs, nodes: list[Nodes], twice: bool = False
    ) -> None:
        self._twice = twice  # each interval stands for two, on both sides of zero
        most = max(len(n.x) for n in nodes)
        self._counts = [len(n.x) for n in nodes]
        columns = list(zip(*nodes, strict=True))[:3]
        if len(nodes) > 1:
            columns = [tuple(_filled(p, most, i > 0) for p in c) for i, c in enumerate(columns)]
        x, w, others = columns
        self.count = x[0].size
        self._points = points = runs.join([np.ravel(part) for part in x])
        self._field = field = Field(integrand, points)
        kept = np.s_[:, : x[0].shape[1] - nodes[0].checks]  # the points that have weights
        weights = runs.join([np.ravel(part[kept]) for part in w])
        places = np.ravel(np.arange(self.count).reshape(x[0].shape)[kept])
        values = field.map(None, (points,), field.outside, places)
        self._places, self._values = places, const(values)
        shape = (len(places), *[1] * (values.ndim - 1))
        # At a singular end, a point may round to the end itself, with a weight of almost nothing.
        values = ops.where(ops.isfinite(const(values)), values, 0.0)
        self.total = ops.sum(values * ops.reshape(weights, shape), axis=0)
        self._x, stacked = np.stack(x), (np.stack(w), np.stack(others))
        self._terms = [_members(t, self._x.shape) for t in _slopes(field, points)]
        self._errors = [errors(*stacked, t) for t in self._terms]

    def excess(self, epsrel: float, epsabs: float = 0.0) -> float:
        """The largest error as a part of what is allowed."""
        parts = [e.sum(-2) / self._allowed(s, epsrel, epsabs) for e, s in self._errors]
        return max((float(np.max(part, initial=0.0)) for part in parts), default=0.0)

    def vanishing(self) -> Any:
        """Where points of `near_ends` are far away, and the integrand and its slopes are zero.

        There, powers of x in further derivatives may be infinite, and NaN if multiplied by zero.
        """
        parts = [_members(self._values, self._x.shape), *self._terms]
        return np.all([(t == 0).all(-1) for t in parts], axis=0) & (np.abs(self._x) > _FAR)

    def jump(self) -> float | None:
        """Where the integrand jumps, at a place that depends on a parameter."""
        if isinstance(self._points, Array) or isinstance(self._values, Array):
            return None
        return self._field.jump(self._points[self._places], self._values, True, self._places)

    @property
    def error(self) -> float:
        """The largest error of a derivative."""
        return max(float(np.max(e.sum(-2), initial=0.0)) for e, _ in self._errors)

    def _allowed(self, sizes: Any, epsrel: float, epsabs: float = 0.0) -> Any:
        largest = np.max(np.sum(sizes, axis=-2), axis=-1, initial=0.0)[:, None]
        return np.maximum(np.maximum(epsrel * largest, epsabs), 1e-300)

    def unresolved(self, epsrel: float) -> list[Any]:
        """For each member, a mask of the intervals with too large a share of the error."""
        share: Any = 0.0
        for error, sizes in self._errors:
            part = error / self._allowed(sizes, epsrel)[:, None]
            share = np.maximum(share, np.max(part, axis=-1, initial=0.0))
        pairs = zip(share, self._counts, strict=True)
        bad = [s[:n] > 0.1 * min(1.0, np.max(s)) for s, n in pairs]
        return [m[: len(m) // 2] | m[len(m) // 2 :] for m in bad] if self._twice else bad


def _without(nodes: Nodes, far: Any) -> Nodes:
    """A rule without some of its points: another point takes their places, with no weight."""
    others = nodes.x[~far]
    x = np.where(far, others[len(others) // 2], nodes.x) if len(others) else nodes.x
    weights = np.where(far, 0.0, nodes.w), np.where(far[..., None], 0.0, nodes.others)
    return Nodes(x, *weights, nodes.checks)


def _filled(part: Any, count: int, with_zeros: bool) -> Any:
    """Rows added to an array, so that all members have as many."""
    more = np.repeat(part[-1:], count - len(part), axis=0)
    return np.concatenate([part, 0 * more if with_zeros else more])


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
    """Zero, with the derivatives of the integral by its ends.

    It is the integral from the value of an end to the end itself, by Gauss's rule, which has the
    right derivatives up to twice the number of its points.
    """
    total: Any = 0.0
    x, w = _gauss(_ORDER // 2)
    for end, sign in ((b, 0.5), (a, -0.5)):
        if carries(end):
            at = const(end)
            if np.any(np.isinf(np.asarray(plain(at)))):
                continue
            points = at + (end - at) * (x + 1) / 2
            values = Field(integrand, const(points))((points,))
            weights = np.reshape(w, (-1, *[1] * (values.ndim - 1)))
            total = total + sign * (end - at) * ops.sum(weights * values, axis=0)
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


def _quad_vec(given: dict[str, Any]) -> Any:
    """SciPy's integrals of plain values, and where they were computed."""
    a, b = given["a"], given["b"]
    found = SCIPY.quad_vec(**given | {"full_output": True})
    is_line = np.isinf(a) and np.isinf(b)
    edges = _halves(found[2].intervals) if is_line else found[2].intervals
    breaks = np.asarray([] if given.get("points") is None else given["points"], float)
    place = _Range((float(a), float(b)), edges, breaks)
    return found if given.get("full_output") else found[:2], place


@solver(SCIPY.quad_vec, _quad_vec)
def quad_vec(runs: Any, result: Any, f: Any, a: Any, b: Any, args: Any) -> Any:
    """`scipy.integrate.quad_vec`; the integrals have derivatives by ends, `args` and closures."""
    value, *rest = result
    extra = args if isinstance(args, tuple) else (args,)

    def integrand(x: Any) -> Any:
        return as_array(f(x, *extra))

    total = _resolved(integrand, runs, 1e-200, 1e-8, "quad_vec")
    return attach(value, total + _ends(integrand, a, b)), *rest


def _halves(intervals: Any) -> Any:
    """The intervals on both sides of zero, as intervals from zero to one for both."""
    edges = np.unique(np.abs(np.ravel(intervals)))
    return np.stack([edges[:-1], edges[1:]], axis=1)


@solver(SCIPY.fixed_quad)
def fixed_quad(runs: Any, result: Any, func: Any, a: Any, b: Any, args: Any, n: int) -> Any:
    """`scipy.integrate.fixed_quad`; the sum has derivatives by `a`, `b`, `args` and closures."""
    value, rest = result
    x, w = np.polynomial.legendre.leggauss(n)
    points = a + (b - a) * (x + 1) / 2
    values = by_ops(lambda x: func(x, *args), points)(points)
    value = value if isinstance(value, Array) else np.asarray(value)
    return attach(value, (b - a) / 2 * ops.sum(w * values, axis=-1)), rest
