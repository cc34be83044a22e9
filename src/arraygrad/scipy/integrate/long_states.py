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


def march_by_steps(
    formula: Any, k: Any, times: Any, y0: Any, outside: Sequence[Any], b: Any, adjoint: bool
) -> Any:
    """Solve J w = b, or Jᵀ w = b, for the Jacobian of a trajectory by its stages."""
    h = np.diff(times)
    points = tuple(np.asarray(x) for x in formula.points(k, times, y0))
    tableau = formula.tableau
    entries = _Entries.of(formula, points, outside)
    step: Callable[..., Any]
    if entries is not None:
        by_entries = _sparse_step if tableau.is_explicit else _sparse_implicit_step
        step = functools.partial(by_entries, tableau, entries)
    elif not tableau.is_explicit:
        slopes = functools.partial(formula.slopes, k, times, y0, outside)
        step = functools.partial(_implicit_step, OneStep(tableau, adjoint), _Dense(slopes, k))
    else:
        starts = np.asarray(formula.starts(k, times, y0))
        step = functools.partial(_differentiated_step, formula, points[0], outside, starts)
    w = np.empty_like(k)
    total = np.zeros_like(y0)
    for i in reversed(range(len(h))) if adjoint else range(len(h)):
        w[i], total = step(i, h[i], b[i], total, adjoint)
    return w


def _differentiated_step(
    formula: Any,
    times: Any,
    outside: Any,
    starts: Any,
    i: int,
    h: float,
    b: Any,
    total: Any,
    adjoint: bool,
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


def _implicit_step(
    solver: OneStep, dense: _Dense, i: int, h: float, b: Any, total: Any, adjoint: bool
) -> tuple[Any, Any]:
    slopes, weights = dense.at(i), solver.weights
    if adjoint:
        w = solver.solve(slopes, h, b + h * weights[:, None] * total)
        return w, total + solver.product(slopes, w).sum(0)
    w = solver.solve(slopes, h, b + slopes @ total)
    return w, total + h * (weights @ w)


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
        self._starts = (
            pattern.indptr[:-1],
            np.concatenate(
                [[0], np.cumsum(np.bincount(pattern.indices, minlength=pattern.shape[1]))[:-1]]
            ),
        )
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

    def product(self, entries: Any, w: Any, adjoint: bool) -> Any:
        """The Jacobian with these entries, or its transpose, times a vector."""
        if adjoint:
            order = self._by_column
            return np.add.reduceat(entries[order] * w[self._rows[order]], self._starts[1])
        return np.add.reduceat(entries * w[self.pattern.indices], self._starts[0])


def _sparse_step(
    tableau: Any, entries: _Entries, i: int, h: float, b: Any, total: Any, adjoint: bool
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


def _sparse_implicit_step(
    tableau: Any, entries: _Entries, i: int, h: float, b: Any, total: Any, adjoint: bool
) -> tuple[Any, Any]:
    sparse = scipy_module("scipy.sparse")
    count, n = b.shape
    pattern = entries.pattern
    slopes = [
        sparse.csr_array((data, pattern.indices, pattern.indptr), shape=(n, n))
        for data in entries.at(i)
    ]
    blocks = [[-h * a * slope for a in row] for row, slope in zip(tableau.a, slopes, strict=True)]
    matrix = sparse.block_array(blocks, format="csc") + sparse.eye_array(count * n, format="csc")
    factors = scipy_module("scipy.sparse.linalg").splu(matrix.tocsc())
    if adjoint:
        right = b + h * tableau.b[:, None] * total
        w = factors.solve(right.ravel(), trans="T").reshape(b.shape)
        return w, total + sum(slope.T @ part for slope, part in zip(slopes, w, strict=True))
    right = b + np.stack([slope @ total for slope in slopes])
    w = factors.solve(right.ravel()).reshape(b.shape)
    return w, total + h * (tableau.b @ w)
