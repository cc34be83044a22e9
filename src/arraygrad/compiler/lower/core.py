"""The core program: the few kinds of values that native code is made of.

============  =====================================================================================
Stored        an array in memory: an argument, a constant, or what a NumPy kernel has computed
Filled        an array with one value
Elements      a scalar function of values of the same shape
View          elements of another value: for each of its axes, which axis is read from where on
Padded        the inverse of a view: another value at some places, zero elsewhere
Alias         the elements of another value in the same order, in another shape
Reduction     lines of another value, combined to one element each; axes are kept
Part, Pair    the real or imaginary part of complex numbers, and these from both parts
Gather        elements of an array in memory, at places that integers say
Scatter       zeros, to which elements are added at places that integers say
Product       the matrix product of two values; the axes before the last two are a batch
Filtered      the sums of products of filters with the windows of another value
============  =====================================================================================

As in `program`, each value exists once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..llvm.vectors import Value, Writer
from ..trace.program import Node, Shape

# Where an axis of an array is read: a variable or axis (None: one place only), where it starts,
# and the step.
Place = tuple[int | None, int, int]
Map = tuple[Place, ...]
Condition = tuple[Place, int]  # a place, which must be from 0 on and below a number


@dataclass(frozen=True, eq=False)
class Scalar:
    """A function of numbers, as code.

    Attributes
    ----------
    name : str
        For people.
    emit : callable
        ``emit(writer, *values)`` writes its instructions.
    cost : int
        About how many cycles it takes for a vector; one for a sum.
    """

    name: str
    emit: Callable[..., Value]
    cost: int = 1


@dataclass(frozen=True, eq=False)
class Fold:
    """A way to combine the elements of a line: from `start`, by `emit`, or by NumPy's `ufunc`."""

    name: str
    emit: Callable[[Writer, Value, Value], Value]
    start: Any
    ufunc: Any


COPY = Scalar("copy", lambda w, x: x)
PAIR = Scalar("pair", lambda w, *parts: parts[0], 10)
GATHER = Scalar("gather", lambda w, *values: values[-1], 6)


class Core:
    """A value of the core program."""

    __slots__ = ("args", "dtype", "number", "shape")

    def __init__(self, shape: Shape, dtype: Any, args: tuple[Core, ...] = ()) -> None:
        self.shape = shape
        self.dtype = dtype
        self.args = args
        self.number = -1

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def what(self) -> str:
        """How the value comes about, for people."""
        return type(self).__name__.lower()

    def __repr__(self) -> str:
        given = ", ".join(f"%{a.number}" for a in self.args)
        return f"%{self.number} = {self.what()}({given}): {self.dtype}{list(self.shape)}"


class Stored(Core):
    """An array in memory."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        super().__init__(node.shape, node.dtype)
        self.node = node


class Filled(Core):
    """An array with one value, a NumPy scalar."""

    __slots__ = ("value",)

    def __init__(self, value: Any, shape: Shape) -> None:
        super().__init__(shape, value.dtype)
        self.value = value

    def what(self) -> str:
        return f"fill {self.value}"


class Elements(Core):
    """A scalar function of values of the same shape."""

    __slots__ = ("scalar",)

    def __init__(self, scalar: Scalar, args: tuple[Core, ...], dtype: Any) -> None:
        super().__init__(args[0].shape, dtype, args)
        self.scalar = scalar

    def what(self) -> str:
        return self.scalar.name


class View(Core):
    """Elements of another value."""

    __slots__ = ("map",)

    def __init__(self, source: Core, shape: Shape, map_: Map) -> None:
        super().__init__(shape, source.dtype, (source,))
        self.map = map_


class Padded(Core):
    """Another value at some places, and zero elsewhere.

    `map` says, for each axis of the result, which axis of the source is there, from where on, and
    the step, which is 1 or -1. An axis that the source does not have is at one place.
    """

    __slots__ = ("map",)

    def __init__(self, source: Core, shape: Shape, map_: Map) -> None:
        super().__init__(shape, source.dtype, (source,))
        self.map = map_

    def unpadded(self, places: Sequence[Place]) -> tuple[Map, tuple[Condition, ...]]:
        """Where the source is read, given where the result is; and where there is any source."""
        source = self.args[0]
        found: list[Place] = [(None, 0, 0)] * len(source.shape)
        conditions: list[Condition] = []
        for (variable, at, step), (axis, start, sign) in zip(places, self.map, strict=True):
            where: Place
            if axis is None:
                where, n = (variable, at - start, step), 1
            else:
                where, n = (variable, sign * (at - start), sign * step), source.shape[axis]
                found[axis] = where
            conditions.append((where, n))
        return tuple(found), tuple(conditions)


class Alias(Core):
    """The elements of a value in memory, in another shape."""

    __slots__ = ()

    def __init__(self, source: Core, shape: Shape) -> None:
        super().__init__(shape, source.dtype, (source,))


class Reduction(Core):
    """Lines of another value, combined."""

    __slots__ = ("axes", "fold")

    def __init__(self, fold: Fold, source: Core, axes: tuple[int, ...]) -> None:
        shape = tuple(1 if i in axes else n for i, n in enumerate(source.shape))
        super().__init__(shape, source.dtype, (source,))
        self.fold = fold
        self.axes = axes

    def what(self) -> str:
        return f"{self.fold.name} over {list(self.axes)}"


class Part(Alias):
    """The real (0) or imaginary (1) part of complex numbers in memory."""

    __slots__ = ("index",)

    def __init__(self, source: Core, index: int, dtype: Any) -> None:
        super().__init__(source, source.shape)
        self.dtype = dtype
        self.index = index


class Pair(Elements):
    """Complex numbers, made of real and imaginary parts. They are only ever read from memory."""

    __slots__ = ()


class Whole(Alias):
    """An array in memory of which a `Gather`, whose shape this has, reads some elements."""

    __slots__ = ()


# Where an axis of an array is that is read or written by index: as a map says, or the number of an
# index, each of which is an argument.
Indexed = tuple[Place | int, ...]


class Gather(Elements):
    """Elements of an array in memory: `places` says for each of its axes which.

    The integers must be from 0 on, and below the length of their axis.
    """

    __slots__ = ("places",)

    def __init__(self, source: Core, indices: tuple[Core, ...], places: Indexed) -> None:
        super().__init__(GATHER, (Whole(source, indices[0].shape), *indices), source.dtype)
        self.places = places

    @property
    def source(self) -> Core:
        """The array in memory."""
        return self.args[0].args[0]


class Scatter(Reduction):
    """Zeros, and elements that are added: `places` says for each axis of the result where."""

    __slots__ = ("places",)

    def __init__(
        self, fold: Fold, x: Core, indices: tuple[Core, ...], shape: Shape, places: Indexed
    ) -> None:
        super().__init__(fold, x, tuple(range(len(x.shape))))
        self.shape = shape
        self.args = (x, *indices)
        self.places = places

    def what(self) -> str:
        return "scatter"


class Product(Core):
    """The products of matrices, in the last two axes. The axes before are a batch, of one shape."""

    __slots__ = ()

    def __init__(self, a: Core, b: Core) -> None:
        super().__init__((*a.shape[:-1], b.shape[-1]), a.dtype, (a, b))

    @property
    def count(self) -> int:
        """How many products of numbers it takes."""
        return self.size * self.args[0].shape[-1]

    def what(self) -> str:
        return "product"


class Filtered(Product):
    """The sums of products of filters with windows, as `ops.filters` has them.

    The arguments are those of a matrix product. Its rows are the filters and its columns are the
    windows; or the reverse, if it is `turned`. Then the axes of the result are the groups, samples,
    windows and filters.
    """

    __slots__ = ("dilation", "stride", "turned", "windows")

    def __init__(
        self, x: Core, w: Core, windows: Shape, stride: Shape, dilation: Shape, turned: bool
    ) -> None:
        (samples, groups), filters = x.shape[:2], w.shape[1]
        rows, columns = (samples, *windows), (filters, *windows)
        shape = (groups, *rows, filters) if turned else (samples, groups, *columns)
        Core.__init__(self, shape, x.dtype, (x, w) if turned else (w, x))
        self.windows, self.stride, self.dilation, self.turned = windows, stride, dilation, turned

    @property
    def count(self) -> int:
        return self.size * math.prod(self.args[self.turned].shape[2:])

    def what(self) -> str:
        return "filters"


class Builder:
    """Makes values, each once, in a simple form."""

    def __init__(self) -> None:
        self._known: dict[Any, Core] = {}

    def _add(self, key: Any, make: Callable[[], Core]) -> Core:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = make()
            found.number = len(self._known)
        return found

    def stored(self, node: Node) -> Core:
        """An array that is computed, or given, elsewhere."""
        return self._add((Stored, node), lambda: Stored(node))

    def filled(self, value: Any, shape: Shape, dtype: Any) -> Core:
        """An array with one value."""
        scalar = np.dtype(dtype).type(value)
        key = (Filled, scalar.tobytes(), scalar.dtype, shape)
        return self._add(key, lambda: Filled(scalar, shape))

    def elements(self, scalar: Scalar, args: Sequence[Core], dtype: Any) -> Core:
        """A scalar function of values, which are broadcast."""
        shape = np.broadcast_shapes(*(a.shape for a in args))
        given = tuple(self.broadcast(a, shape) for a in args)
        key = (scalar, tuple(a.number for a in given), dtype)
        return self._add(key, lambda: Elements(scalar, given, dtype))

    def view(self, x: Core, shape: Shape, map_: Map) -> Core:
        """Elements of another value; a view of a view is a view of the first."""
        if isinstance(x, Filled):
            return self.filled(x.value, shape, x.dtype)
        if isinstance(x, View):
            return self.view(x.args[0], shape, through(map_, x.map))
        if shape == x.shape and map_ == everywhere(shape):
            return x
        key = (View, x.number, shape, map_)
        return self._add(key, lambda: View(x, shape, map_))

    def padded(self, x: Core, shape: Shape, map_: Map) -> Core:
        """A value at some places, zero elsewhere. Those that read it compute it again."""
        if not shape:
            return self.reshape(x, shape)
        made = self._add((Padded, x.number, shape, map_), lambda: Padded(x, shape, map_))
        return self.elements(COPY, [made], x.dtype)

    def broadcast(self, x: Core, shape: Shape) -> Core:
        """A value repeated along new axes, and along those of length one."""
        lead = len(shape) - len(x.shape)
        map_ = tuple((None, 0, 0) if n == 1 else (lead + i, 0, 1) for i, n in enumerate(x.shape))
        return x if x.shape == shape else self.view(x, shape, map_)

    def reshape(self, x: Core, shape: Shape) -> Core:
        """The elements in another shape."""
        if shape == x.shape:
            return x
        if isinstance(x, Filled):
            return self.filled(x.value, shape, x.dtype)
        if [n for n in shape if n != 1] == [n for n in x.shape if n != 1]:
            axes = iter([i for i, n in enumerate(shape) if n != 1])
            map_ = tuple((None, 0, 0) if n == 1 else (next(axes), 0, 1) for n in x.shape)
            return self.view(x, shape, map_)
        if isinstance(x, Part):
            return self.part(self.reshape(x.args[0], shape), x.index, x.dtype)
        if isinstance(x, Alias):
            return self.reshape(x.args[0], shape)
        if isinstance(x, View):  # its elements are in another order in memory
            x = self.elements(COPY, [x], x.dtype)
        return self._add((Alias, x.number, shape), lambda: Alias(x, shape))

    def reduction(self, fold: Fold, x: Core, axes: Iterable[int]) -> Core:
        """Lines combined along some axes, which are kept."""
        kept = tuple(sorted(a for a in axes if x.shape[a] != 1))
        if not kept:
            return x
        key = (Reduction, fold, x.number, kept)
        return self._add(key, lambda: Reduction(fold, x, kept))

    def part(self, x: Core, index: int, dtype: Any) -> Core:
        """The real or imaginary part of complex numbers in memory."""
        if isinstance(x, View):
            return self.view(self.part(x.args[0], index, dtype), x.shape, x.map)
        return self._add((Part, x.number, index), lambda: Part(x, index, dtype))

    def pair(self, parts: tuple[Core, Core], shape: Shape, dtype: Any) -> Core:
        """Complex numbers in memory, from their parts."""
        real, imaginary = (self.broadcast(part, shape) for part in parts)
        key = (Pair, real.number, imaginary.number)
        return self._add(key, lambda: Pair(PAIR, (real, imaginary), dtype))

    def gathered(self, x: Core, indices: Sequence[Core], places: Indexed) -> Core:
        """Elements of `x` at indices, all of which have the shape of the result."""
        if isinstance(x, Filled):
            return self.filled(x.value, indices[0].shape, x.dtype)
        if isinstance(x, View):
            x = self.elements(COPY, [x], x.dtype)
        given = tuple(indices)
        key = (Gather, x.number, tuple(i.number for i in given), places)
        return self._add(key, lambda: Gather(x, given, places))

    def scattered(
        self, fold: Fold, x: Core, indices: Sequence[Core], shape: Shape, places: Indexed
    ) -> Core:
        """Zeros with `x` added at indices, all of which have its shape."""
        given = tuple(indices)
        key = (Scatter, fold, x.number, tuple(i.number for i in given), shape, places)
        return self._add(key, lambda: Scatter(fold, x, given, shape, places))

    def product(self, a: Core, b: Core) -> Core:
        """The product of matrices that are in memory."""
        a, b = (self.elements(COPY, [x], x.dtype) if isinstance(x, Filled) else x for x in (a, b))
        return self._add((Product, a.number, b.number), lambda: Product(a, b))

    def filtered(
        self, x: Core, w: Core, windows: Shape, stride: Shape, dilation: Shape, turned: bool
    ) -> Core:
        """Filters that slide over a value; both are in memory."""
        key = (Filtered, x.number, w.number, stride, dilation, turned)
        return self._add(key, lambda: Filtered(x, w, windows, stride, dilation, turned))


def everywhere(shape: Shape) -> Map:
    """The map that reads each element at its own place."""
    return tuple((None, 0, 0) if n == 1 else (i, 0, 1) for i, n in enumerate(shape))


def through(places: Sequence[Place], map_: Map) -> Map:
    """Where the source of a view is read, given where the view is read."""
    found: list[Place] = []
    for axis, start, step in map_:
        if axis is None:
            found.append((None, start, 0))
            continue
        variable, at, stride = places[axis]
        if variable is None:
            found.append((None, start + step * at, 0))
        else:
            found.append((variable, start + step * at, step * stride))
    return tuple(found)


def strides(shape: Shape) -> list[int]:
    """The distances between neighbours along each axis of an array in C order, in elements."""
    found, step = [], 1
    for n in reversed(shape):
        found.append(step)
        step *= n
    return found[::-1]


def indexed(
    places: Sequence[Place], map_: Indexed, shape: Shape
) -> tuple[int, dict[int, int], list[tuple[int, int]]]:
    """The address of an element at indices: as `address`, and the step for each index."""
    fixed = tuple((None, 0, 0) if isinstance(p, int) else p for p in map_)
    start, steps = address(through(places, fixed), shape)
    along = [(p, s) for p, s in zip(map_, strides(shape), strict=True) if isinstance(p, int)]
    return start, steps, along


def address(places: Sequence[Place], shape: Shape) -> tuple[int, dict[int, int]]:
    """The address of an element: where it starts, and the step for each variable."""
    start, steps = 0, dict[int, int]()
    for (variable, at, step), stride in zip(places, strides(shape), strict=True):
        start += at * stride
        if variable is not None:
            steps[variable] = steps.get(variable, 0) + step * stride
    return start, {v: s for v, s in steps.items() if s}


def layout(x: Core) -> tuple[int, list[int]]:
    """Where a value starts in memory, and its strides, in elements."""
    if not isinstance(x, View):
        return 0, strides(x.shape)
    start, found = address(x.map, x.args[0].shape)
    return start, [found.get(axis, 0) for axis in range(len(x.shape))]


def is_whole(x: Core) -> bool:
    """Whether a value has all elements of its source, in the same order in memory."""
    if isinstance(x, Alias):
        return True
    if not isinstance(x, View) or x.size != x.args[0].size:
        return False
    start, steps = address(x.map, x.args[0].shape)
    wanted = {i: s for i, s in enumerate(strides(x.shape)) if x.shape[i] != 1}
    return start == 0 and steps == wanted


T = TypeVar("T")


def in_order(
    roots: Iterable[T], needs: Callable[[T], Iterable[T]], known: Iterable[int] = ()
) -> list[T]:
    """Some objects and all that they need, each after those that `needs` gives for it.

    Those whose identities are `known` are left out, with what only they need.
    """
    order: list[T] = []
    seen = set(known)
    rest = [(x, False) for x in roots]
    while rest:
        x, is_done = rest.pop()
        if is_done:
            order.append(x)
        elif id(x) not in seen:
            seen.add(id(x))
            rest.append((x, True))
            rest += [(a, False) for a in needs(x) if id(a) not in seen]
    return order
