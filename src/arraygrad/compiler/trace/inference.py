"""The shapes and dtypes of an op's results, from those of its inputs, without computing the op.

The kind of the op says which shapes the results have. Their dtypes are found by running the op's
NumPy kernel on a few elements, once for each combination of dtypes and keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.kinds import AlongAxis, Contracts, Elementwise, Matrices, Moves, Opaque, Reduces
from ...ops.define.op import Op
from .program import Constant, Shape

Type = tuple[Shape, Any]  # a shape and a dtype


def result_types(
    op: Op, inputs: Sequence[Any], params: dict[str, Any], values: Callable[[], list[Any]]
) -> Any:
    """The type of an op's result; a list of types if the op has several results.

    Parameters
    ----------
    op : Op
    inputs : sequence of numbers, and of anything with a shape and a dtype
    params : dict
        The keywords of the op.
    values : callable
        Returns the inputs as arrays with values, for an op of which nothing else is known.
    """
    if op.own.types is not None:
        found = op.own.types(inputs, params)
    else:
        found = _RULES[type(op.kind)](op, inputs, params, values)
    return found if op.multiple else found[0]


def stand_in(shape: Shape, dtype: Any) -> Any:
    """An array that takes no memory: ones, or zeros for integers, which are valid indices."""
    one = np.asarray(0 if dtype.kind in "biu" else 1, dtype)
    return np.ndarray(shape, dtype, one, 0, (0,) * len(shape))


def computed(op: Op, arrays: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """The results of an op's NumPy kernel on arrays whose values do not matter."""
    with np.errstate(all="ignore"):
        out = op.kernel(tuple(map(type, arrays)))(*arrays, **params)
    return list(map(np.asarray, out if op.multiple else (out,)))


def _on_shapes(op: Op, inputs: Sequence[Any], shapes: Sequence[Shape], params: Any) -> list[Any]:
    """The results on stand-ins of other shapes than the inputs have."""
    arrays = [
        stand_in(shape, x.dtype) if hasattr(x, "dtype") else x
        for x, shape in zip(inputs, shapes, strict=True)
    ]
    return computed(op, arrays, params)


def _shape(x: Any) -> Shape:
    return tuple(getattr(x, "shape", ()))


def _elementwise(op: Op, inputs: Any, params: Any, values: Any) -> list[Type]:
    whole = op.kind.whole  # type: ignore[attr-defined]
    is_whole = [op.input_name(i) in whole for i in range(len(inputs))]
    shape = np.broadcast_shapes(
        *(_shape(x) for x, w in zip(inputs, is_whole, strict=True) if not w)
    )
    few = _on_shapes(op, inputs, [(1,) * w for w in is_whole], params)
    return [(shape, out.dtype) for out in few]


def _reduced(op: Op, inputs: Any, params: Any, values: Any) -> list[Type]:
    (x,) = inputs
    axes = _axes(params[op.kind.axis], x.ndim)  # type: ignore[attr-defined]
    # Several elements in each line: of one there is no variance.
    lengths = tuple(max(1, min(n, 8)) if i in axes else 1 for i, n in enumerate(x.shape))
    few = _on_shapes(op, inputs, [lengths], params)
    if few[0].ndim == x.ndim and x.ndim:
        shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    else:
        shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    return [(shape, out.dtype) for out in few]


def _axes(axis: Any, ndim: int) -> set[int]:
    if axis is None:
        return set(range(ndim))
    return {a % ndim for a in (axis if isinstance(axis, tuple) else (axis,))}


def _along_axis(op: Op, inputs: Any, params: Any, values: Any) -> list[Type]:
    shape = np.broadcast_shapes(*map(_shape, inputs))
    ndim = len(shape)
    axes = _axes(params[op.kind.axis], ndim)  # type: ignore[attr-defined]
    lines = [
        tuple(n if ndim - x.ndim + i in axes else min(n, 1) for i, n in enumerate(_shape(x)))
        for x in inputs
    ]
    return [
        (tuple(out.shape[i] if i in axes else n for i, n in enumerate(shape)), out.dtype)
        for out in _on_shapes(op, inputs, lines, params)
    ]


def _contracted(op: Op, inputs: Any, params: Any, values: Any) -> list[Type]:
    labels = op.kind.labels  # type: ignore[attr-defined]
    if labels is None:
        return _on_stand_ins(op, inputs, params, values)
    x, y = inputs
    if isinstance(labels, tuple):
        of_x, of_y, of_out = (params[name] for name in labels)
    else:
        of_x, of_y, of_out = labels(x.ndim, y.ndim)
    few = _on_shapes(op, inputs, [(1,) * x.ndim, (1,) * y.ndim], params)
    lengths: dict[Any, int] = {}
    for letters, array in ((of_x, x), (of_y, y)):
        for letter, n in zip(letters, array.shape, strict=True):
            known = lengths.setdefault(letter, n)
            if known == 1:
                lengths[letter] = n
            elif n not in (1, known):  # let NumPy explain the error
                return _on_stand_ins(op, inputs, params, values)
    return [(tuple(lengths[letter] for letter in of_out), few[0].dtype)]


def _matrices(op: Op, inputs: Any, params: Any, values: Any) -> list[Type]:
    batch = np.broadcast_shapes(*(_shape(x)[:-2] for x in inputs))
    one = op.kind.shapes(*(_shape(x)[-2:] for x in inputs), **params)  # type: ignore[attr-defined]
    few = _on_shapes(op, inputs, [(1, 1)] * len(inputs), params)
    return [((*batch, *shape), out.dtype) for shape, out in zip(one, few, strict=True)]


def _on_stand_ins(op: Op, inputs: Any, params: Any, values: Any) -> list[Type]:
    """For ops that move elements: their kernels take memory, but hardly time.

    The elements of a mask decide the shape. They are known: see `Trace`.
    """
    arrays = [
        x.array
        if isinstance(x, Constant) and x.dtype.kind == "b"
        else stand_in(x.shape, x.dtype)
        if hasattr(x, "dtype")
        else x
        for x in inputs
    ]
    return [(out.shape, out.dtype) for out in computed(op, arrays, params)]


def _opaque(op: Op, inputs: Any, params: Any, values: Any) -> list[Type]:
    return [(out.shape, out.dtype) for out in computed(op, values(), params)]


_RULES: dict[type, Callable[..., list[Type]]] = {
    Elementwise: _elementwise,
    Moves: _on_stand_ins,
    Reduces: _reduced,
    AlongAxis: _along_axis,
    Contracts: _contracted,
    Matrices: _matrices,
    Opaque: _opaque,
}
