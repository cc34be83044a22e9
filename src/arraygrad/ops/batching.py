"""How each kind of op runs over a hidden leading axis: the batching rules.

A rule is called with the op, its arrays, which of them carry the batch axis (always in front), and
the op's keywords; it returns the result with the batch axis in front. Rules are made of ops, so
they work at any level of nesting.
"""

from __future__ import annotations

import math
import warnings
from contextvars import ContextVar
from typing import Any

from ..backends import backend_of
from ..core.array import Function, plain
from ..core.axes import led_by
from ..core.indices import HOLE, Template
from .define.op import Op
from .indexing import _getitem, _index_add
from .shape import _broadcast_to, _reshape, matrix_transpose, moveaxis, stack

Flags = tuple[bool, ...]
Params = dict[str, Any]


def size_of(arrays: tuple[Any, ...], batched: Flags) -> int:
    """The length of the batch axis."""
    return next(a.shape[0] for a, b in zip(arrays, batched, strict=True) if b)  # type: ignore[no-any-return]


def _ndim(x: Any, batched: bool) -> int:
    """The number of axes the user sees."""
    return getattr(x, "ndim", 0) - batched


def padded(x: Any, batched: bool, ndim: int) -> Any:
    """A batched array with axes of length one after the batch axis, so that `ndim` are seen."""
    missing = ndim - _ndim(x, batched)
    if not batched or not missing:
        return x
    return _reshape(x, shape=(x.shape[0], *(1,) * missing, *x.shape[1:]))


def everywhere(x: Any, batched: bool, size: int) -> Any:
    """The array with a batch axis, repeated along it if it had none."""
    return x if batched else _broadcast_to(x, shape=(size, *x.shape))


def plain_rule(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    """The op acts on the last axes and leaves leading ones alone."""
    return op.function(*arrays, **params)


def elementwise(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    ndim = max(_ndim(a, b) for a, b in zip(arrays, batched, strict=True))
    return op.function(
        *(padded(a, b, ndim) for a, b in zip(arrays, batched, strict=True)), **params
    )


def axis(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    """One array and a keyword `axis`, which moves one up."""
    return op.function(*arrays, **params | {"axis": _up(params["axis"], arrays[0].ndim)})


def _up(axis: Any, ndim: int) -> Any:
    if axis is None:
        return tuple(range(1, ndim))
    return tuple(a + 1 for a in axis) if isinstance(axis, tuple) else axis + 1


def shape(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    (x,) = arrays
    return op.function(x, **params | {"shape": led_by(x.shape[0], params["shape"])})


def broadcast(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    (x,) = arrays
    wide = padded(x, True, len(params["shape"]))
    return op.function(wide, shape=led_by(x.shape[0], params["shape"]))


def permute(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    return op.function(*arrays, axes=(0, *(a + 1 for a in params["axes"])))


def sequence(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    """Many arrays and a keyword `axis`."""
    size = size_of(arrays, batched)
    full = [everywhere(a, b, size) for a, b in zip(arrays, batched, strict=True)]
    return op.function(*full, axis=params["axis"] + 1)


def matmul(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    x, y = arrays
    in_x, in_y = batched
    x_ndim, y_ndim = _ndim(x, in_x), _ndim(y, in_y)
    # One large product rather than many small ones.
    if in_x and not in_y and x_ndim <= 2 and y_ndim == 2:
        return _rows_times(op, x, y)
    if in_y and not in_x and y_ndim == 1 and x_ndim == 2:
        return op.function(y, matrix_transpose(x))
    # Vectors become matrices, so that the batch axis is never taken for one of theirs.
    if x_ndim == 1:
        x = _reshape(x, shape=(*x.shape[:-1], 1, x.shape[-1]))
    if y_ndim == 1:
        y = _reshape(y, shape=(*y.shape, 1))
    ndim = max(x_ndim, y_ndim, 2)
    out = op.function(padded(x, in_x, ndim), padded(y, in_y, ndim))
    if y_ndim == 1:
        out = _reshape(out, shape=out.shape[:-1])
    if x_ndim == 1:
        last = () if y_ndim == 1 else out.shape[-1:]
        out = _reshape(out, shape=(*out.shape[: -1 if y_ndim == 1 else -2], *last))
    return out


def _rows_times(op: Op, x: Any, y: Any) -> Any:
    if x.ndim == 2 or not backend_of(x).merges_axes:
        return op.function(x, y)
    rows = _reshape(x, shape=(math.prod(x.shape[:-1]), x.shape[-1]))
    return _reshape(op.function(rows, y), shape=(*x.shape[:-1], y.shape[-1]))


def solve(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    a, b = arrays
    if batched != (False, True) or a.ndim > 2:
        return elementwise(op, arrays, batched, params)
    # One system for all members: their right-hand sides are columns of one matrix.
    turned = moveaxis(b, -2, 0)
    n = turned.shape[0]
    columns = _reshape(turned, shape=(n, math.prod(turned.shape[1:])))
    return moveaxis(_reshape(op.function(a, columns), shape=turned.shape), 0, -2)


# --- indexing ------------------------------------------------------------------------------------


def getitem(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    template = params["template"]
    if any(batched[1:]):
        return _getitem_by_batch(arrays, batched, template)
    x, *indices = arrays
    out = _getitem(x, *indices, template=(slice(None), *template))
    front = _arrays_in_front(template, tuple(indices))
    return moveaxis(out, front, 0) if front else out


def index_add(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    template, shape = params["template"], params["shape"]
    x, *indices = arrays
    size = size_of(arrays, batched)
    x = everywhere(x, batched[0], size)
    if any(batched[1:]):
        joined, full, place, n = _with_batch_index(
            x, tuple(indices), batched[1:], template, len(shape), size
        )
        if place:  # NumPy puts the arrays' axes first when the batch index joins them
            x = moveaxis(x, tuple(range(place + 1, place + 1 + n)), tuple(range(1, n + 1)))
        return _index_add(x, *joined, template=full, shape=led_by(size, shape))
    front = _arrays_in_front(template, tuple(indices))
    x = moveaxis(x, 0, front) if front else x
    return _index_add(x, *indices, template=(slice(None), *template), shape=led_by(size, shape))


def _arrays_in_front(template: Template, indices: tuple[Any, ...]) -> int:
    """How many axes NumPy puts before the batch axis: those of index arrays that stand apart."""
    if not indices or not _apart(template):
        return 0
    return max(i.ndim if backend_of(i).kind(i.dtype) == "i" else 1 for i in indices)


def _apart(template: Template) -> bool:
    """Whether index arrays (and integers, which then count as such) are separated by others."""
    where = [k for k, part in enumerate(template) if part is HOLE or isinstance(part, int)]
    return bool(where) and where[-1] - where[0] + 1 != len(where)


def _with_batch_index(
    x: Any,
    indices: tuple[Any, ...],
    batched: Flags,
    template: Template,
    ndim: int,
    size: int,
) -> tuple[list[Any], Template, int, int]:
    """An index that also picks, for each member of the batch, its own part of an array.

    Also returns where the axes of the index arrays stand in the result for one member, and how
    many they are; the new index puts them first, after the batch axis.
    """
    apart = _apart(template)
    template, indices, batched = _spelt_out(template, indices, batched, ndim)
    before = next(k for k, part in enumerate(template) if part is HOLE or isinstance(part, int))
    n = max(_ndim(i, b) for i, b in zip(indices, batched, strict=True))
    first = backend_of(x).integers(plain(x), list(range(size)))
    first = _reshape(first, shape=(size,) + (1,) * n)
    joined = [first, *(padded(i, b, n) for i, b in zip(indices, batched, strict=True))]
    return joined, (HOLE, *template), 0 if apart else before, n


def _spelt_out(
    template: Template, indices: tuple[Any, ...], batched: Flags, ndim: int
) -> tuple[Template, tuple[Any, ...], Flags]:
    """An index of an array with `ndim` axes, with slices for `...` and integers for masks."""
    rest = zip(indices, batched, strict=True)
    parts: list[Any] = []
    arrays: list[Any] = []
    flags: list[bool] = []
    for part in template:
        if part is not HOLE:
            parts.append(part)
            continue
        index, flag = next(rest)
        found = (index,)
        if backend_of(index).kind(index.dtype) == "b":
            if flag:
                raise IndexError(
                    "a boolean mask that differs over a batch gives results of different shapes; "
                    "use where() instead"
                )
            from .searching import _nonzero

            found = tuple(_nonzero(plain(index)))
        parts += [HOLE] * len(found)
        arrays += found
        flags += [flag] * len(found)
    missing = ndim - sum(part is not None and part is not Ellipsis for part in parts)
    if Ellipsis in parts:
        k = parts.index(Ellipsis)
        parts[k : k + 1] = [slice(None)] * missing
    return tuple(parts), tuple(arrays), tuple(flags)


def _getitem_by_batch(arrays: tuple[Any, ...], batched: Flags, template: Template) -> Any:
    x, *indices = arrays
    size = size_of(arrays, batched)
    x = everywhere(x, batched[0], size)
    joined, full, place, n = _with_batch_index(
        x, tuple(indices), batched[1:], template, x.ndim - 1, size
    )
    out = _getitem(x, *joined, template=full)
    if place:
        out = moveaxis(out, tuple(range(1, n + 1)), tuple(range(place + 1, place + 1 + n)))
    return out


def take(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    if not batched[1]:
        return op.function(*arrays, axis=params["axis"] + 1)
    template = (slice(None),) * params["axis"] + (HOLE,)
    return getitem(op, arrays, batched, {"template": template})


def take_along_axis(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    size = size_of(arrays, batched)
    full = [everywhere(a, b, size) for a, b in zip(arrays, batched, strict=True)]
    return op.function(*full, axis=params["axis"] + 1)


# --- without a rule ------------------------------------------------------------------------------

# Whether a loop in the place of a batching rule is reported; set by `vmap(warn_fallback=True)`.
WARN_FALLBACK: ContextVar[bool] = ContextVar("arraygrad_warn_fallback", default=False)


def loop(op: Op, arrays: tuple[Any, ...], batched: Flags, params: Params) -> Any:
    """No rule and no batched kernel: the op runs once for each member of the batch."""
    if WARN_FALLBACK.get():
        warnings.warn(
            f"{op.name} has no batching rule: it runs once for each member of the batch",
            stacklevel=2,
        )
    size = size_of(arrays, batched)
    if not size:
        raise ValueError(f"{op.name} has no batching rule and cannot run on an empty batch")
    members = [
        op.function(*(a[i] if b else a for a, b in zip(arrays, batched, strict=True)), **params)
        for i in range(size)
    ]
    if op.multiple:
        return tuple(stack(column) for column in zip(*members, strict=True))
    return stack(members)


RULES = {
    "loop": loop,
    "plain": plain_rule,
    "elementwise": elementwise,
    "axis": axis,
    "shape": shape,
    "broadcast": broadcast,
    "permute": permute,
    "sequence": sequence,
    "matmul": matmul,
    "solve": solve,
    "getitem": getitem,
    "index_add": index_add,
    "take": take,
    "take_along_axis": take_along_axis,
}


def rule_of(op: Op) -> Function:
    """The batching rule of an op."""
    return op.batch if callable(op.batch) else RULES[op.batch]
