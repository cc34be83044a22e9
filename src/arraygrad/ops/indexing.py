"""Reading elements at an index, adding at an index, and sorting. Writing is in `writing`.

An index is split into its arrays, which are inputs of the op, and a template; see `core.indices`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..backends import backend_of, default
from ..backends.arraylikes import ARRAY_LIKE, values_of
from ..core.array import Array, plain
from ..core.axes import one_axis
from ..core.indices import HOLE, Template, fill
from ..core.kinds import AlongAxis, Moves
from .define.adoption import in_library_of
from .define.library import constant, declare
from .define.op import Own
from .define.rules import Partial
from .define.signatures import one_array
from .shape import _reshape, ravel

__all__ = ["argsort", "sort", "take", "take_along_axis"]


def _add_at(xp: Any, x: Any, *indices: Any, template: Template, shape: tuple[int, ...]) -> Any:
    """Zeros of the given shape with `x` added at an index; repeated places get the sum."""
    out = xp.zeros(shape, dtype=x.dtype, device=x.device)
    index = fill(template, indices)
    if hasattr(out, "at"):  # JAX's arrays cannot be written
        return out.at[index].add(x)
    if all(xp.isdtype(i.dtype, "bool") for i in indices):
        out[index] = x
        return out
    add_at = getattr(xp.add, "at", None)  # NumPy's and CuPy's functions have it
    if add_at and len(shape) == 1:
        add_at(out, index, x)
        return out
    # With one axis, it is several times faster than with many.
    places = xp.reshape(xp.arange(math.prod(shape), device=x.device), shape)[index]
    values = xp.reshape(xp.broadcast_to(x, places.shape), (-1,))
    places, flat = xp.reshape(places, (-1,)), xp.reshape(out, (-1,))
    if add_at:
        add_at(flat, places, values)
    else:
        for k in range(places.shape[0]):
            flat[int(places[k])] += values[k]
    return xp.reshape(flat, shape)


def _part(
    g: Any, pullback: Any, wanted: list[bool], saved: Any, spare: bool
) -> list[Partial | None]:
    """The cotangent of the part that was read.

    The rule would make an array of zeros for each read, and add it to the whole cotangent. This way
    the gradient of a loop that reads single elements takes linear time.
    """
    indices, template, _ = saved
    return [(g, (template, indices)) if wanted[0] else None]


_getitem = declare(
    "getitem",
    "x",
    "*indices",
    compute=lambda xp, x, *indices, template: x[fill(template, indices)],
    vjp_x=lambda g, x_shape, indices, template: _index_add(
        g, *indices, template=template, shape=x_shape
    ),
    kind=Moves(indices=("indices",), template="template", shares=True),
    own=Own(partial=_part),
)
_index_add = declare(
    "index_add",
    "x",
    "*indices",
    compute=_add_at,
    vjp_x=lambda g, indices, template: _getitem(g, *indices, template=template),
    kind=Moves(indices=("indices",), template="template", shape="shape", adds=True),
)
# The functions that read at an index without arrays, by the type of the array that is read.
_by_types = _getitem.op.table  # type: ignore[attr-defined]
# For NumPy, it is the kernel with fewer calls.
_by_types[np.ndarray,] = lambda x, params: x[params["template"]]
_take = declare(
    "take",
    "x",
    "indices",
    vjp_x=lambda g, x_shape, indices, axis: _index_add(
        g, indices, template=(slice(None),) * axis + (HOLE,), shape=x_shape
    ),
    kind=Moves(indices=("indices",), axis="axis"),
)
_take_along_axis = declare(
    "take_along_axis",
    "x",
    "indices",
    vjp_x=lambda g, x_shape, indices, axis: _add_along_axis(g, indices, axis=axis, shape=x_shape),
    kind=Moves(indices=("indices",), axis="axis", inputs="same"),
)
_argsort = constant(
    "argsort",
    "x",
    kind=AlongAxis(),
    keywords=("descending", "stable"),
)


def _added_along_axis(xp: Any, x: Any, indices: Any, axis: int, shape: tuple[int, ...]) -> Any:
    places, ndim = [indices] * len(shape), len(shape)
    for i, n in enumerate(shape):
        if i != axis:
            along = backend_of(x).integers(x, list(range(n)))
            places[i] = xp.reshape(along, (1,) * i + (n,) + (1,) * (ndim - i - 1))
    return _index_add(x, *places, template=(HOLE,) * ndim, shape=shape)


# The transpose of `take_along_axis`: adds elements at the places that they came from.
_add_along_axis = declare(
    "add_along_axis",
    "x",
    "indices",
    compute=_added_along_axis,
    vjp_x=lambda g, indices, axis: _take_along_axis(g, indices, axis=axis),
    kind=Moves(indices=("indices",), axis="axis", shape="shape", adds=True, inputs="same"),
)


# --- the public functions ------------------------------------------------------------------------


def getitem(x: Any, key: Any, /) -> Any:
    """Read elements: `x[key]`, for every kind of key that NumPy accepts.

    A key consists of integers, slices with any step, `...`, `None`, integer arrays, boolean masks,
    lists, in any mixture. An element that is read several times gets the sum of the gradients.
    """
    template, indices = split_index(x, key)
    if not indices:
        return _by_types[type(x),](x, {"template": template})
    return _getitem(x, *indices, template=template)


def split_index(x: Any, key: Any) -> tuple[Template, tuple[Any, ...]]:
    """The template of an index for `x`, and the arrays for its holes."""
    shape = x.shape
    if shape:  # the most common keys, without a loop over their parts
        if type(key) is slice:
            return (_plain_slice(key),), ()
        if type(key) is int and -shape[0] <= key < shape[0]:
            return ((key,) if len(shape) == 1 else (key, Ellipsis)), ()
        if type(key) is tuple and len(key) == 2 and key[1] is Ellipsis and type(key[0]) is int:
            if -shape[0] <= key[0] < shape[0]:
                return key, ()
    parts = key if isinstance(key, tuple) else (key,)
    template: list[Any] = []
    indices: list[Any] = []
    for part in parts:
        if part is None or part is Ellipsis or type(part) is int:
            template.append(part)
            continue
        if isinstance(part, slice):
            template.append(_plain_slice(part))
            continue
        if ARRAY_LIKE[type(part)]:
            part = values_of(part)
        if isinstance(part, bool) or _is_mask(part):  # a 0-d mask is not an integer either
            template.append(HOLE)
            indices.append(_index_array(x, part))
        elif hasattr(part, "__index__") and not getattr(part, "ndim", 0) and _is_known(part):
            template.append(operator.index(part))
        else:
            template.append(HOLE)
            indices.append(_index_array(x, part))
    if not indices:  # else only the backend knows how many axes a mask takes
        numbers = _check_bounds(shape, template)
        if numbers == len(template) < len(shape):
            template.append(Ellipsis)  # only an item has a template of nothing but integers
    return tuple(template), tuple(indices)


def _is_mask(part: Any) -> bool:
    return hasattr(part, "dtype") and backend_of(part).kind(part.dtype) == "b"


def _is_known(part: Any) -> bool:
    """Whether an integer is known now, and is one number: not one for each member of a batch."""
    if not hasattr(part, "dtype"):
        return True
    inner = part
    while isinstance(inner, Array) and not inner.is_plain:
        inner = inner._array
        if not hasattr(inner, "__index__"):
            return False
    return backend_of(part).has_values(plain(part))


def _plain_slice(part: slice) -> slice:
    start, stop, step = part.start, part.stop, part.step
    for end in (start, stop, step):
        if end is not None and type(end) is not int:
            break
    else:
        return part
    return slice(*(None if e is None else operator.index(e) for e in (start, stop, step)))


def _index_array(x: Any, part: Any) -> Any:
    """A part of an index as an array of integers or booleans, in the library of `x`."""
    part = values_of(part)
    if not hasattr(part, "dtype"):
        part = np.asarray(part)
        if part.size == 0:
            part = part.astype(np.intp)
    backend = backend_of(part)
    if backend.kind(part.dtype) not in "bi":
        raise IndexError(f"an index must be integers or booleans, got dtype {part.dtype}")
    return part if backend is not default or backend_of(x) is default else in_library_of(x, part)


def _check_bounds(shape: tuple[int, ...], template: list[Any]) -> int:
    """The number of integers in an index of integers, slices, None and `...`.

    Raises an IndexError that names the axis. The error of a backend may not name it.
    """
    ndim, dots = len(shape), template.count(Ellipsis)
    used = len(template) - dots - template.count(None)
    if dots > 1:
        raise IndexError("an index can have only one `...`")
    if used > ndim:
        raise IndexError(f"too many indices: {used} for an array of {ndim} dimensions")
    axis = numbers = 0
    for part in template:
        if part is None:
            continue
        if part is Ellipsis:
            axis += ndim - used
            continue
        if isinstance(part, int):
            numbers += 1
            n = shape[axis]
            if n == n and not -n <= part < n:
                raise IndexError(f"index {part} is out of range for axis {axis} with length {n}")
        axis += 1
    return numbers


def iterate(x: Any) -> Iterator[Any]:
    """The slices of an array along its first axis: each as it is when its turn comes."""
    if x.ndim == 0:
        raise TypeError("cannot iterate over a 0-d array")
    return (x[i] for i in range(x.shape[0]))


@one_array
def take(x: Any, indices: Any, /, axis: int | None = None) -> Any:
    """Read elements at integer indices along an axis.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ag.grad(ag.take(x, ag.asarray([0, 0, 2])).sum(), x)
    tensor([2., 0., 1.])
    """
    if axis is None:
        x, axis = (x, 0) if x.ndim == 1 else (ravel(x), 0)
    axis = one_axis(axis, x.ndim)
    indices = _index_array(x, indices)
    if indices.ndim == 1 or backend_of(x) is default:
        return _take(x, indices, axis=axis)
    # The standard's `take` accepts one-dimensional indices only.
    out = _take(x, ravel(indices), axis=axis)
    return _reshape(out, shape=(*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


@one_array
def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Read one element for each of `indices` along an axis; the result has their shape.

    >>> x = ag.tensor([[3.0, 1.0], [2.0, 4.0]])
    >>> ag.take_along_axis(x, ag.argmax(x, axis=1, keepdims=True), axis=1)
    tensor([[3.],
            [4.]])
    """
    axis = one_axis(axis, x.ndim)
    indices = _index_array(x, indices)
    if indices.ndim != x.ndim:
        raise ValueError(f"indices has {indices.ndim} dimensions, x has {x.ndim}")
    return _take_along_axis(x, indices, axis=axis)


@one_array
def argsort(x: Any, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Any:
    """The indices that sort an array along an axis.

    >>> ag.argsort(ag.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    return _argsort(x, axis=one_axis(axis, x.ndim), descending=descending, stable=stable)


@one_array
def sort(x: Any, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Any:
    """Sort an array along an axis. Each element gets the gradient of its new place.

    >>> x = ag.tensor([3.0, 1.0, 2.0], requires_grad=True)
    >>> ag.grad(ag.sort(x) @ ag.tensor([1.0, 10.0, 100.0]), x)
    tensor([100.,   1.,  10.])
    """
    if isinstance(x, Array):
        order = argsort(x, axis=axis, descending=descending, stable=stable)
        return take_along_axis(x, order, axis=axis)
    axis = one_axis(axis, x.ndim)
    return _sort(x, axis=axis, descending=descending, stable=stable)


_sort = constant(
    "sort",
    "x",
    kind=AlongAxis(),
    keywords=("descending", "stable"),
)
