"""From the values of a kernel to instructions over loop variables."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ..llvm.vectors import TYPES
from ..lower.core import (
    COPY,
    Alias,
    Condition,
    Core,
    Elements,
    Filled,
    Fold,
    Gather,
    Map,
    Padded,
    Pair,
    Part,
    Place,
    Reduction,
    Scalar,
    Scatter,
    Stored,
    View,
    address,
    indexed,
    through,
)
from ..lower.scalars import JOINED
from .fusion import Kernel, base_of
from .instructions import Address, Inside, Instruction, KernelBody, Store, Total
from .short_lines import is_short, write_out

SHARED = 8  # how many elements must be added to each of a result that every chunk has a part of
BLOCK = 4096  # elements of a long line that one step of the loop around it passes over


def body_of(kernel: Kernel, stored: set[Core], is_open: bool = False) -> KernelBody:
    """The body of a kernel. `stored` are the values that have a place in memory.

    The outermost loop of an open kernel has any length: it stays the outermost one.
    """
    maker = _Maker(kernel, stored)
    has_lines = kernel.has_lines
    for x in kernel.values:
        in_lines = kernel.is_of_line(x) and (kernel.has_lines or len(kernel.dims) > 1)
        if isinstance(x, Reduction) and not in_lines:
            maker.total(x)
        elif isinstance(x, Pair):
            at = _address(x, kernel.places[x])
            for index, part in enumerate(x.args):
                value = maker.value(part, kernel.places[x])
                maker.body.stores.append(Store(value, _side_by_side(at, index)))
        else:
            has_lines = has_lines or isinstance(x, Reduction)
            value = maker.value(x, kernel.places[x])
            if x in stored:
                maker.body.stores.append(Store(value, _address(x, kernel.places[x])))
    body = maker.body
    _merge(body, keep_inner=has_lines)
    while not is_open and is_short(body):
        write_out(body)
        has_lines = False
        _merge(body, keep_inner=False)
    if not has_lines:
        if not body.dims:
            body.dims = [1]
        if len(body.dims) == 1 and body.dims[0] > BLOCK:
            _cut(body)
    inner = body.inner
    for i in body.instructions:  # arguments come first
        i.stage = max((a.stage for a in i.args), default=0) + isinstance(i.does, Fold)
        if not isinstance(i.does, Fold):
            is_along = isinstance(i.does, Address | Inside) and inner in i.does.steps
            i.varies = is_along or any(a.varies for a in i.args)
    return body


class _Maker:
    """Turns the values of a kernel into instructions, each of which is made once."""

    def __init__(self, kernel: Kernel, stored: set[Core]) -> None:
        self.kernel = kernel
        self.stored = stored
        self.body = KernelBody(list(kernel.dims))
        self._known: dict[Any, Instruction] = {}

    def value(self, x: Core, place: Map, within: Conditions = ()) -> Instruction:
        """The value of `x` where the loop variables say; needed only where conditions hold."""
        if isinstance(x, View):
            return self.value(x.args[0], through(place, x.map), within)
        if self.kernel.places.get(x) == place:
            within = ()
        return self._once((x, place, within), lambda: self._made(x, place, within))

    def _once(self, key: Any, make: Callable[[], Instruction]) -> Instruction:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = make()
            self.body.instructions.append(found)
        return found

    def _made(self, x: Core, place: Map, within: Conditions) -> Instruction:
        kind = TYPES[x.dtype]
        if isinstance(x, Filled):
            return Instruction(kind, (), x.value)
        is_here = self.kernel.places.get(x) == place
        if isinstance(x, Stored | Alias) or (x in self.stored and not is_here):
            guards = tuple(self._one(*condition) for condition in within)
            at = _address(x, place)
            return Instruction(
                kind, guards, _side_by_side(at, x.index) if isinstance(x, Part) else at
            )
        if isinstance(x, Gather):
            start, steps, along = indexed(place, x.places, x.source.shape)
            indices = tuple(self.value(x.args[1 + i], place, within) for i, _ in along)
            guards = tuple(self._one(*condition) for condition in within)
            at = Address(base_of(x.source), start, steps, tuple(s for _, s in along))
            return Instruction(kind, (*indices, *guards), at)
        pieces = self._pieces(x) if isinstance(x, Elements) and x.scalar is JOINED else None
        # Within another join there is nothing, that is zeros, beside the pieces.
        if pieces and sum(piece.args[0].size for piece in pieces) == x.size:
            return self._side_by_side(pieces, place, within)
        if isinstance(x, Elements):
            args = tuple(self.value(a, place, within) for a in x.args)
            return Instruction(kind, args, x.scalar)
        if isinstance(x, Padded):
            inside, every = x.unpadded(place)
            conditions = self._open(every)
            value = self.value(x.args[0], inside, (*within, *conditions))
            if not conditions:
                return Instruction(kind, (value,), COPY)
            zero = self._once((x.dtype, 0), lambda: Instruction(kind, (), x.dtype.type(0)))
            return Instruction(kind, (self._all(conditions), value, zero), _CHOOSE)
        assert isinstance(x, Reduction)
        assert is_here
        line = self.value(x.args[0], self.kernel.domains[x])
        return Instruction(kind, (line,), x.fold)

    # --- arrays side by side ---

    def _pieces(self, x: Core) -> list[Padded] | None:
        """The arrays that are side by side in a value, with zeros around; None if not known."""
        found: list[Padded] = []
        for a in x.args:
            assert isinstance(a, Elements)
            if a in self.stored:
                return None
            more = self._pieces(a) if a.scalar is JOINED else a.args
            if not more or not all(isinstance(piece, Padded) for piece in more):
                return None
            found += more  # type: ignore[arg-type]
        return found

    def _side_by_side(self, pieces: list[Padded], place: Map, within: Conditions) -> Instruction:
        """One of several arrays: where none of the others is, there is the last."""
        *others, last = pieces
        inside, every = last.unpadded(place)
        conditions = self._open(every)
        source = last.args[0]
        if len(others) == 1 and not within:
            (other,) = others
            first, first_conditions = other.unpadded(place)
            known = self._open(first_conditions)
            of_line = all(variable not in (None, self.kernel.last) for (variable, _, _), _ in known)
            x, y = _source(other.args[0], first), _source(source, inside)
            if known and of_line and x[0] is y[0]:
                return self._either(x[0], (x[1], known), (y[1], conditions))
        found = self.value(source, inside, (*within, *conditions))
        for piece in reversed(others):
            inside, every = piece.unpadded(place)
            conditions = self._open(every)
            value = self.value(piece.args[0], inside, (*within, *conditions))
            if not conditions:
                return self._copy(value)
            found = Instruction(value.kind, (self._all(conditions), value, found), _CHOOSE)
            self.body.instructions.append(found)
        return self._copy(found)

    def _copy(self, x: Instruction) -> Instruction:
        return Instruction(x.kind, (x,), COPY)

    def _open(self, conditions: Conditions) -> Conditions:
        """Those conditions that do not always hold."""
        return tuple(c for c in conditions if not self._always_holds(c))

    def _either(self, x: Core, first: _Where, second: _Where) -> Instruction:
        """A value at one of two places, by a condition that is the same for a whole line.

        Where nothing but the start of an address differs, memory is read once.
        """
        (place, conditions), (other, others) = first, second
        kind = TYPES[x.dtype]
        if place == other or isinstance(x, Filled):
            return self._copy(self.value(x, place))
        is_here = x in self.kernel.places and x not in self.stored
        if isinstance(x, Elements) and not is_here and x not in self.stored:
            args = []
            for a in x.args:
                (source, at), (_, far) = _source(a, place), _source(a, other)
                args.append(self._once_either(source, (at, conditions), (far, others)))
            return Instruction(kind, tuple(args), x.scalar)
        if isinstance(x, Stored | Alias) or (x in self.stored and x not in self.kernel.places):
            here, there = _address(x, place), _address(x, other)
            last = self.kernel.last
            if here.steps.get(last) == there.steps.get(last):
                here.other = there
                return Instruction(kind, (self._all(conditions),), here)
        yes, no = self.value(x, place, conditions), self.value(x, other, others)
        return Instruction(kind, (self._all(conditions), yes, no), _CHOOSE)

    def _once_either(self, x: Core, first: _Where, second: _Where) -> Instruction:
        return self._once((x, first, second), lambda: self._either(x, first, second))

    def _always_holds(self, condition: Condition) -> bool:
        """Whether a condition holds for all values of its loop variable."""
        (variable, start, step), length = condition
        last = start if variable is None else start + step * (self.kernel.dims[variable] - 1)
        return min(start, last) >= 0 and max(start, last) < length

    def _one(self, place: Place, length: int) -> Instruction:
        """Whether a condition holds."""
        return self._once((place, length), lambda: _inside(place, length))

    def _all(self, conditions: Conditions) -> Instruction:
        """Whether all conditions hold."""
        found: Instruction | None = None
        for condition in conditions:
            one = self._one(*condition)
            if found is None:
                found = one
            else:
                both = functools.partial(Instruction, "i1", (found, one), _AND)
                found = self._once((id(found), id(one)), both)
        assert found is not None
        return found

    def total(self, x: Reduction) -> None:
        """Collect a reduction that no other value of the kernel reads."""
        domain = self.kernel.domains[x]
        value = self.value(x.args[0], domain)
        over = {domain[a][0] for a in x.axes if domain[a][0] is not None}
        has_inner = any(variable == self.kernel.last for variable, _, _ in domain)
        if isinstance(x, Scatter):
            start, steps, along = indexed(domain, x.places, x.shape)
            indices = tuple(self.value(x.args[1 + i], domain) for i, _ in along)
            place = Address(x, start, steps, tuple(s for _, s in along))
            if x.size * SHARED > math.prod(self.kernel.dims):
                over = set()  # the chunks cannot have parts of their own
            total = Total(value, place, x.fold, over, has_inner, indices)  # type: ignore[arg-type]
            self.body.totals.append(total)
            return
        at = _address(x, self.kernel.places[x])
        self.body.totals.append(Total(value, at, x.fold, over, has_inner))  # type: ignore[arg-type]


Conditions = tuple[Condition, ...]
_Where = tuple[Map, Conditions]
_AND = Scalar("and", lambda w, x, y: w.logic("and", x, y))
_CHOOSE = Scalar("pad", lambda w, condition, x, y: w.choose(condition, x, y))


def _inside(place: Place, length: int) -> Instruction:
    variable, start, step = place
    steps = {} if variable is None or not step else {variable: step}
    return Instruction("i1", (), Inside(start, steps, length))


def _source(x: Core, place: Map) -> tuple[Core, Map]:
    """What a view reads, and where."""
    while isinstance(x, View):
        place = through(place, x.map)
        x = x.args[0]
    return x, place


def _address(x: Core, place: Map) -> Address:
    start, steps = address(place, x.shape)
    return Address(base_of(x), start, steps)


def _side_by_side(at: Address, index: int) -> Address:
    """The place of a part of a complex number, counted in parts."""
    steps = {variable: 2 * step for variable, step in at.steps.items()}
    return Address(at.memory, 2 * at.start + index, steps)


def _merge(body: KernelBody, keep_inner: bool) -> None:
    """Make one loop of two neighbours wherever all addresses allow it."""
    first = len(body.dims) - 2 - keep_inner
    for v in range(first, -1, -1):
        w = v + 1
        n = body.dims[w]
        fits = all(a.steps.get(v, 0) == a.steps.get(w, 0) * n for a in body.addresses)
        if not fits or any((v in t.over) != (w in t.over) for t in body.totals):
            continue
        body.dims[v : w + 1] = [body.dims[v] * n]
        for a in body.addresses:
            step = a.steps.get(w)
            kept = {u: s for u, s in a.steps.items() if u not in (v, w)}
            if step is not None:
                kept[v] = step
            a.steps = _renamed(kept, w)
        for t in body.totals:
            t.over = {u - (u > w) for u in t.over if u != w}


def _renamed(steps: dict[int, int], gone: int) -> dict[int, int]:
    return {v - (v > gone): s for v, s in steps.items()}


def _cut(body: KernelBody) -> None:
    """Cut the only loop into blocks: for threads, and for the accuracy of long sums."""
    body.limit = body.dims[0]
    body.dims = [-(-body.dims[0] // BLOCK), BLOCK]
    for a in body.addresses:
        step = a.steps.get(0)
        if step is not None:
            a.steps = {0: step * BLOCK, 1: step}
    for t in body.totals:
        t.over = {0, 1} if t.over else t.over
