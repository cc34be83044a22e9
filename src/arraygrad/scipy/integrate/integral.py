"""An integral as an op: its derivatives are integrals of derivatives of the integrand.

SciPy computes the integral itself. A derivative, of any order, is computed when it is asked for, on
points at which its own integrand is resolved (see `resolving`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import ops
from ...arrays.batched import batched_type
from ...arrays.dual import dual_type
from ...core.array import AnyFunction
from ...core.levels import new_level
from ...func import jvp, vmap
from ...func.reverse import Tape
from ...ops.define import Own
from ...ops.define.library import declare
from ...ops.elementwise import is_complex
from ...ops.padding import repeated
from ..field import jump
from ..formula import Formula, capture
from ..linear import of_places, places_of
from ..values import Runs
from .resolving import FAR, Range, Sum, Tolerance, jumps, on_edges, resolved, stacked


class Integrand(NamedTuple):
    """A function of x and of some arrays, for one member of a batch; and where it is integrated."""

    function: AnyFunction
    ranges: list[Range]  # for each member
    allowed: Tolerance
    is_of_numbers: bool  # whether the function takes many points at once, with arrays of this size
    may_jump: bool
    before: Integrand | None = None  # of which it is a derivative
    own: slice = slice(0)  # which arrays are those of the one before
    along: slice = slice(0)  # in which arrays it is linear

    def derivative(self, function: AnyFunction, own: slice, along: slice) -> Integrand:
        """A derivative, as a function of more arrays."""
        is_of_numbers = self.is_of_numbers and self.before is None
        return Integrand(function, self.ranges, self.allowed, is_of_numbers, True, self, own, along)

    def mapped(self, axes: Sequence[int | None]) -> Integrand:
        """For arrays with one more axis in front, where `axes` has zero."""
        if all(axis is None for axis in axes):
            return self
        return self._replace(
            function=vmap(self.function, in_axes=(None, *axes)),
            is_of_numbers=False,
            before=self.before and self.before.mapped(axes[self.own]),
        )

    def at(self, points: Any, arrays: Sequence[Any]) -> Any:
        """The values at points of the shape (members, points), along one axis.

        The arrays are plain, with an axis for the members in front.
        """
        size, count = points.shape
        x = points.reshape(-1)
        if self.is_of_numbers:
            each = [a if size == x.size else np.repeat(a, count) for a in arrays]
            return self.function(x, *each)
        if size == 1:
            return vmap(lambda x: self.function(x, *(a[0] for a in arrays)))(x)
        return vmap(self.function)(x, *(np.repeat(a, count, axis=0) for a in arrays))

    def size(self, arrays: Sequence[Any]) -> float:
        """How large the arrays are in which the function is linear."""
        if self.before is None:
            return 1.0
        largest = max(float(np.max(np.abs(a), initial=0.0)) for a in arrays[self.along])
        return largest * self.before.size(arrays[self.own])

    def integrated(self, ranges: list[Range], arrays: Sequence[Any]) -> Any:
        """The integrals for some members."""

        def make(nodes: Any, is_twice: bool) -> _Terms:
            return _Terms(self, arrays, nodes, is_twice)

        found = on_edges(make, ranges, [r.first() for r in ranges])
        allowed = self.allowed._replace(epsabs=self.allowed.epsabs * self.size(arrays))
        if len(ranges) > 1 and not found.estimate.excess(allowed.epsrel) <= 1:
            return np.concatenate(
                [self.integrated([r], [a[i : i + 1] for a in arrays]) for i, r in enumerate(ranges)]
            )
        found = resolved(make, found, ranges, allowed)
        if self.before is not None and self.before.may_jump:
            for i, nodes in enumerate(found.nodes):
                self.before.check(nodes, [a[i : i + 1] for a in arrays[self.own]])
        return found.total

    def check(self, nodes: Any, arrays: Sequence[Any]) -> None:
        """Raise if the function jumps at a place that depends on the arrays of one member."""
        x = nodes.x[:, : nodes.x.shape[1] - nodes.checks].reshape(-1)
        with new_level() as level:
            make = batched_type(level)
            each = [make(np.repeat(a, len(x), axis=0)) for a in arrays]
            choices = capture(self.function, make(x), *each).choices
        masks = [m._array for of, m in choices if of & 1 and of & ~1 and isinstance(m, make)]
        place = jump(x, np.asarray(self.at(x[None], arrays)), masks) if masks else None
        if place is not None:
            raise jumps(self.allowed.name, place)


class _Terms(Sum):
    """A derivative of an integrand on points."""

    def __init__(self, integrand: Integrand, arrays: Any, nodes: Any, is_twice: bool) -> None:
        super().__init__(nodes, is_twice)
        x, self._w, _ = stacked(nodes)
        with np.errstate(all="ignore"):
            found = np.asarray(integrand.at(x.reshape(len(x), -1), arrays))
        self._shape = found.shape[1:]
        terms = found.reshape(*x.shape, -1)
        if not np.isfinite(terms).all():  # far away, a product of zero and infinity is zero
            terms = np.where(np.isfinite(terms) | (np.abs(x) < FAR)[..., None], terms, 0.0)
        self.terms = [terms]

    def vanishing(self) -> Any:
        """Nowhere: these are no functions of which a further derivative is taken."""
        return np.False_

    @property
    def total(self) -> Any:
        """The weighted sum, for each member."""
        kept = self._w.shape[2] - self.nodes[0].checks
        total = np.einsum("mip,mipc->mc", self._w[..., :kept], self.terms[0][:, :, :kept])
        return total.reshape(len(total), *self._shape)


def integral(value: Any, formula: Formula, runs: Runs, allowed: Tolerance) -> Any:
    """SciPy's integral of a formula of x and of the arrays outside, with its derivatives."""
    if not formula.outside:
        return value
    of = Integrand(formula, runs.reports, allowed, formula.is_of_numbers, bool(formula.choices))
    member = runs.join([np.asarray(i) for i in range(len(runs.reports))])
    return _integral(value, member, *formula.outside, of=of)


# --- the ops --------------------------------------------------------------------------------------


def _reverse(
    g: Any, wanted: Sequence[bool], member: Any, arrays: Sequence[Any], of: Integrand
) -> list[Any]:
    result: list[Any] = [None] * (len(arrays) + 1)
    places = places_of(arrays, wanted)
    is_of_numbers = of.is_of_numbers and of.before is None

    def pulled(x: Any, g: Any, *arrays: Any) -> Any:
        of_moving = of_places(lambda *a: of.function(x, *a), arrays, places)
        if (
            is_of_numbers
            and len(places) == 1
            and not (is_complex(g) or is_complex(arrays[places[0]]))
        ):
            return _along(of_moving, arrays[places[0]], g)
        tape = Tape(of_moving, tuple(arrays[i] for i in places), "arrays")
        out = tape.result
        parts = tape.pull([out], [ops.reshape(ops.astype(g, out.dtype, copy=False), out.shape)])
        if is_of_numbers:
            return ops.stack(parts, axis=-1)
        return ops.concat([ops.reshape(p, (-1,)) for p in parts])

    derived = of.derivative(pulled, slice(1, None), slice(1))
    found = _derivative(member, g, *arrays, of=derived)
    before = 0
    for i in places:
        array = arrays[i]
        count = int(np.prod(array.shape[member.ndim :]))
        part = found if len(places) == 1 else found[..., before : before + count]
        part = ops.reshape(part, array.shape)
        result[i + 1] = part if part.dtype == array.dtype else ops.astype(part, array.dtype)
        before += count
    return result


def _along(function: AnyFunction, x: Any, t: Any) -> Any:
    """The tangent of a function of numbers, with one more axis; it is the cotangent, too."""
    with new_level() as level:
        make = dual_type(level)
        out = function(make(x, t))
    return ops.expand_dims(out.tangent if isinstance(out, make) else 0 * t, axis=-1)


def _reverse_of_value(
    g: Any, wanted: Sequence[bool], member: Any, arrays: Sequence[Any], of: Integrand
) -> list[Any]:
    return [None, *_reverse(g, wanted[1:], member, arrays, of)]


def _forward(t_arrays: Any, member: Any, arrays: Sequence[Any], of: Integrand) -> Any:
    places = [i for i, t in enumerate(t_arrays) if t is not None]
    count = len(arrays)

    def pushed(x: Any, *given: Any) -> Any:
        arrays, tangents = given[:count], given[count:]
        of_moving = of_places(lambda *a: of.function(x, *a), arrays, places)
        return jvp(of_moving, tuple(arrays[i] for i in places), tangents)[1]

    derived = of.derivative(pushed, slice(count), slice(count, None))
    return _derivative(member, *arrays, *(t_arrays[i] for i in places), of=derived)


def _batch(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
    """One more axis in front: of members, or of the values of the function."""
    start = 2 if op is _integral else 1
    member, is_member = arrays[start - 1], flags[start - 1]
    if is_member or (op is _integral and flags[0]):
        return op.function(*repeated(arrays, flags), **params)
    ndim = member.ndim
    axes = [0 if batched else None for batched in flags[start:]]
    moved = [
        ops.moveaxis(a, 0, ndim) if batched and ndim else a
        for a, batched in zip(arrays[start:], flags[start:], strict=True)
    ]
    out = op.function(*arrays[:start], *moved, of=params["of"].mapped(axes))
    return ops.moveaxis(out, ndim, 0) if ndim else out


def _compute(xp: Any, member: Any, *arrays: Any, of: Integrand) -> Any:
    shape, members = member.shape, np.reshape(member, (-1,))
    own = [np.reshape(a, (len(members), *np.shape(a)[len(shape) :])) for a in arrays]
    found = of.integrated([of.ranges[int(i)] for i in members], own)
    return np.reshape(found, (*shape, *found.shape[1:]))


_integral = declare(
    "integral",
    "value",
    "member",
    "*arrays",
    compute=lambda xp, value, member, *arrays, of: value,
    joint=_reverse_of_value,
    jvp=_forward,
    holomorphic=False,
    own=Own(batch=_batch),
)
_derivative = declare(
    "integral_derivative",
    "member",
    "*arrays",
    compute=_compute,
    joint=_reverse,
    jvp=_forward,
    holomorphic=False,
    own=Own(batch=_batch),
)
