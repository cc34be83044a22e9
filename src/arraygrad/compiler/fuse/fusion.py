"""Fusion: which values of the core program are computed together, in one loop nest.

A kernel has loop lengths, and a place for each value in it: which loop variable each axis of the
value runs with. The last variable runs innermost. A value joins a kernel if everything that it
reads is

1. in memory before the kernel runs; or
2. in the kernel, at exactly the place that is read. A reduction must go over just the last
   variable: then it is known after one pass over the line, and later passes can use it; or
3. cheap, so that it is computed again here, from values for which 1 to 3 hold.

What is read outside of its kernel is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..lower.core import (
    Alias,
    Core,
    Elements,
    Filled,
    Gather,
    Map,
    Padded,
    Product,
    Reduction,
    Scatter,
    Stored,
    View,
    address,
    everywhere,
    in_order,
    through,
)
from ..trace.program import Call, Node, Result, Shape

CHEAP = 5  # the cost up to which a value is computed again rather than stored
LONGEST_LINE = 32768  # of a whole array that is passed over several times by one kernel
LARGEST = 300  # values in a kernel
NEAR = 32_000  # bytes of an array, up to which its elements are read quickly in any order
SORTED = 4  # the longest step between elements that are read nearly as quickly as neighbours
RECENT = 16  # kernels that are tried for a value that reads none of their values


class Kernel:
    """Values that are computed in one loop nest.

    Attributes
    ----------
    dims : tuple of int
        The lengths of the loops, outermost first.
    values : list of Core
        What is computed, in order.
    places : dict of Core to Map
        The loop variable of each axis of each value.
    domains : dict of Reduction to Map
        The same for the values that reductions combine.
    has_lines : bool
        Whether some values belong to a whole line: the innermost loop must be one line.
    """

    def __init__(self, dims: Shape) -> None:
        self.dims = dims
        self.values: list[Core] = []
        self.places: dict[Core, Map] = {}
        self.domains: dict[Core, Map] = {}
        self.has_lines = False

    @property
    def last(self) -> int:
        """The innermost variable."""
        return len(self.dims) - 1

    def is_of_line(self, x: Core) -> bool:
        """Whether a reduction in the kernel is over just the innermost variable."""
        if x not in self.domains or isinstance(x, Scatter):
            return False
        domain = self.domains[x]
        over = {domain[axis][0] for axis in x.axes}  # type: ignore[attr-defined]
        used = {variable for variable, _, _ in domain if variable is not None}
        if over != {self.last} or len(used) != len(self.dims):
            return False
        return len(self.dims) > 1 or math.prod(self.dims) <= LONGEST_LINE


Step = Kernel | Node | Product


class Plan:
    """The steps that compute some outputs.

    Parameters
    ----------
    given, outputs : sequence of Core
    lowered : callable
        The value of each node of the program.

    Attributes
    ----------
    steps : list of Kernel, Product and Node
        Kernels, matrix products, and nodes that NumPy computes.
    stored : set of Core
        The values of kernels that have a place in memory.
    reasons : dict of int to list of (int, str)
        For each kernel, the kernels that it reads from, and why it is not a part of these.
    """

    def __init__(
        self, given: Sequence[Core], outputs: Sequence[Core], lowered: Callable[[Node], Core]
    ) -> None:
        self._given = set(given)
        self._lowered = lowered
        self.steps: list[Step] = []
        self.reasons: dict[int, list[tuple[int, str]]] = {}
        self.stored: set[Core] = set()
        self._step: dict[Core, int] = {}
        self._costs: dict[Core, int] = {}
        order = in_order(outputs, lambda x: (*x.args, *self._read_in_memory(x)))
        for x in outputs:
            self._store(x)
        for x in order:
            for read in self._read_in_memory(x):
                self._store(read)
        for x in order:
            self._costs[x] = self._cost(x)
            if isinstance(x, Stored):
                self._step[x] = -1
                if self._is_computed(x):
                    self._step[x] = len(self.steps)
                    self.steps.append(x.node)
            elif isinstance(x, Product):
                self._step[x] = len(self.steps)
                self.steps.append(x)
                self.stored.add(x)
            elif isinstance(x, Elements | Reduction) and not self._is_cheap(x):
                self._place(x)

    # --- order and memory ---

    def _read_in_memory(self, x: Core) -> list[Core]:
        """What must be in memory for a value: what a NumPy kernel, product or alias is made of."""
        if isinstance(x, Stored) and self._is_computed(x):
            return [self._lowered(a) for a in x.node.nodes]
        return list(x.args) if isinstance(x, Alias | Product) else []

    def _is_computed(self, x: Stored) -> bool:
        """Whether a step computes an array in memory; else it is given, or a constant."""
        return isinstance(x.node, Call | Result) and x not in self._given

    def _store(self, x: Core) -> None:
        """Give a value a place in memory; a view and an alias have the place of their source."""
        base = base_of(x)
        if isinstance(base, Elements | Reduction | Product):
            self.stored.add(base)

    def _cost(self, x: Core) -> int:
        """About what it costs to compute a value from what is in memory."""
        if isinstance(x, Filled):
            return 0
        if isinstance(x, View):
            return self._costs[x.args[0]]
        if isinstance(x, Padded):
            return 1 + self._costs[x.args[0]]
        if isinstance(x, Elements):
            return x.scalar.cost + sum(self._costs[a] for a in x.args)
        return 1

    def _is_cheap(self, x: Core) -> bool:
        is_made = isinstance(x, Elements) and not isinstance(x, Gather)
        return is_made and self._costs[x] <= CHEAP and x not in self.stored

    # --- joining ---

    def _place(self, x: Core) -> None:
        domain = x.args[0] if isinstance(x, Reduction) else x
        direct = self._direct(x)
        near = {self._step[d] for d, _ in direct if isinstance(self.steps[self._step[d]], Kernel)}
        far = range(len(self.steps) - 1, max(-1, len(self.steps) - 1 - RECENT), -1)
        for index in [*sorted(near, reverse=True), *(i for i in far if i not in near)]:
            kernel = self.steps[index]
            if not isinstance(kernel, Kernel) or len(kernel.values) >= LARGEST:
                continue
            place = self._place_in(kernel, index, domain.shape, direct)
            if place is not None and self._can_join(x, place, kernel, index):
                self._join(x, place, kernel, index)
                return
        self.reasons[len(self.steps)] = [
            (index, self._why_not(x, index, direct)) for index in sorted(near, reverse=True)
        ]
        kernel = Kernel(tuple(n for n in domain.shape if n != 1))
        self.steps.append(kernel)
        self._join(x, _default(domain.shape), kernel, len(self.steps) - 1)

    def _why_not(self, x: Core, index: int, direct: list[tuple[Core, Map]]) -> str:
        """Why a value does not join a kernel of which it reads a value, for people."""
        kernel = self.steps[index]
        assert isinstance(kernel, Kernel)
        what, shape = x.what(), (x.args[0] if isinstance(x, Reduction) else x).shape
        if len(kernel.values) >= LARGEST:
            return f"a kernel has at most {LARGEST} values"
        for read, places in direct:
            if self._step[read] != index:
                continue
            if isinstance(read, Reduction) and not kernel.is_of_line(read):
                return f"{what} needs the result of {read.what()}, known only after the whole loop"
            if any(start or (axis is not None and step != 1) for axis, start, step in places):
                return f"{what} reads the result of {read.what()} at other places than its own"
        place = self._place_in(kernel, index, shape, direct)
        if place is not None and self._is_slower(x, place, kernel):
            return f"{what} reads large arrays faster in another order"
        if place is None:
            lengths = " × ".join(map(str, kernel.dims)) or "1"
            wanted = " × ".join(map(str, shape)) or "1"
            return f"the loops of {what}, over {wanted} elements, are not those over {lengths}"
        return f"something that {what} reads comes from a later step, or from other places"

    def _direct(self, x: Core) -> list[tuple[Core, Map]]:
        """The placed values that a value reads, and how: a map to the axes of its domain."""
        shape = (x.args[0] if isinstance(x, Reduction) else x).shape
        found = []
        rest = [(a, everywhere(shape)) for a in x.args]
        while rest:
            a, places = rest.pop()
            if isinstance(a, View):
                rest.append((a.args[0], through(places, a.map)))
            elif isinstance(a, Padded):
                rest.append((a.args[0], a.unpadded(places)[0]))
            elif self._is_cheap(a):
                rest += [(b, places) for b in a.args]
            elif self._step.get(a, -1) >= 0:
                found.append((a, places))
        return found

    def _place_in(
        self, kernel: Kernel, index: int, shape: Shape, direct: list[tuple[Core, Map]]
    ) -> Map | None:
        """The place that an array of some shape must have in a kernel; None if there is none."""
        here = [(d, m) for d, m in direct if self._step[d] == index]
        if not here:
            return _default(shape) if kernel.dims == tuple(n for n in shape if n != 1) else None
        found: list[int | None] = [None] * len(shape)
        for (axis, start, step), (variable, _, _) in zip(
            here[0][1], kernel.places[here[0][0]], strict=True
        ):
            if axis is None and variable is None:
                continue
            if axis is None or variable is None or start or step != 1:
                return None
            if shape[axis] != kernel.dims[variable]:
                return None  # a part from the start has no offset, either
            found[axis] = variable
        open_axes = [i for i, n in enumerate(shape) if n != 1 and found[i] is None]
        free = [v for v in range(len(kernel.dims)) if v not in found]
        if open_axes:
            if [shape[i] for i in open_axes] != [kernel.dims[v] for v in free]:
                return None
            for i, variable in zip(open_axes, free, strict=True):
                found[i] = variable
        elif not set(free) <= {kernel.last}:
            return None  # it would be computed once for each step of an outer loop
        return tuple((None, 0, 0) if v is None else (v, 0, 1) for v in found)

    def _can_join(self, x: Core, place: Map, kernel: Kernel, index: int) -> bool:
        variables = [v for v, _, _ in place if v is not None]
        if len(set(variables)) != len(variables):
            return False
        if not all(self._is_there(a, place, kernel, index) for a in x.args):
            return False
        return not self._is_slower(x, place, kernel)

    def _is_slower(self, x: Core, place: Map, kernel: Kernel) -> bool:
        """Whether a value reads more arrays with long steps here than in a kernel of its own."""
        alone = _default((x.args[0] if isinstance(x, Reduction) else x).shape)
        if place == alone:
            return False
        last = max((v for v, _, _ in alone if v is not None), default=0)
        return self._jumps(x, place, kernel.last) > self._jumps(x, alone, last)

    def _jumps(self, x: Core, place: Map, last: int) -> int:
        """How many large arrays are read with long steps along the last variable."""
        found = 0
        rest = [(a, place) for a in x.args]
        while rest:
            a, at = rest.pop()
            if isinstance(a, View):
                rest.append((a.args[0], through(at, a.map)))
            elif isinstance(a, Padded):
                rest.append((a.args[0], a.unpadded(at)[0]))
            elif self._is_cheap(a):
                rest += [(b, at) for b in a.args]
            elif not isinstance(a, Filled) and a.size * a.dtype.itemsize > NEAR:
                found += abs(address(at, a.shape)[1].get(last, 0)) > SORTED
        return found

    def _is_there(self, x: Core, place: Map, kernel: Kernel, index: int) -> bool:
        """Whether a value can be had at a place of a kernel."""
        if isinstance(x, Filled):
            return True
        if isinstance(x, View):
            return self._is_there(x.args[0], through(place, x.map), kernel, index)
        if isinstance(x, Padded):
            return self._is_there(x.args[0], x.unpadded(place)[0], kernel, index)
        if self._is_cheap(x):
            return all(self._is_there(a, place, kernel, index) for a in x.args)
        step = self._step[base_of(x)]
        if isinstance(x, Alias) or step != index:
            return step < index
        if kernel.places.get(x) != place:
            return False
        return not isinstance(x, Reduction) or kernel.is_of_line(x)

    def _join(self, x: Core, place: Map, kernel: Kernel, index: int) -> None:
        self._step[x] = index
        kernel.values.append(x)
        if isinstance(x, Reduction):
            kernel.domains[x] = place
            place = tuple((None, 0, 0) if i in x.axes else p for i, p in enumerate(place))
            if isinstance(x, Scatter):  # no place in the loops
                place = ((None, 0, 0),) * len(x.shape)
        kernel.places[x] = place
        used = {v for v, _, _ in kernel.domains.get(x, place) if v is not None}
        if len(used) < len(kernel.dims):
            kernel.has_lines = True
        for a in x.args:
            self._note(a, kernel.domains.get(x, place), kernel, index)

    def _note(self, x: Core, place: Map, kernel: Kernel, index: int) -> None:
        """Store what a value of a kernel reads from another step."""
        if isinstance(x, View):
            self._note(x.args[0], through(place, x.map), kernel, index)
        elif isinstance(x, Padded):
            self._note(x.args[0], x.unpadded(place)[0], kernel, index)
        elif self._is_cheap(x):
            for a in x.args:
                self._note(a, place, kernel, index)
        elif isinstance(x, Elements | Reduction):
            if self._step[x] != index:
                self.stored.add(x)
            elif isinstance(x, Reduction):
                kernel.has_lines = True


def base_of(x: Core) -> Core:
    """The value whose memory a view or an alias has."""
    while isinstance(x, View | Alias):
        x = x.args[0]
    return x


def _default(shape: Shape) -> Map:
    """The place of an array in a kernel of its own."""
    variables = iter(range(len(shape)))
    return tuple((None, 0, 0) if n == 1 else (next(variables), 0, 1) for n in shape)
