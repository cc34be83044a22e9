"""Where an integrand is resolved: points at which a weighted sum of its terms is the integral.

The first points are those of SciPy's last subdivision. If an estimate of the error is too large
there, the points are those of the double exponential rule, or the subdivision goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...errors import NotASolutionError, SingularError
from .rules import Nodes, errors, half_periods, near_ends, on_intervals, on_waves

_MOST = 5000  # points: with more, intervals are not divided any more
_PARTS = 8  # into which an interval is divided
FAR = 1e12  # where an integrand that is zero stays zero


class Range(NamedTuple):
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


class Tolerance(NamedTuple):
    """How well an integral has to be resolved, and by which function of SciPy's."""

    epsabs: float
    epsrel: float
    name: str


def tolerance(epsabs: float, epsrel: float, name: str) -> Tolerance:
    """The tolerance for derivatives of an integral, from SciPy's for the integral itself."""
    # The estimates are those of the rougher rule. SciPy extrapolates; a sum does not.
    return Tolerance(min(epsabs, 1.49e-8), min(10 * max(epsrel, 1e-12), 1e-6), name)


class Estimate:
    """How well weighted sums of terms resolve integrals.

    Parameters
    ----------
    nodes : list of Nodes
        For each member of a batch; `filled` gives them one shape.
    terms : list of plain arrays
        Of the shape (members, intervals, points, components).
    is_twice : bool
        Whether each interval stands for two, on both sides of zero.
    """

    def __init__(self, nodes: list[Nodes], terms: list[Any], is_twice: bool = False) -> None:
        self._counts = [len(n.x) for n in nodes]
        self._is_twice = is_twice
        _, w, others = stacked(nodes)
        self._errors = [errors(w, others, t) for t in terms]

    def excess(self, epsrel: float, epsabs: float = 0.0) -> float:
        """The largest error as a part of what is allowed."""
        parts = [e.sum(-2) / self._allowed(s, epsrel, epsabs) for e, s in self._errors]
        return max((float(np.max(part, initial=0.0)) for part in parts), default=0.0)

    @property
    def error(self) -> float:
        """The largest error of a sum."""
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
        return [m[: len(m) // 2] | m[len(m) // 2 :] for m in bad] if self._is_twice else bad


class Sum:
    """Terms on points. A subclass computes its `terms` for the `Estimate`."""

    terms: list[Any]

    def __init__(self, nodes: list[Nodes], is_twice: bool = False) -> None:
        self.nodes, self._is_twice = nodes, is_twice
        self.count = max(n.x.size for n in nodes)

    @property
    def estimate(self) -> Estimate:
        """How well the terms are resolved."""
        return Estimate(self.nodes, self.terms, self._is_twice)

    def vanishing(self) -> Any:
        """Where points of `near_ends` are far away, and all terms are zero.

        There, powers of x in further derivatives may be infinite, and NaN if multiplied by zero.
        """
        x = stacked(self.nodes)[0]
        return np.all([(t == 0).all(-1) for t in self.terms], axis=0) & (np.abs(x) > FAR)


def resolved(
    make: Callable[[list[Nodes], bool], Sum], first: Sum, ranges: list[Range], allowed: Tolerance
) -> Any:
    """The first `Sum` whose terms are resolved, on points of one subdivision after another."""
    epsabs, epsrel, name = allowed
    found, estimate = first, first.estimate
    if estimate.excess(epsrel) <= 1:
        return found
    if ranges[0].frequency is None:
        nodes = [near_ends(p.ends, p.breaks) for p in ranges]
        ends = make(nodes, False)
        if ends.estimate.excess(epsrel) <= 1:
            far = ends.vanishing()
            return make(list(map(_without, nodes, far)), False) if far.any() else ends
    edges = [p.first() for p in ranges]
    while estimate.excess(epsrel) > 1 and found.count < _MOST:
        bad = estimate.unresolved(epsrel)
        edges = [_divided(e, is_bad) for e, is_bad in zip(edges, bad, strict=True)]
        found = on_edges(make, ranges, edges)
        estimate = found.estimate
    if estimate.excess(epsrel, epsabs) <= 1:
        return found
    raise NotASolutionError(
        f"{name}: the integral cannot be differentiated accurately: at {found.count} points, the "
        f"derivative of the integrand has an error of {estimate.error:.1e}. Name singular points "
        "by points=, or split the range there"
    )


def on_edges(make: Callable[[list[Nodes], bool], Sum], ranges: list[Range], edges: Any) -> Any:
    """The `Sum` on a subdivision for each member."""
    nodes = [p.nodes(e) for p, e in zip(ranges, edges, strict=True)]
    return make(nodes, all(map(np.isinf, ranges[0].ends)))


def jumps(name: str, place: float) -> SingularError:
    """The error for an integrand that jumps at a place that depends on a parameter."""
    return SingularError(
        f"{name}: the integrand, or a derivative of it, jumps near x = {place:.6g}, at a place "
        "that depends on a parameter, so that the next derivative misses what the jump adds to the "
        "integral's: split the range at the jump, as the ends of a range have derivatives"
    )


def stacked(nodes: list[Nodes]) -> tuple[Any, Any, Any]:
    """Points, weights and the weights of other rules, with an axis for the members in front."""
    if len(nodes) == 1:
        return nodes[0].x[None], nodes[0].w[None], nodes[0].others[None]
    most = max(len(n.x) for n in nodes)
    columns = list(zip(*nodes, strict=True))[:3]
    x, w, others = (np.stack([_filled(p, most, i > 0) for p in c]) for i, c in enumerate(columns))
    return x, w, others


def _filled(part: Any, count: int, with_zeros: bool) -> Any:
    """Rows added to an array, so that all members have as many."""
    more = np.repeat(part[-1:], count - len(part), axis=0)
    return np.concatenate([part, 0 * more if with_zeros else more])


def _divided(edges: Any, is_bad: Any) -> Any:
    """A subdivision with some of its intervals divided further."""
    places = np.linspace(0.0, 1.0, _PARTS + 1)
    low, high = edges[is_bad, :1], edges[is_bad, 1:]
    cuts = low * (1 - places) + high * places
    parts = np.stack([cuts[:, :-1], cuts[:, 1:]], axis=-1)
    return np.concatenate([edges[~is_bad], np.reshape(parts, (-1, 2))])


def _without(nodes: Nodes, far: Any) -> Nodes:
    """A rule without some of its points: another point takes their places, with no weight."""
    others = nodes.x[~far]
    x = np.where(far, others[len(others) // 2], nodes.x) if len(others) else nodes.x
    weights = np.where(far, 0.0, nodes.w), np.where(far[..., None], 0.0, nodes.others)
    return Nodes(x, *weights, nodes.checks)
