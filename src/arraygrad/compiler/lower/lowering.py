"""From a program of ops to the core program, by the kind of each op.

============  =====================================================================================
Elementwise   a scalar function, if the op has one (`scalars`)
Moves         a view, if the op's results are views of its input; the inverse of a view, if it
              adds elements to zeros at an index without arrays; arrays side by side; reading and
              adding at integers
Reduces       a reduction, if the op has a fold
Contracts     a matrix product; with a vector, or a column or row, products that are summed
============  =====================================================================================

Any other op of these kinds, and of those along an axis, is made of simpler ones if its `compute`,
called on traced arrays, is. What remains is left to the op's NumPy kernel: its results are arrays
in memory for the core program.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...core.indices import HOLE, as_view
from ...core.kinds import AlongAxis, Contracts, Elementwise, Moves, Reduces
from ...func.trees import unwrapped
from ...ops.define.op import Op
from ...ops.filters import _filtered
from ...ops.regions import Region
from ...ops.shape import _astype
from ..llvm.vectors import FLOATS, TYPES
from ..trace.program import Call, Constant, Full, Node, Shape, needed
from ..trace.traced import Trace, Traced
from . import scalars
from .complexes import REALS
from .contractions import Contraction
from .core import COPY, Builder, Core, Filled, Fold, Map, Place, Scalar, layout, strides
from .diagonals import Diagonals
from .indices import Range, along_axis, by_template, moved_inside, out_of_range, valid
from .other_types import HALF, Complexes, Halves, NotNative
from .searching import searched

FILTERED = _filtered.op  # type: ignore[attr-defined]
WINDOWS = 8  # along a line that fill a vector
MOST_JOINED = 8  # arrays side by side that native code joins
MOST_SMALL = 64  # the same for small arrays: each element of the result asks for each of them
MOST_QUESTIONS = 2**20


class Lowering:
    """Lowers the nodes of a program.

    Attributes
    ----------
    values : dict of Node to Core
        What has been lowered.
    reasons : dict of Node to str
        Why nodes have no code of their own.
    flags : list of Core
        With `flagging`: each is true after a run in which integers of an index array were out of
        range.
    ranges : list of Range
        With `in_loop`: integers that the loop around must check. Else, and without `flagging`,
        steps of their own check integers before they are used.
    """

    def __init__(
        self, given: Sequence[Node], trace: Trace, flagging: bool = False, in_loop: bool = False
    ) -> None:
        self.builder = Builder()
        self.values: dict[Node, Core] = {node: self.builder.stored(node) for node in given}
        self.trace = trace
        self._diagonals = Diagonals(self.builder)
        self.reasons: dict[Node, str] = {}
        self.flags: list[Core] = []
        self.ranges: list[Range] = []
        self._flagging, self._in_loop = flagging, in_loop
        self._complexes, self._halves = Complexes(self), Halves(self)
        self._indices: dict[Any, Core] = {}  # index arrays that were checked for a length
        self._inside: list[Op] = []  # the ops that are being taken apart

    def lower(self, outputs: Sequence[Node]) -> list[Core]:
        """The values of some nodes, and of all that they are computed from."""
        for node in needed(outputs, list(self.values)):
            if node not in self.values:
                self.values[node] = self._lowered(node)
        return [self.values[node] for node in outputs]

    def _lowered(self, node: Node) -> Core:
        if isinstance(node, Full):
            return self.builder.filled(node.value, node.shape, node.dtype)
        if isinstance(node, Constant):
            return self._constant(node)
        if isinstance(node, Call) and not (node.op.multiple or node.names) and node.op.is_library:
            try:
                return self._native(node)
            except NotNative as error:
                self.reasons[node] = str(error)
            made = self._composed(node)
            if made is not None:
                return made
        return self.builder.stored(node)

    def _constant(self, node: Constant) -> Core:
        """An array from outside; if it is a part of a contiguous one, a view of that."""
        array, owner = node.array, node.array.base
        if array.flags.c_contiguous or node.dtype not in TYPES or not array.size:
            return self.builder.stored(node)
        if type(owner) is not np.ndarray or owner.dtype != array.dtype:
            return self.builder.stored(node)
        map_ = _map_in(array, owner)
        if map_ is None:
            return self.builder.stored(node)
        source = self.builder.stored(self.trace.program.constant(owner))
        return self.builder.view(source, node.shape, map_)

    def _native(self, node: Call) -> Core:
        given = (node, *node.nodes)
        if any(0 in x.shape for x in given):
            raise NotNative("there are no elements")
        if isinstance(node.op.kind, Moves) and len(node.args) == 1:
            if node.nodes[0].dtype != node.dtype:
                raise NotNative("it takes elements apart, or puts them together")
        if any(x.dtype in REALS for x in given):
            return self._complexes.lower(node)
        if any(x.dtype == HALF for x in given):
            return self._halves.lower(node)
        for x in given:
            if x.dtype not in TYPES:
                raise NotNative(f"there is none for elements of {x.dtype}")
        kind = node.op.kind
        if node.op is valid and (self._in_loop or self._flagging):
            return self._valid(node.args[0], node.params["length"], node.params["axis"])
        if isinstance(kind, Elementwise) and not kind.whole:
            return self.elementwise(node)
        if node.op in scalars.SEARCHES:
            common = _common(node.args)
            line, values = (self.as_dtype(a, common) for a in node.args)
            return searched(self.builder, line, values, node.params["side"])
        if isinstance(kind, Moves) and kind.indices and len(node.args) > 1:
            return self._indexed(node, kind)
        if isinstance(kind, Moves) and kind.puts and "region" in node.params:
            return self._written(node, node.params["region"])
        if isinstance(kind, Moves) and kind.shares and len(node.args) == 1:
            return self.moved(self.values[node.args[0]], node, kind)
        if isinstance(kind, Moves) and kind.adds and kind.template and len(node.args) == 1:
            return self._padded(node, kind.template)
        if isinstance(kind, Moves) and node.op.variadic and kind.inputs == "same":
            return self._joined(node, kind)
        if isinstance(kind, Reduces):
            return self._reduced(node, kind)
        if node.op is FILTERED and TYPES[node.dtype] in FLOATS:
            return self._filtered(node)
        if isinstance(kind, Contracts) and TYPES[node.dtype] in FLOATS:
            return self._contracted(node, kind)
        raise NotNative(f"there is none for {node.op.name}")

    # --- elementwise ---

    def elementwise(self, node: Call) -> Core:
        op, args, dtype = node.op, node.args, node.dtype
        if op in scalars.COMPOSED and scalars.is_composed(op, args):
            raise NotNative  # it is made of others
        is_float, is_bool = TYPES[dtype] in FLOATS, dtype == np.bool_
        if (op in scalars.NUMBERS and not is_bool) or (op in scalars.FLOATS and is_float):
            scalar = scalars.NUMBERS.get(op) or scalars.FLOATS[op]
            return self.made(scalar, [self.as_dtype(a, dtype) for a in args], dtype)
        if op in scalars.QUOTIENTS:
            return self._quotient(scalars.QUOTIENTS[op], args, dtype)
        if op in scalars.BITS or (op in scalars.SHIFTS and not is_bool):
            scalar = scalars.BITS.get(op) or scalars.SHIFTS[op]
            return self.made(scalar, [self.as_dtype(a, dtype) for a in args], dtype)
        if op in scalars.COMPARISONS or op in scalars.TESTS:
            common = _common(args)
            if op in scalars.TESTS and TYPES[common] not in FLOATS:
                raise NotNative(f"there is none for elements of {common}")
            scalar = scalars.COMPARISONS.get(op) or scalars.TESTS[op]
            return self.made(scalar, [self.as_dtype(a, common) for a in args], dtype)
        if op in scalars.LOGIC:
            return self.made(scalars.LOGIC[op], [self.as_dtype(a, dtype) for a in args], dtype)
        if op in scalars.CHOICES:
            condition = self.as_dtype(args[0], np.dtype(np.bool_))
            chosen = [self.as_dtype(a, dtype) for a in args[1:]]
            return self.made(scalars.CHOICES[op], [condition, *chosen], dtype)
        raise NotNative(f"there is none for {op.name} with a result of {dtype}")

    def _quotient(self, scalar: Scalar, args: Sequence[Any], dtype: Any) -> Core:
        x, y = (self.as_dtype(a, dtype) for a in args)
        if TYPES[dtype] not in FLOATS and not (isinstance(y, Filled) and y.value not in (0, -1)):
            raise NotNative("NumPy warns of zeros among integers that others are divided by")
        return self.made(scalar, [x, y], dtype)

    def made(self, scalar: Scalar, args: list[Core], dtype: Any) -> Core:
        if scalar.cost == 0:  # the value itself
            return args[0]
        return self.builder.elements(scalar, args, dtype)

    def as_dtype(self, x: Any, dtype: Any) -> Core:
        """An argument in another dtype."""
        if not isinstance(x, Node):
            if not isinstance(x, bool | int | float | np.generic):
                raise NotNative("an argument is no real number")
            try:
                return self.builder.filled(x, (), dtype)
            except OverflowError:  # NumPy compares such numbers all the same
                raise NotNative(f"{x} is not in the range of {dtype}") from None
        value = self.values[x]
        if value.dtype == dtype:
            return value
        if value.dtype not in TYPES:
            raise NotNative(f"there is none for elements of {value.dtype}")
        if TYPES[value.dtype] in (*FLOATS, "half") and TYPES[dtype] not in (*FLOATS, "i1"):
            raise NotNative("NumPy decides what floats out of range are as integers")
        if isinstance(x, Full):
            return self.builder.filled(x.value, x.shape, dtype)
        return self.builder.elements(scalars.conversion(TYPES[dtype]), [value], dtype)

    # --- views and reductions ---

    def moved(self, source: Core, node: Call, kind: Moves) -> Core:
        if kind.view == "reshape":
            return self.builder.reshape(source, node.shape)

        params = node.params
        if kind.template is not None:  # of an item, NumPy would give a number
            params = params | {kind.template: as_view(params[kind.template])}

        def read(array: Any) -> Any:
            return node.op.kernel((np.ndarray,))(array, **params)

        return self.builder.view(source, node.shape, _map_of(read, source.shape, node.shape))

    def _padded(self, node: Call, template: str) -> Core:
        """The transpose of reading at an index without arrays."""
        source, index = self.values[node.args[0]], as_view(node.params[template])
        shape = np.broadcast_to(False, node.shape)[index].shape
        map_ = _map_of(lambda array: array[index], node.shape, shape)
        return self._put(self.builder.broadcast(source, shape), node.shape, map_)

    def _written(self, node: Call, region: Region) -> Core:
        """An array with new values in a region: a choice by the place of an element."""
        whole, value = (self.as_dtype(a, node.dtype) for a in node.args)
        mask = region.mask()
        if mask is not None and value.size == 1:
            is_inside = self._constant(self.trace.program.constant(mask))
            new = self.builder.reshape(value, ())
            return self.builder.elements(scalars.CHOOSE, [is_inside, new, whole], node.dtype)
        if not region.is_view():
            raise NotNative("a write by index arrays, or by a view that may be a copy")
        part = region.read(np.broadcast_to(False, node.shape)).shape
        map_ = _map_of(region.read, node.shape, part)
        if 0 in part:
            return whole
        true = self.builder.filled(True, part, np.dtype(np.bool_))
        is_inside = self._put(true, node.shape, map_)
        # Axes of length one in front are ignored, as NumPy does.
        value = self.builder.reshape(value, value.shape[max(0, len(value.shape) - len(part)) :])
        if isinstance(value, Filled):
            new = self.builder.filled(value.value, node.shape, node.dtype)
        else:
            new = self._put(self.builder.broadcast(value, part), node.shape, map_)
        return self.builder.elements(scalars.CHOOSE, [is_inside, new, whole], node.dtype)

    def _put(self, x: Core, shape: Shape, map_: Map) -> Core:
        axes = [axis for axis, _, step in map_ if axis is not None]
        missing = [i for i, n in enumerate(x.shape) if n != 1 and i not in axes]
        if missing or len(set(axes)) != len(axes):
            raise NotNative("several elements meet at one place")
        if any(axis is not None and step not in (1, -1) for axis, _, step in map_):
            raise NotNative
        return self.builder.padded(x, shape, map_)

    def _indexed(self, node: Call, kind: Moves) -> Core:
        """Reading an array at integers, or adding to zeros at integers."""
        x, *indices = node.args
        if kind.puts or not all(isinstance(i, Node) and i.dtype.kind in "iu" for i in indices):
            raise NotNative
        shape = node.params[kind.shape] if kind.adds and kind.shape else x.shape
        if kind.template is not None:
            template = node.params[kind.template]
        else:
            template = (slice(None),) * node.params[kind.axis or "axis"] + (HOLE,)
        if kind.inputs == "same":
            layout = along_axis(node.params[kind.axis or "axis"], shape, indices[0].shape)
        else:
            layout = by_template(template, shape, [i.shape for i in indices])
        if layout is None or 0 in shape or layout.shape != (x.shape if kind.adds else node.shape):
            raise NotNative
        places = [
            layout.spread(self.builder, self._valid(i, shape[axis], axis))
            for i, axis in zip(indices, layout.axes, strict=True)
        ]
        source = self.as_dtype(x, node.dtype)
        if not kind.adds:
            return self.builder.gathered(source, places, layout.places)
        if TYPES[node.dtype] == "i1":
            raise NotNative
        return self.builder.scattered(scalars.SUM, source, places, shape, layout.places)

    def _valid(self, index: Node, length: int, axis: int) -> Core:
        """An index array that has been checked, or whose integers are moved into the range."""
        if isinstance(index, Call) and index.op is valid and index.params["length"] == length:
            return self.values[index]
        key = (index, length)
        if key in self._indices:
            return self._indices[key]
        if self._flagging or self._in_loop:
            int64, truth = np.dtype(np.int64), np.dtype(np.bool_)
            integers = self.as_dtype(index, int64)
            self._indices[key] = self.builder.elements(moved_inside(length), [integers], int64)
            if self._in_loop:
                self.ranges.append(Range(index, length, axis))
            else:
                is_wrong = self.builder.elements(out_of_range(length), [integers], truth)
                axes = range(len(index.shape))
                self.flags.append(self.builder.reduction(scalars.ANY, is_wrong, axes))
        else:
            params = {"length": length, "axis": axis}
            types = index.shape, np.dtype(np.int64)
            node = self.trace.program.call(valid, (index,), params, types)
            self._indices[key] = self.values[node] = self.builder.stored(node)
        return self._indices[key]

    def _joined(self, node: Call, kind: Moves) -> Core:
        """Arrays side by side along an axis, or along a new one: each with zeros around it."""
        axis, shape = node.params[kind.axis or "axis"], node.shape
        count = len(node.args)
        is_small = count <= MOST_SMALL and count * math.prod(shape) <= MOST_QUESTIONS
        if not (count <= MOST_JOINED or is_small) or not all(
            isinstance(a, Node) for a in node.args
        ):
            raise NotNative
        parts, start = [], 0
        for a in node.args:
            x = self.as_dtype(a, node.dtype)
            is_new = len(x.shape) < len(shape)
            map_: list[Place] = []
            for i in range(len(shape)):
                own = i - (is_new and i > axis)
                if i == axis:
                    map_.append((None, start, 0) if is_new else (own, start, 1))
                else:
                    map_.append((own, 0, 1))
            if not _is_zero(x):  # there are zeros around each part anyway
                parts.append(self._put(x, shape, tuple(map_)))
            start += 1 if is_new else x.shape[axis]
        if not parts:
            return self.builder.filled(0, shape, node.dtype)
        return functools.reduce(
            lambda x, y: self.builder.elements(scalars.JOINED, [x, y], node.dtype), parts
        )

    def _reduced(self, node: Call, kind: Reduces) -> Core:
        fold = scalars.fold_of(node.op, node.dtype)
        if fold is None:
            raise NotNative
        return self.folded(fold, self.as_dtype(node.args[0], node.dtype), node, kind)

    def folded(self, fold: Fold, source: Core, node: Call, kind: Reduces) -> Core:
        axis = node.params[kind.axis]
        axes = range(len(source.shape)) if axis is None else axis
        kept = [a % len(source.shape) for a in axes]
        return self.builder.reshape(self.builder.reduction(fold, source, kept), node.shape)

    def _contracted(self, node: Call, kind: Contracts) -> Core:
        values = [self.as_dtype(a, node.dtype) for a in node.args]
        if kind.labels is None:
            raise NotNative
        if isinstance(kind.labels, tuple):
            labels = tuple(node.params[name] for name in kind.labels)
        else:
            labels = kind.labels(*(len(x.shape) for x in values))
        found = Contraction(self._diagonals, values, labels).value()
        if found is None:
            raise NotNative
        return found

    def _filtered(self, node: Call) -> Core:
        """Filters that slide over an array.

        Windows that are side by side in memory are the columns of a matrix product, if there are
        enough for a vector; else the filters are, and are copied side by side.
        """
        x, w = (self.as_dtype(a, node.dtype) for a in node.args)
        x, w = (
            self.builder.elements(COPY, [y], y.dtype) if isinstance(y, Filled) else y
            for y in (x, w)
        )
        ends, stride, dilation = (node.params[key] for key in ("ends", "stride", "dilation"))
        windows = node.shape[3:]
        if any(map(sum, ends)):
            axes = list(enumerate(zip(x.shape, [*[(0, 0)] * 3, *ends], strict=True)))
            shape = tuple(n + sum(e) for _, (n, e) in axes)
            map_ = tuple((None, e[0], 0) if n == 1 else (i, e[0], 1) for i, (n, e) in axes)
            x = self.builder.padded(x, shape, map_)
        is_near = layout(x)[1][-1] * stride[-1] == 1
        if is_near and windows[-1] >= min(w.shape[1], WINDOWS):
            return self.builder.filtered(x, w, windows, stride, dilation, turned=False)
        if layout(w)[1][3:] != strides(w.shape[3:]):
            w = self.builder.elements(COPY, [w], w.dtype)
        found = self.builder.filtered(x, w, windows, stride, dilation, turned=True)
        order = (1, 0, *range(3, len(node.shape)), 2)
        both = zip(order, found.shape, strict=True)
        map_ = tuple((None, 0, 0) if n == 1 else (axis, 0, 1) for axis, n in both)
        return self.builder.view(found, node.shape, map_)

    # --- ops that are made of others ---

    def _composed(self, node: Call) -> Core | None:
        """The value of an op from simpler ops; None if these are not known, or not native."""
        op = node.op
        made = scalars.COMPOSED.get(op) if scalars.is_composed(op, node.args) else None
        can_be = made is not None or isinstance(op.kind, Elementwise | Reduces | AlongAxis)
        if op in self._inside or node.dtype not in TYPES or not can_be:
            return None
        if any(x.dtype == HALF for x in (node, *node.nodes)):
            return None  # NumPy's kernels do not round in between
        if (made is None and op.compute is None) or 0 in node.shape:
            return None
        given = [self._converted(a, node.dtype) for a in node.args]
        self._inside.append(op)
        try:
            if made is not None:
                out = made(*given, **node.params)
            else:
                assert op.compute is not None
                out = op.compute(np, *given, **node.params)
            out = unwrapped(out)
            if not isinstance(out, Traced) or (out.shape, out.dtype) != (node.shape, node.dtype):
                return None
            return self.lower([out.node])[0]
        except Exception as error:  # it needs values, or functions of arrays with values
            self.reasons[node] = f"{type(error).__name__}: {error}".partition("\n")[0]
            return None
        finally:
            self._inside.pop()

    def _converted(self, x: Any, dtype: Any) -> Any:
        """An argument of an op that is made of others: integers as the floats of its result.

        NumPy converts them before it computes, so that nothing is out of their range.
        """
        if not isinstance(x, Node):
            return x
        traced = Traced(x, self.trace)
        if dtype.kind != "f" or x.dtype.kind not in "biu":
            return traced
        return _astype(traced, dtype=dtype, copy=False)


def _is_zero(x: Core) -> bool:
    """Whether all elements are zero, and not minus zero."""
    return isinstance(x, Filled) and not any(x.value.tobytes())


def _common(args: Sequence[Any]) -> Any:
    """The dtype in which NumPy compares arguments."""
    try:
        found = np.result_type(*(a.dtype if isinstance(a, Node) else a for a in args))
    except (TypeError, OverflowError):
        raise NotNative from None
    if found not in TYPES:
        raise NotNative
    return np.dtype(np.float32) if found == HALF else found


def _map_of(read: Callable[[Any], Any], shape: Shape, result: Shape) -> Map:
    """Where a view, with a given shape, reads each axis of its source.

    The view is taken of arrays without memory, one for each axis of the source. In such an array
    only this axis has a stride, so the strides of the result show where the axis went.
    """
    places = []
    for axis in range(len(shape)):
        steps = [int(i == axis) for i in range(len(shape))]
        array = as_strided(np.zeros(1, np.int8), shape, steps, writeable=False)
        moved = read(array)
        start = _pointer(moved) - _pointer(array)
        found = [(i, s) for i, s in enumerate(moved.strides) if s and moved.shape[i] > 1]
        if len(found) > 1 or moved.shape != result:
            raise NotNative
        places.append((found[0][0], start, found[0][1]) if found else (None, start, 0))
    return tuple(places)


def _map_in(array: Any, owner: Any) -> Map | None:
    """Where an array reads each axis of a contiguous one that it is a part of, or None."""
    start, rest = divmod(_pointer(array) - _pointer(owner), array.itemsize)
    if rest or not owner.flags.c_contiguous or not 0 <= start < owner.size:
        return None
    index = np.unravel_index(start, owner.shape)
    places: list[Place] = [(None, int(i), 0) for i in index]
    for axis, (n, step) in enumerate(zip(array.shape, array.strides, strict=True)):
        if n == 1 or not step:
            continue
        fits = [j for j, s in enumerate(owner.strides) if owner.shape[j] > 1 and abs(step) >= s]
        if not fits or places[fits[0]][0] is not None:
            return None
        first, by = int(index[fits[0]]), step // owner.strides[fits[0]]
        last = first + by * (n - 1)
        if step % owner.strides[fits[0]] or not 0 <= last < owner.shape[fits[0]]:
            return None
        places[fits[0]] = (axis, first, by)
    return tuple(places)


def _pointer(array: Any) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]
