"""How dependence spreads through an op, from its inputs to its results: one rule for each kind.

An input counts only if the op has a derivative rule for it, and the derivative is not zero
everywhere. A result then depends on the following elements of the inputs:

=============  ===================================================================================
Elementwise    those at the same place, without those that constants cut off
Moves          the one that was moved there: the forward rule, run on the numbers of the elements,
               shows which. If the op adds elements, the reverse rule shows them. If the indices
               depend on the input themselves, all elements along the axis
Reduces        all along the axes
AlongAxis      all along the axes; for a running op, all up to the result's own place
Contracts      those that the product combines, without those that zeros in a constant factor cut
Matrices       all of the matrix
Opaque         all
=============  ===================================================================================

The sets themselves are in `arrays.dependence`. `sweep.liveness` follows dependence in the other
direction.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends import backend_of
from ..core.array import plain
from ..core.kinds import AlongAxis, Contracts, Elementwise, Kind, Matrices, Moves, Opaque, Reduces
from ..ops.define.op import Op
from ..ops.elementwise import is_complex
from ..ops.forward import forward_of
from .dependence import Dependence, along, everything, gathered, joined, nothing, running, united

Shape = tuple[int, ...]


class Call:
    """An op on some arrays, at least one of which is not constant.

    Attributes
    ----------
    op : Op
    values : tuple of arrays and numbers
        The inputs of the op.
    given : list of Dependence or None
        What each input depends on; None for constants.
    params : dict
        The keywords.
    shapes : list of tuple of int
        The shapes of the results.
    """

    def __init__(
        self,
        op: Op,
        values: tuple[Any, ...],
        given: list[Dependence | None],
        params: dict[str, Any],
        shapes: list[Shape],
    ) -> None:
        self.op, self.values, self.given, self.params, self.shapes = (
            op,
            values,
            given,
            params,
            shapes,
        )

    @functools.cached_property
    def smooth(self) -> dict[int, Dependence]:
        """The dependence of the inputs that have a derivative other than zero, by position."""
        return {i: x for i, x in enumerate(self.given) if x is not None and self._is_smooth(i)}

    def _is_smooth(self, position: int) -> bool:
        """Whether the derivative with respect to an input exists and is not always zero."""
        name, flat = self.op.input_name(position), self.op.kind.flat
        if name not in self.op.rules:
            return False
        return is_complex(self.values[position]) if flat == "real" else name not in flat

    def constant(self, position: int) -> Any:
        """An input as a NumPy array, if it is constant and known; else None."""
        value = self.values[position]
        if self.given[position] is not None:
            return None
        array = plain(value)
        array = backend_of(array).to_numpy(array) if hasattr(array, "dtype") else np.asarray(array)
        return array if array.shape == np.shape(value) else None  # a batch has one more axis


def spread(call: Call) -> list[Dependence]:
    """The dependence of each result of an op."""
    if not call.smooth:
        like = next(x for x in call.given if x is not None)
        return [nothing(like, shape) for shape in call.shapes]
    return _RULES[type(call.op.kind)](call, call.op.kind)


def _of_elements(call: Call, kind: Elementwise) -> list[Dependence]:
    cuts, parts = call.op.own.cuts, call.smooth
    if cuts is not None:
        constants = [call.constant(i) for i in range(len(call.values))]
        parts = {i: _cut(x, cuts(i, *constants)) for i, x in parts.items()}
    return [united(x.broadcast_to(shape) for x in parts.values()) for shape in call.shapes]


def _cut(x: Dependence, open_: Any) -> Dependence:
    """The dependence of the elements where `open_` is true; None stands for all elements."""
    return x if open_ is None else x._replace(which=np.where(open_, x.which, 0))


# --- ops that move elements ----------------------------------------------------------------------


def _of_moves(call: Call, kind: Moves) -> list[Dependence]:
    names = [call.op.input_name(i) for i in range(len(call.values))]
    indices = {i: call.constant(i) for i, name in enumerate(names) if name in kind.indices}
    if any(array is None for array in indices.values()):
        return _moved_anywhere(call, kind)
    primals = [
        indices[i] if i in indices else np.zeros(np.shape(value), _dtype(value))
        for i, value in enumerate(call.values)
    ]
    return _moved_back(call, primals) if kind.adds else _moved(call, primals)


def _dtype(value: Any) -> type[complex]:
    return complex if is_complex(value) else float


def _moved(call: Call, primals: list[Any]) -> list[Dependence]:
    """By the forward rule, which shows for each result element which input element it is."""
    forward = forward_of(call.op)
    assert forward is not None
    which, sets = joined(list(call.smooth.values()))
    table = np.concatenate([[0], *(w.reshape(-1) for w in which)])
    tangents: list[Any] = [None] * len(primals)
    start = 1
    for i, x in call.smooth.items():
        numbers = np.arange(start, start + x.which.size).reshape(x.which.shape)
        # An op can move the real part and the imaginary part to different places.
        tangents[i] = numbers * (1 + 1j if primals[i].dtype.kind == "c" else 1.0)
        start += x.which.size
    out = forward(primals, tangents, None, call.params)
    return [_taken(np.asarray(o), table, sets) for o in (out if call.op.multiple else (out,))]


def _taken(numbers: Any, table: Any, sets: Any) -> Dependence:
    """The sets of the elements with these numbers."""
    parts = (numbers.real, numbers.imag) if numbers.dtype.kind == "c" else (numbers,)
    return united(Dependence(np.asarray(table[p.astype(np.intp)]), sets) for p in parts)


def _moved_back(call: Call, primals: list[Any]) -> list[Dependence]:
    """By the reverse rules, which show for each input element the result element it is added to."""
    (shape,) = call.shapes
    numbers = np.arange(1.0, 1 + math.prod(shape)).reshape(shape)
    parts = []
    for i, x in call.smooth.items():
        pullback = call.op.pullback((i,))
        assert pullback is not None
        (rule,) = pullback.rules
        saved = pullback.keep(primals, None, call.params)
        targets = numbers if rule is None else np.asarray(rule(numbers, saved))
        which = x.broadcast_to(targets.shape).which
        used = targets > 0
        parts.append(gathered(which[used], x.sets, targets[used].astype(np.intp) - 1, shape))
    return [united(parts)]


def _moved_anywhere(call: Call, kind: Moves) -> list[Dependence]:
    """For unknown indices: an element can come from anywhere along the axis, or in the array."""
    if kind.axis is None:
        return _of_anything(call, kind)
    (shape,) = call.shapes
    parts = []
    for x in call.smooth.values():
        axes = _axes(call.params[kind.axis], x.which.ndim)
        found = along(x, axes)
        # The axes of the indices replace the axis; there may be any number of them.
        before, after = found.which.shape[: axes[0]], found.which.shape[axes[0] + 1 :]
        between = (1,) * (len(shape) - len(before + after))
        parts.append(found.reshape(before + between + after).broadcast_to(shape))
    return [united(parts)]


# --- lines ---------------------------------------------------------------------------------------


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    return tuple([a % ndim for a in (axis if isinstance(axis, tuple) else (axis,))])


def _of_reductions(call: Call, kind: Reduces) -> list[Dependence]:
    axis = call.params[kind.axis]
    parts = [
        along(x, None if axis is None else _axes(axis, x.which.ndim)) for x in call.smooth.values()
    ]
    return [united(x.reshape(shape) for x in parts) for shape in call.shapes]


def _of_lines(call: Call, kind: AlongAxis) -> list[Dependence]:
    def one(x: Dependence, shape: Shape) -> Dependence:
        axes = _axes(call.params[kind.axis], len(shape))
        if kind.running:
            return running(x.broadcast_to(shape), *axes)
        padded = x.reshape((1,) * (len(shape) - x.which.ndim) + x.which.shape)
        return along(padded, axes).broadcast_to(shape)

    return [united(one(x, shape) for x in call.smooth.values()) for shape in call.shapes]


# --- products ------------------------------------------------------------------------------------


def _of_products(call: Call, kind: Contracts) -> list[Dependence]:
    if kind.labels is None:
        return _of_anything(call, kind)
    if isinstance(kind.labels, tuple):
        *of_inputs, to = (call.params[name] for name in kind.labels)
    else:
        *of_inputs, to = kind.labels(*(len(np.shape(value)) for value in call.values))
    (shape,) = call.shapes
    parts = []
    for i, x in call.smooth.items():
        factor, labels = call.constant(1 - i), of_inputs[1 - i]
        if factor is None or np.all(factor != 0):
            factor, labels = np.asarray(True), ""
        parts.append(_product(x, of_inputs[i], factor, labels, to).broadcast_to(shape))
    return [united(parts)]


def _product(x: Dependence, of_x: str, factor: Any, of_factor: str, to: str) -> Dependence:
    """The dependence of a sum of products; axes that neither factor has get length one."""
    lengths = dict(zip(of_x, x.which.shape, strict=True))
    for label, n in zip(of_factor, factor.shape, strict=True):
        lengths[label] = n if lengths.get(label, 1) == 1 else lengths[label]
    factor = np.broadcast_to(factor, [lengths[c] for c in of_factor])
    which = np.broadcast_to(x.which, [lengths[c] for c in of_x])
    # One row for each nonzero element of the factor, one column for each place along the axes that
    # only `x` has.
    rest = [c for c in of_x if c not in of_factor]
    sizes = [lengths[c] for c in rest]
    rows = np.argwhere(factor).T[:, :, np.newaxis]
    columns = np.indices(sizes).reshape(len(rest), 1, math.prod(sizes))
    place = {**dict(zip(of_factor, rows, strict=True)), **dict(zip(rest, columns, strict=True))}
    targets = np.zeros((rows.shape[1], columns.shape[2]), np.intp)
    shape = tuple(lengths.get(c, 1) for c in to)
    for label, n in zip(to, shape, strict=True):
        targets = targets * n + place.get(label, 0)
    found = np.broadcast_to(which[tuple(place[c] for c in of_x)], targets.shape)
    return gathered(found, x.sets, targets, shape)


# --- matrices, and opaque ops --------------------------------------------------------------------


def _of_matrices(call: Call, kind: Matrices) -> list[Dependence]:
    single = kind.shapes(*(np.shape(value)[-2:] for value in call.values), **call.params)
    parts = [along(x, (x.which.ndim - 2, x.which.ndim - 1)) for x in call.smooth.values()]
    results = []
    for shape, one in zip(call.shapes, single, strict=True):
        # The axes of a result: those of the batch, then those of the result for a single matrix.
        batch = [x.reshape(x.which.shape[:-2] + (1,) * len(one)) for x in parts]
        results.append(united(x.broadcast_to(shape) for x in batch))
    return results


def _of_anything(call: Call, kind: Kind) -> list[Dependence]:
    return [everything(list(call.smooth.values()), shape) for shape in call.shapes]


_RULES: dict[type[Kind], Callable[[Call, Any], list[Dependence]]] = {
    Elementwise: _of_elements,
    Moves: _of_moves,
    Reduces: _of_reductions,
    AlongAxis: _of_lines,
    Contracts: _of_products,
    Matrices: _of_matrices,
    Opaque: _of_anything,
}
