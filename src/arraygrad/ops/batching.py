"""Batching rules, one for each kind: they run an op on a batch. `Batched` is in `arrays.batched`.

A rule gets the op, its arrays, flags that say which arrays have the batch axis (always the first
axis), and the op's keywords. It returns the result with the batch axis in front. Rules are made of
ops, so they work at any level of nesting. A rule has two steps: it makes the arrays fit each other,
and it shifts the keywords for axes and shapes.
"""

from __future__ import annotations

from typing import Any

from ..backends import backend_of
from ..core.array import AnyFunction, plain
from ..core.axes import led_by
from ..core.indices import HOLE, Index, Template, is_apart
from ..core.kinds import AlongAxis, Contracts, Elementwise, Matrices, Moves, Opaque, Reduces
from .contracting import contracted
from .define.op import Op, once_per_op
from .indexing import _getitem, _index_add
from .padding import (
    Flags,
    Params,
    aligned,
    everywhere,
    loop,
    padded,
    repeated,
    size_of,
    visible_ndim,
)
from .searching import _nonzero
from .shape import _reshape, moveaxis


@once_per_op
def batching_rule(op: Op) -> AnyFunction:
    """``rule(op, arrays, flags, keywords)`` that runs an op on a batch."""
    kind = op.kind
    if op.own.batch is not None:
        return op.own.batch
    if isinstance(kind, Moves):
        if kind.template is not None:
            return _added if kind.adds else _read
        if kind.indices and kind.inputs == "own":
            return _taken
        return _moved
    if isinstance(kind, Reduces | AlongAxis):
        return _along_axis
    if isinstance(kind, Contracts) and kind.labels is not None:
        return _contracted if isinstance(kind.labels, tuple) else contracted
    if isinstance(kind, Elementwise | Matrices):
        return _aligned
    if isinstance(kind, Opaque) and kind.shape_by_values:
        return _refused
    return _aligned if isinstance(kind, Opaque) and kind.leading else loop


def _aligned(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    """The op treats leading axes as a batch, so the batch axis becomes one of them."""
    return op.function(*aligned(arrays, flags), **params)


def _along_axis(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    name = op.kind.axis  # type: ignore[attr-defined]
    arrays = aligned(arrays, flags)
    return op.function(*arrays, **params | {name: _up(params[name], arrays[0].ndim)})


def _up(axis: Any, ndim: int) -> Any:
    """Axes of one member as axes of the batch. Axes that count from the end stay."""
    if axis is None:
        return tuple(range(1, ndim))
    if isinstance(axis, tuple):
        return tuple([a + 1 if a >= 0 else a for a in axis])
    return axis + 1 if axis >= 0 else axis


def _moved(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    kind = op.kind
    assert isinstance(kind, Moves)
    size = size_of(arrays, flags)
    shifted = dict(params)
    if kind.axis is not None:
        shifted[kind.axis] = _up(params[kind.axis], arrays[0].ndim)
    if kind.shape is not None:
        shifted[kind.shape] = led_by(size, params[kind.shape])
    if kind.order is not None:
        shifted[kind.order] = (0, *_up(tuple(params[kind.order]), arrays[0].ndim))
    if kind.inputs == "same":
        arrays = tuple(repeated(arrays, flags))
    elif kind.inputs == "broadcast":
        arrays = (padded(arrays[0], True, len(params[kind.shape])),)  # type: ignore[index]
    return op.function(*arrays, **shifted)


def _contracted(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    left, right, to = op.kind.labels  # type: ignore[attr-defined]
    used = params[left] + params[right] + params[to]
    new = next(c for c in map(chr, range(ord("A"), ord("z"))) if c.isalpha() and c not in used)
    return op.function(
        *arrays,
        **params
        | {
            left: new * flags[0] + params[left],
            right: new * flags[1] + params[right],
            to: new + params[to],
        },
    )


def _refused(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    raise TypeError(
        f"{op.name} gives results of different shapes for the members of a batch: call it outside "
        "vmap, or use where() with a mask"
    )


# --- with index arrays ---------------------------------------------------------------------------


def _read(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    template = params["template"]
    if any(flags[1:]):
        return _read_by_batch(arrays, flags, template)
    x, *indices = arrays
    out = _getitem(x, *indices, template=(slice(None), *template))
    front = _arrays_in_front(template, indices)
    return moveaxis(out, front, 0) if front else out


def _added(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    template, shape = params["template"], params["shape"]
    x, *indices = arrays
    size = size_of(arrays, flags)
    x = everywhere(x, flags[0], size)
    if any(flags[1:]):
        joined, full, place, n = _with_batch_index(x, indices, flags[1:], template, shape, size)
        if place:  # with the batch index in front, NumPy puts the axes of index arrays first
            x = moveaxis(x, tuple(range(place + 1, place + 1 + n)), tuple(range(1, n + 1)))
        return _index_add(x, *joined, template=full, shape=led_by(size, shape))
    front = _arrays_in_front(template, indices)
    x = moveaxis(x, 0, front) if front else x
    return _index_add(x, *indices, template=(slice(None), *template), shape=led_by(size, shape))


def _arrays_in_front(template: Template, indices: list[Any]) -> int:
    """The number of axes that NumPy puts before the batch axis, if index arrays are apart."""
    if not indices or not is_apart(template):
        return 0
    return max(i.ndim if backend_of(i).kind(i.dtype) == "i" else 1 for i in indices)


def _positions(index: Any) -> tuple[Any, ...] | None:
    """The positions where a mask is true; None for an array of integers."""
    return tuple(_nonzero(plain(index))) if backend_of(index).kind(index.dtype) == "b" else None


def _with_batch_index(
    x: Any, indices: list[Any], flags: Flags, template: Template, shape: tuple[int, ...], size: int
) -> tuple[list[Any], Template, int, int]:
    """An index with one more array in front, which gives each member its own part of `x`.

    It also returns the place and the number of the index arrays' axes in the result for one member.
    The new index puts these axes first, after the batch axis.
    """
    batched = [i for i, flag in zip(indices, flags, strict=True) if flag]
    if any(backend_of(i).kind(i.dtype) == "b" for i in batched):
        raise IndexError(
            "a boolean mask that differs over a batch gives results of different shapes; "
            "use where() instead"
        )
    index = Index(template, indices, shape, _positions)
    arrays = [(p.value, any(p.value is i for i in batched)) for p in index.parts if p.is_array]
    n = max(visible_ndim(*pair) for pair in arrays)
    first = backend_of(x).integers(plain(x), list(range(size)))
    first = _reshape(first, shape=(size,) + (1,) * n)
    joined = [first, *(padded(*pair, n) for pair in arrays)]
    parts = [HOLE if p.is_array else None if p.new else p.value for p in index.parts]
    return joined, (HOLE, *parts), index.lead, n


def _read_by_batch(arrays: tuple[Any, ...], flags: Flags, template: Template) -> Any:
    x, *indices = arrays
    size = size_of(arrays, flags)
    x = everywhere(x, flags[0], size)
    joined, full, place, n = _with_batch_index(x, indices, flags[1:], template, x.shape[1:], size)
    out = _getitem(x, *joined, template=full)
    if place:
        out = moveaxis(out, tuple(range(1, n + 1)), tuple(range(place + 1, place + 1 + n)))
    return out


def _taken(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    """Elements taken along one axis. With batched indices, it becomes a read by index."""
    name = op.kind.axis  # type: ignore[attr-defined]
    if not flags[1]:
        return op.function(*arrays, **params | {name: _up(params[name], arrays[0].ndim)})
    axis = params[name] % visible_ndim(arrays[0], flags[0])
    template = (slice(None),) * axis + (HOLE,)
    return _read(op, arrays, flags, {"template": template})
