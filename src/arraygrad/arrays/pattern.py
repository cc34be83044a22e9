"""The pattern array: carries, for every element, the set of input elements it depends on.

This is what `func.sparsity` runs a function on. The sets say which derivatives *can* be other than
zero, so each rule below may give too large a set, but never one that is too small. They are about
the function, not about the point: `x ** 2` depends on `x` also where `x` is zero, and `where` on
both of its choices. What is constant is part of the function: a zero in a matrix that `x` is
multiplied by cuts the dependence.

There is a rule for each kind of op, none for a single op. The kind follows from the declaration:

=======================================  =======================================================
no rule for the input, or one that is    no dependence
zero, as for steps
``batch="elementwise"``                  the union over the operands, element by element
rules that keep neither input nor        linear: the forward rule is run on the numbers of the
output, and move elements                elements, and so says where each one goes; or the
                                         reverse rule is, for sums and for adding by index
``batch="matmul"``                       a product of patterns
``batch="axis"`` and taking by indices   the union along the axis; running ones, of all before
that depend on the input
anything else                            each element of the result depends on everything
=======================================  =======================================================

A result without any dependence, such as a comparison's, is a pattern array all the same: an index
that depends on the input is so told from one that is fixed.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..backends import backend_of
from ..core.array import Array, plain
from ..ops.define.op import Op
from ..ops.define.rules import parameters
from ..ops.elementwise import is_complex
from .methods import ArrayMethods
from .numbers import check_not_stored


class Dependence(NamedTuple):
    """For each element of an array, a set of input elements.

    Many elements may share a set; moving elements about leaves the sets as they are.

    Attributes
    ----------
    which : ndarray
        The number of the set of each element, in the shape of the array.
    sets : csr_array
        The sets, one to a row, as booleans over the input elements. Row 0 is the empty set.
    """

    which: Any
    sets: Any

    def rows(self) -> Any:
        """The sets of all elements, one to a row."""
        return self.sets[self.which.reshape(-1)]


class Pattern(ArrayMethods, Array):
    """An array, and which input elements each of its elements depends on."""

    __slots__ = ("_array", "dependence")
    level: ClassVar[float] = 0

    def __init__(self, array: Any, dependence: Dependence) -> None:
        self._array = array
        self.dependence = dependence

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        values = tuple(a._array if type(a) is cls else a for a in arrays)
        given = [a.dependence if type(a) is cls else None for a in arrays]
        out = op.function(*values, **params)
        outs = out if op.multiple else (out,)
        shapes = [tuple(np.shape(o)) for o in outs]
        found = _Application(op, values, given, params, shapes).dependences()
        results = tuple(map(cls, outs, found))
        return results if op.multiple else results[0]

    @classmethod
    def on_everything(cls, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        """Results of a function that nothing is known of: each depends on all of the inputs."""
        given = [i.dependence for i in inputs if type(i) is cls]
        return [cls(o, _on_all(given, tuple(np.shape(o)))) for o in outputs]

    def over(self, function: Callable[[Any], Any]) -> Pattern:
        return type(self)(function(self._array), self.dependence)

    def detach(self) -> Pattern:
        """The same values, without dependence on anything."""
        return type(self)(self._array, _none(self.dependence, self.shape))

    # The value is known, so control flow may depend on it; the pattern is then that of the
    # branch which was taken. There is no __index__: an index is better followed as an array.

    def __bool__(self) -> bool:
        return bool(self._array)

    def __int__(self) -> int:
        check_not_stored(1)
        return int(self._array)

    def __float__(self) -> float:
        check_not_stored(1)
        return float(self._array)

    def __complex__(self) -> complex:
        check_not_stored(1)
        return complex(self._array)

    def __repr__(self) -> str:
        return f"Pattern({self._array!r})"


@functools.cache
def pattern_type(level: float) -> type[Pattern]:
    """The type of pattern arrays at a level."""
    return type("Pattern", (Pattern,), {"__slots__": (), "level": level})


def scipy_sparse() -> Any:
    """The module `scipy.sparse`."""
    try:
        return importlib.import_module("scipy.sparse")
    except ImportError:
        raise ImportError(
            "sparse derivatives need SciPy, which is not installed: pip install arraygrad[scipy]"
        ) from None


def seeds(shapes: Sequence[tuple[int, ...]]) -> list[Dependence]:
    """For inputs of the given shapes: each element depends on itself."""
    total = sum(map(math.prod, shapes))
    one = np.ones(total, bool)
    rows = np.concatenate([[0, 0], np.arange(1, total + 1)])
    sets = scipy_sparse().csr_array((one, np.arange(total), rows), shape=(total + 1, total))
    starts = np.cumsum([1, *map(math.prod, shapes)])
    return [
        Dependence(np.arange(start, start + math.prod(shape)).reshape(shape), sets)
        for start, shape in zip(starts, shapes, strict=False)
    ]


# --- sets ----------------------------------------------------------------------------------------


def _none(like: Dependence, shape: tuple[int, ...]) -> Dependence:
    """No dependence on anything."""
    return Dependence(np.zeros(shape, np.intp), like.sets)


def _union(first: Dependence, second: Dependence) -> Dependence:
    """The union of the sets of two arrays of one shape, element by element."""
    if not second.which.any() or (
        first.sets is second.sets and np.array_equal(first.which, second.which)
    ):
        return first
    if not first.which.any():
        return second
    n = first.sets.shape[1]
    # Each pair of sets is united once; the pair of empty ones comes first and stays number 0.
    pairs = np.concatenate([[0], (first.which * second.sets.shape[0] + second.which).reshape(-1)])
    unique, numbers = np.unique(pairs, return_inverse=True)
    a, b = np.divmod(unique, second.sets.shape[0])
    # All that contain everything become one, or a dense result would have a dense row each time.
    full = (np.diff(first.sets.indptr)[a] == n) | (np.diff(second.sets.indptr)[b] == n)
    if full.any():
        kept = ~full
        kept[np.argmax(full)] = True
        place = np.cumsum(kept) - 1
        place[full] = place[np.argmax(full)]
        a, b, numbers = a[kept], b[kept], place[numbers]
    which = numbers.reshape(-1)[1:].reshape(first.which.shape)
    return Dependence(which, first.sets[a] + second.sets[b])


def _gathered(which: Any, sets: Any, targets: Any, shape: tuple[int, ...]) -> Dependence:
    """Unions of many: set `which[k]` goes into the element with the number `targets[k]`."""
    which, targets = which.reshape(-1), targets.reshape(-1)
    some = which > 0
    size = math.prod(shape)
    member = scipy_sparse().csr_array(
        (np.ones(np.count_nonzero(some), bool), (targets[some] + 1, which[some])),
        shape=(size + 1, sets.shape[0]),
    )
    united = member @ sets
    united.sort_indices()
    return Dependence(np.arange(1, size + 1).reshape(shape), united)


def _joined(parts: list[Dependence]) -> tuple[list[Any], Any]:
    """The set numbers of several arrays with respect to one table of sets, and the table."""
    tables: list[Any] = []
    starts: dict[int, int] = {}
    total = 0
    for part in parts:
        if id(part.sets) not in starts:
            starts[id(part.sets)] = total
            tables.append(part.sets)
            total += part.sets.shape[0]
    sets = tables[0] if len(tables) == 1 else scipy_sparse().vstack(tables, format="csr")
    # Number 0 of any table is the empty set, so it need not be the first one's.
    return [part.which + starts[id(part.sets)] for part in parts], sets


def _on_all(given: list[Dependence], shape: tuple[int, ...]) -> Dependence:
    """Every element depends on everything."""
    numbers, sets = _joined(given)
    flat = np.concatenate([n.reshape(-1) for n in numbers])
    everything = _gathered(flat, sets, np.zeros_like(flat), (1,))
    return Dependence(np.ones(shape, np.intp), everything.sets)


def _along(x: Dependence, axis: Any, shape: tuple[int, ...]) -> Dependence | None:
    """Unions along axes, repeated along them as far as the result has any; None if it does not fit.

    `shape` is that of the result.
    """
    ndim = x.which.ndim
    axes = tuple(range(ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.which.shape))
    targets = np.broadcast_to(np.arange(math.prod(kept)).reshape(kept), x.which.shape)
    united = _gathered(x.which, x.sets, targets, kept)
    if shape == tuple(n for i, n in enumerate(kept) if i not in axes):
        return Dependence(united.which.reshape(shape), united.sets)
    if len(shape) == ndim and all(
        i in axes or n == m for i, (n, m) in enumerate(zip(kept, shape, strict=True))
    ):
        return Dependence(np.broadcast_to(united.which, shape), united.sets)
    return None


def _running(x: Dependence, axis: int) -> Dependence:
    """Unions of all elements up to each along an axis, by doubling."""
    step, n = 1, x.which.shape[axis]
    while step < n:
        shifted = np.zeros_like(x.which)
        before = (slice(None),) * axis
        shifted[(*before, slice(step, None))] = x.which[(*before, slice(None, -step))]
        x = _union(x, Dependence(shifted, x.sets))
        step *= 2
    return x


# --- ops -----------------------------------------------------------------------------------------


class _Application:
    """One op on some arrays: what its results depend on."""

    def __init__(
        self,
        op: Op,
        values: tuple[Any, ...],
        given: list[Dependence | None],
        params: dict[str, Any],
        shapes: list[tuple[int, ...]],
    ) -> None:
        self.op = op
        self.values = values
        self.given = given
        self.params = params
        self.shapes = shapes
        self.smooth = {
            i: dependence
            for i, dependence in enumerate(given)
            if dependence is not None and self._rule(i) is not None
        }

    def _rule(self, position: int) -> Any:
        """The derivative rule of an input, None if it is zero."""
        rule = self.op.rules.get(self.op.input_name(position))
        if rule is None or _is_zero(rule):
            return None
        if self.op.name in _STEPS and not is_complex(self.values[position]):
            return None
        return rule

    def dependences(self) -> list[Dependence]:
        """For each result, what it depends on."""
        if not self.smooth:
            like = next(d for d in self.given if d is not None)
            return [_none(like, shape) for shape in self.shapes]
        if self.op.batch == "elementwise" and _is_elementwise(self.op, self.params):
            return [self._elementwise(shape) for shape in self.shapes]
        if self.op.batch == "matmul":
            return [self._matmul(self.shapes[0])]
        if self._is_linear():
            found = self._moved() or self._moved_back()
            if found is not None:
                return found
        if self.op.batch in ("axis", "take", "take_along_axis") and "axis" in self.params:
            axis = self.params["axis"]
            if self.op.name.startswith("cumulative_"):
                return [_running(self.smooth[0], axis)]
            along = [_along(self.smooth[0], axis, shape) for shape in self.shapes]
            if None not in along:
                return along  # type: ignore[return-value]
        return [_on_all(list(self.smooth.values()), shape) for shape in self.shapes]

    # --- elementwise ---

    def _elementwise(self, shape: tuple[int, ...]) -> Dependence:
        parts = []
        for i, (which, sets) in self.smooth.items():
            which = np.broadcast_to(which, shape)
            kept = self._kept(i)
            parts.append(Dependence(which if kept is None else np.where(kept, which, 0), sets))
        return functools.reduce(_union, parts)

    def _kept(self, position: int) -> Any:
        """Where constant operands let the input at a position through; None if everywhere."""
        if self.op.name == "multiply":
            factor = self._constant(1 - position)
            return None if factor is None else factor != 0
        if self.op.name == "where":
            condition = self._constant(0)
            if condition is not None:
                return condition if position == 1 else ~condition
        return None

    def _constant(self, position: int) -> Any:
        """An input as a NumPy array, if it is an array and does not depend on anything."""
        value = self.values[position]
        if self.given[position] is not None or not hasattr(value, "dtype"):
            return None
        array = _as_numpy(value)
        return array if array.shape == tuple(value.shape) else None  # not so in an outer batch

    # --- linear ops that move elements ---

    def _is_linear(self) -> bool:
        """Whether no derivative depends on anything that depends on the input."""
        depending = {self.op.input_name(i) for i, d in enumerate(self.given) if d is not None}
        kept = {name for i in self.smooth for name in parameters(self._rule(i))}
        return not kept & (depending | {"out"})

    def _primals(self) -> list[Any]:
        """The inputs as NumPy arrays, with zeros for those that are only numbered."""
        return [
            np.zeros(self.smooth[i].which.shape) if i in self.smooth else _as_numpy(value)
            for i, value in enumerate(self.values)
        ]

    def _moved(self) -> list[Dependence] | None:
        """By the forward rule: which element of the inputs each element of the results is."""
        forward = self.op.forward
        if forward is None:
            return None
        primals = self._primals()
        numbers, sets = _joined(list(self.smooth.values()))
        sizes = [n.size for n in numbers]

        def run(elements: Any) -> list[Any]:
            tangents: list[Any] = [None] * len(primals)
            pieces = np.split(elements, np.cumsum(sizes)[:-1])
            for (i, dependence), piece in zip(self.smooth.items(), pieces, strict=True):
                tangents[i] = piece.reshape(dependence.which.shape)
            out = forward(primals, tangents, None, self.params)
            return list(out) if self.op.multiple else [out]

        found = _movement(run, sum(sizes), self.shapes)
        if found is None:
            return None
        table = np.concatenate([[0], *(n.reshape(-1) for n in numbers)])
        return [Dependence(np.asarray(table[element]), sets) for element in found]

    def _moved_back(self) -> list[Dependence] | None:
        """By the reverse rule: which element of the result each element of the input goes into."""
        if len(self.smooth) != 1 or self.op.multiple or self.op.joint is not None:
            return None
        ((position, x),) = self.smooth.items()
        pullback = self.op.pullback((position,))
        assert pullback is not None
        shape = self.shapes[0]
        primals = self._primals()

        def run(elements: Any) -> list[Any]:
            g, rule = elements.reshape(shape), pullback.rules[0]
            if rule is None:
                return [g]
            return [rule(g, pullback.keep(primals, None, self.params))]

        found = _movement(run, math.prod(shape), [x.which.shape])
        if found is None:
            return None
        targets = found[0].reshape(-1)
        used = targets > 0
        return [_gathered(x.which.reshape(-1)[used], x.sets, targets[used] - 1, shape)]

    # --- products ---

    def _matmul(self, shape: tuple[int, ...]) -> Dependence:
        x, y = (tuple(np.shape(value)) for value in self.values)
        left = (1, *x) if len(x) == 1 else x
        right = (*y, 1) if len(y) == 1 else y
        outer = np.broadcast_shapes(left[:-2], right[:-2])
        parts = []
        if 0 in self.smooth:
            which, sets = self.smooth[0]
            other = self._constant(1)
            parts.append(
                _product(
                    Dependence(which.reshape(left), sets),
                    None if other is None else other.reshape(right),
                    (*outer, left[-2], right[-1]),
                )
            )
        if 1 in self.smooth:
            which, sets = self.smooth[1]
            other = self._constant(0)
            turned = _product(
                Dependence(which.reshape(right).swapaxes(-1, -2), sets),
                None if other is None else other.reshape(left).swapaxes(-1, -2),
                (*outer, right[-1], left[-2]),
            )
            parts.append(Dependence(turned.which.swapaxes(-1, -2), turned.sets))
        found = functools.reduce(_union, parts)
        return Dependence(found.which.reshape(shape), found.sets)


def _product(x: Dependence, y: Any, shape: tuple[int, ...]) -> Dependence:
    """The product of a matrix with another, which is constant, or of unknown values if None."""
    if y is None or np.all(y != 0):
        united = _along(x, x.which.ndim - 1, (*x.which.shape[:-1], 1))
        assert united is not None
        return Dependence(np.broadcast_to(united.which, shape), united.sets)
    *outer, rows, columns = shape
    inner = x.which.shape[-1]
    count = math.prod(outer)
    which = np.broadcast_to(x.which, (*outer, rows, inner)).reshape(count, rows, inner)
    factor = np.broadcast_to(y != 0, (*outer, inner, columns)).reshape(count, inner, columns)
    member, k, column = (index[:, np.newaxis] for index in np.nonzero(factor))
    row = np.arange(rows)
    targets = (member * rows + row) * columns + column
    return _gathered(which[member, row, k], x.sets, targets, shape)


_CONVERSIONS = frozenset({"astype", "to_device"})  # what to is the library's own to understand
_checked: WeakKeyDictionary[Op, bool] = WeakKeyDictionary()


def _is_elementwise(op: Op, params: dict[str, Any]) -> bool:
    """Whether an op that broadcasts as elementwise ones do is one.

    Functions of matrices may broadcast in the same way. So it is tried out, once: some elements by
    themselves must give the same as among others.
    """
    if op.name in _CONVERSIONS:
        return True
    if op not in _checked:
        _checked[op] = any(_same_alone(op, params, low, low + 0.8) for low in (0.1, 1.1))
    return _checked[op]


def _same_alone(op: Op, params: dict[str, Any], low: float, high: float) -> bool:
    count = len(op.inputs)
    values = np.random.default_rng(count).uniform(low, high, (count, 3, 3))
    some = values.reshape(count, -1)[:, ::2]
    try:
        with np.errstate(all="ignore"):
            among = np.asarray(op.function(*values, **params)).reshape(-1)[::2]
            alone = np.asarray(op.function(*some, **params))
    except Exception:  # it wants matrices, or an op of the user's another kind of array
        return False
    # Outside the op's domain, nothing is finite and nothing is learnt.
    return alone.shape == among.shape and bool(np.allclose(alone, among))


# Zero derivative for real numbers, which their rules find out when they are run.
_STEPS = frozenset({"sign", "angle"})


@functools.lru_cache(1024)
def _is_zero(rule: Callable[..., Any]) -> bool:
    """Whether a rule gives zero whatever the cotangent: if that is all it takes, one shows it."""
    if parameters(rule) != ("g",):
        return False
    try:
        return not np.any(rule(np.ones(())))
    except Exception:  # a rule of the user's, which may want another kind of array
        return False


def _as_numpy(value: Any) -> Any:
    """An array as a NumPy array; a number as it is."""
    if not hasattr(value, "dtype"):
        return value
    array = plain(value)
    return backend_of(array).to_numpy(array)


def _movement(
    run: Callable[[Any], list[Any]], size: int, shapes: list[tuple[int, ...]]
) -> list[Any] | None:
    """Where a linear function takes each element from, counted from 1, and 0 where it puts zero.

    None if it does more than move elements. Two runs tell: one on the numbers of the elements, and
    one on random values, from which no other linear function would give the same choice of them.
    """
    values = np.random.default_rng(size).random(size)
    try:
        found = [np.asarray(part) for part in run(np.arange(1.0, size + 1))]
        check = [np.asarray(part) for part in run(values)]
    except Exception:  # an op of the user's, which may want another kind of array
        return None
    table = np.concatenate([[0.0], values])
    moved = []
    for numbers, picked, shape in zip(found, check, shapes, strict=True):
        if numbers.shape != shape or numbers.dtype.kind != "f":
            return None
        if not np.all((numbers >= 0) & (numbers <= size) & (numbers % 1 == 0)):
            return None
        element = numbers.astype(np.intp)
        if not np.array_equal(table[element], picked):
            return None
        moved.append(element)
    return moved
