"""The march through time for long states: without dense Jacobians of all stages.

Where the Jacobian of the right-hand side is sparse, as for a partial differential equation, its
entries are computed for many stages at once. Otherwise each step of an explicit method is
differentiated by itself, and an implicit method takes the Jacobians of one step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import ops
from ...func import jvp, vjp, vmap
from ..names import scipy_module
from .stages import OneStep
from .tableaus import moved

_CHUNK = 2**22  # how many numbers are computed at once
_NARROW = 6  # how far apart unknowns may be in equations that are solved as a band


def march_by_steps(
    formula: Any, k: Any, times: Any, y0: Any, outside: Sequence[Any], b: Any, adjoint: bool
) -> Any:
    """Solve J w = b, or Jᵀ w = b, for the Jacobian of a trajectory by its stages."""
    h = np.diff(times)
    points = tuple(np.asarray(x) for x in formula.points(k, times, y0))
    tableau = formula.tableau
    entries = _Entries.of(formula, points, outside)
    step: Callable[..., Any]
    if not tableau.is_explicit:
        dense = functools.partial(formula.slopes, k, times, y0, outside)
        step = OneStep(tableau, entries or _Dense(dense, k), adjoint)
    elif entries is not None:
        step = functools.partial(_sparse_step, tableau, entries, adjoint)
    else:
        starts = np.asarray(formula.starts(k, times, y0))
        step = functools.partial(_differentiated_step, formula, points[0], outside, starts, adjoint)
    w = np.empty_like(k)
    total = np.zeros_like(y0)
    for i in reversed(range(len(h))) if adjoint else range(len(h)):
        w[i], total = step(i, h[i], b[i], total)
    return w


def _differentiated_step(
    formula: Any,
    times: Any,
    outside: Any,
    starts: Any,
    adjoint: bool,
    i: int,
    h: float,
    b: Any,
    total: Any,
) -> tuple[Any, Any]:
    """A step as a function of its first state, and of a change of each of its stages."""
    tableau, count = formula.tableau, len(formula.tableau.b)

    def run(y: Any, change: Any) -> tuple[Any, Any]:
        stages: list[Any] = []
        for s in range(count):
            place = i * count + s
            own, more = formula.field.at(place, outside)
            state = moved(y, h, tableau.a[s], stages)
            stages.append(own(times[place], state, *more) + change[s])
        return moved(y, h, tableau.b, stages), ops.stack(stages)

    given = starts[i], np.zeros_like(b)
    if adjoint:
        before, w = vjp(run, *given)[1]((total, b))
        return w, before
    _, (after, w) = jvp(run, given, (total, b))
    return w, after


class _Dense:
    """The Jacobians of f at all stages, for some steps at a time."""

    is_narrow = False

    def __init__(self, slopes: Callable[[range], Any], k: Any) -> None:
        self._slopes, self._count = slopes, len(k)
        self._at_once = max(1, _CHUNK // (k.shape[1] * k.shape[2] ** 2))
        self._known: tuple[int, Any] = -1, None

    def at(self, i: int) -> Any:
        """Those of step i, of the shape (stages, n, n)."""
        chunk, within = divmod(i, self._at_once)
        if chunk != self._known[0]:
            first = chunk * self._at_once
            steps = range(first, min(first + self._at_once, self._count))
            self._known = chunk, self._slopes(steps)
        return self._known[1][within]

    def product(self, slopes: Any, x: Any, adjoint: bool) -> Any:
        if adjoint:
            return np.matmul(x[:, None, :], slopes)[:, 0]
        return np.matmul(slopes, x[..., None])[..., 0]

    def factors(self, slope: Any, scale: complex, adjoint: bool) -> Callable[[Any], Any]:
        lapack = scipy_module("scipy.linalg.lapack")
        matrix = np.eye(len(slope)) - scale * (slope.T if adjoint else slope)
        kind = "z" if np.iscomplexobj(matrix) else "d"
        lu, pivots, _ = getattr(lapack, f"{kind}getrf")(matrix)
        solve = getattr(lapack, f"{kind}getrs")
        return lambda right: solve(lu, pivots, right)[0]

    def at_once(self, slopes: Any, a: Any, right: Any, adjoint: bool) -> Any:
        blocks = np.einsum("sj,sab->sajb", a, slopes).reshape(right.size, right.size)
        matrix = np.eye(right.size) - (blocks.T if adjoint else blocks)
        return np.linalg.solve(matrix, right.ravel()).reshape(right.shape)


# --- sparse Jacobians -----------------------------------------------------------------------------


class _Entries:
    """The entries of the Jacobian of f at all stages, for some steps at a time.

    Products with a Jacobian, and with its transpose, are sums over the entries of each row, and of
    each column.
    """

    @classmethod
    def of(cls, formula: Any, points: Any, outside: Any) -> _Entries | None:
        """None if the Jacobian is not sparse."""
        n = points[1].shape[-1]
        pattern, colors = formula.field.pattern(points, outside)
        if 8 * (colors.max(initial=0) + 1) > n:
            return None
        return cls(formula, points, outside, pattern, colors)

    def __init__(self, formula: Any, points: Any, outside: Any, pattern: Any, colors: Any) -> None:
        self._formula, self._points, self._outside = formula, points, outside
        self.pattern = pattern
        self._rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
        self._by_column = np.lexsort((self._rows, pattern.indices))
        ends = np.cumsum(np.bincount(pattern.indices, minlength=pattern.shape[1]))
        columns = np.append(0, ends).astype(pattern.indptr.dtype)
        self._starts = pattern.indptr[:-1], columns[:-1]
        self._columns = self._rows[self._by_column].astype(columns.dtype), columns
        self._is_diagonal = 1.0 * (self._rows == pattern.indices)
        self._colors = colors
        count = len(formula.tableau.b)
        products = colors.max(initial=0) + 1
        self._seeds = (colors == np.arange(products)[:, None]).astype(points[1].dtype)
        self._steps = max(1, _CHUNK // (count * products * pattern.shape[0]))
        self._count = count
        self._known: tuple[int, Any] = -1, None

    def at(self, i: int) -> Any:
        """The entries at the stages of step i, of the shape (stages, entries)."""
        chunk, within = divmod(i, self._steps)
        if chunk != self._known[0]:
            self._known = chunk, self._computed(chunk)
        return self._known[1][within]

    def _computed(self, chunk: int) -> Any:
        count = self._count
        first = chunk * self._steps * count
        places = np.arange(first, min(first + self._steps * count, len(self._points[0])))

        def products(own: Any) -> Any:
            def at_point(t: Any, y: Any, *more: Any) -> Any:
                def along(direction: Any) -> Any:
                    return jvp(lambda y: own(t, y, *more), (y,), (direction,))[1]

                return vmap(along)(self._seeds)

            return at_point

        found = np.asarray(self._formula.field.map(products, self._points, self._outside, places))
        entries = found[:, self._colors[self.pattern.indices], self._rows]
        return entries.reshape(-1, count, entries.shape[-1])

    def product(self, slopes: Any, x: Any, adjoint: bool) -> Any:
        """The Jacobians with these entries, or their transposes, times vectors."""
        if adjoint:
            terms = (slopes * x[..., self._rows])[..., self._by_column]
            return np.add.reduceat(terms, self._starts[1], axis=-1)
        return np.add.reduceat(slopes * x[..., self.pattern.indices], self._starts[0], axis=-1)

    def _matrix(self, data: Any) -> Any:
        sparse, pattern = scipy_module("scipy.sparse"), self.pattern
        return sparse.csc_array((data[self._by_column], *self._columns), shape=pattern.shape)

    def factors(self, slope: Any, scale: complex, adjoint: bool) -> Callable[[Any], Any]:
        own = self._matrix(self._is_diagonal - scale * slope)
        solve = scipy_module("scipy.sparse.linalg").splu(own).solve
        return functools.partial(solve, trans="T" if adjoint else "N")

    @functools.cached_property
    def _order(self) -> tuple[Any, int]:
        """A place for each unknown, and how far apart unknowns are that depend on each other."""
        graph = scipy_module("scipy.sparse.csgraph")
        order = np.empty(self.pattern.shape[0], int)
        order[graph.reverse_cuthill_mckee(self.pattern)] = np.arange(len(order))
        return order, int(np.max(np.abs(order[self._rows] - order[self.pattern.indices])))

    @property
    def is_narrow(self) -> bool:
        """Whether the equations of a step have a narrow band."""
        return self._order[1] <= _NARROW

    @functools.cached_property
    def _band(self) -> tuple[int, Any, Any]:
        """The width of the band, where its entries are, and where those of a vector are.

        The stages of an unknown are next to each other.
        """
        (order, width), stages = self._order, np.arange(self._count)
        width = (width + 1) * self._count - 1
        rows, columns = (order[x] * self._count for x in (self._rows, self.pattern.indices))
        rows, columns = rows + stages[:, None, None], columns + stages[None, :, None]
        return width, (2 * width + rows - columns, columns), order * self._count + stages[:, None]

    def at_once(self, slopes: Any, a: Any, right: Any, adjoint: bool) -> Any:
        lapack = scipy_module("scipy.linalg.lapack")
        width, entries, places = self._band
        band = np.zeros((3 * width + 1, right.size))
        band[entries] = -a[..., None] * slopes[:, None]
        band[2 * width] += 1
        factors, pivots, _ = lapack.dgbtrf(band, width, width, overwrite_ab=True)
        given = np.empty(right.size)
        given[places] = right
        return lapack.dgbtrs(factors, width, width, given, pivots, trans=adjoint)[0][places]


def _sparse_step(
    tableau: Any, entries: _Entries, adjoint: bool, i: int, h: float, b: Any, total: Any
) -> tuple[Any, Any]:
    """A step of an explicit method."""
    slopes = entries.at(i)
    w = np.empty_like(b)
    count = len(b)
    if adjoint:
        pulled = np.zeros_like(b)
        for s in reversed(range(count)):
            later = tableau.a[s + 1 :, s] @ pulled[s + 1 :]
            w[s] = b[s] + h * (tableau.b[s] * total + later)
            pulled[s] = entries.product(slopes[s], w[s], True)
        return w, total + pulled.sum(0)
    for s in range(count):
        state = total + h * (tableau.a[s, :s] @ w[:s])
        w[s] = b[s] + entries.product(slopes[s], state, False)
    return w, total + h * (tableau.b @ w)
