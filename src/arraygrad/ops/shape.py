"""Ops that rearrange elements without computing: shapes, axes, joining, dtypes, devices.

All of them are linear, except a conversion to integers. Reading at an index is in `indexing`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

from ..backends import backend_of
from ..backends.filled import zeros_like
from ..core.axes import many_axes, one_axis, shape_tuple
from ..core.kinds import Elementwise, Moves
from .define.arguments import naming
from .define.library import constant, declare
from .define.signatures import A, Axis, Shape, Unary, joining, one_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "astype", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "copy",
    "expand_dims", "flatten", "flip", "matrix_transpose", "moveaxis", "permute_dims", "ravel",
    "reshape", "roll", "squeeze", "stack", "swapaxes", "tile", "to_device", "tril", "triu",
    "unstack",
]  # fmt: skip

_reshape = declare(
    "reshape",
    "x",
    vjp=lambda g, x_shape: _reshape(g, shape=x_shape),
    kind=Moves(shape="shape", shares=True),
    keywords=("copy",),
)
_permute_dims = declare(
    "permute_dims",
    "x",
    vjp=lambda g, axes: _permute_dims(g, axes=_inverse(axes)),
    kind=Moves(order="axes", shares=True),
)
# The sweep sums over broadcast axes, so the rule returns the cotangent as it is.
_broadcast_to = declare(
    "broadcast_to",
    "x",
    vjp=lambda g: g,
    kind=Moves(shape="shape", inputs="broadcast", shares=True),
)
_flip = declare(
    "flip", "x", vjp=lambda g, axis: _flip(g, axis=axis), kind=Moves(axis="axis", shares=True)
)
_roll = declare(
    "roll",
    "x",
    vjp=lambda g, shift, axis: _roll(g, shift=tuple(-s for s in shift), axis=axis),
    kind=Moves(axis="axis"),
    keywords=("shift",),
)
_concat = declare(
    "concat",
    "*arrays",
    compute=lambda xp, *arrays, axis: xp.concat(arrays, axis=axis),
    vjp=lambda g, i, shapes, axis: _piece(g, i, shapes, axis),
    kind=Moves(axis="axis", inputs="same"),
)
_stack = declare(
    "stack",
    "*arrays",
    compute=lambda xp, *arrays, axis: xp.stack(arrays, axis=axis),
    vjp=lambda g, i, axis: g[(slice(None),) * axis + (i, ...)],
    kind=Moves(axis="axis", inputs="same"),
)
_unstack = declare(
    "unstack",
    "x",
    compute=lambda xp, x, axis: tuple(
        x[(slice(None),) * axis + (i, ...)] for i in range(x.shape[axis])
    ),
    vjp=lambda gs, axis: _stack(*_filled(gs), axis=axis),
    kind=Moves(axis="axis", shares=True),
    multiple=True,
)
_astype = declare(
    "astype",
    "x",
    compute=lambda xp, x, dtype, copy: xp.astype(x, dtype, copy=copy),
    vjp=lambda g: g,  # the sweep casts it back
    kind=Elementwise(linear=True),
    holomorphic=False,
)
_to_integers: Any = constant(
    "astype_constant", "x", compute=lambda xp, x, dtype, copy: xp.astype(x, dtype, copy=copy)
)
copy: Unary = declare(
    "copy",
    "x",
    compute=lambda xp, x: xp.asarray(x, copy=True),
    vjp=lambda g: g,
    kind=Elementwise(linear=True),
    holomorphic=False,
    doc="A copy. The gradient passes through it.",
)
_to_device = declare(
    "to_device",
    "x",
    compute=lambda xp, x, device, stream: _array_to_device(x, device, stream),
    vjp=lambda g, x_device: _to_device(g, device=x_device, stream=None),
    kind=Elementwise(linear=True),
    holomorphic=False,
)
_tril = declare("tril", "x", vjp=lambda g, k: _tril(g, k=k), kind=Moves(), keywords=("k",))
_triu = declare("triu", "x", vjp=lambda g, k: _triu(g, k=k), kind=Moves(), keywords=("k",))


def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    if len(axes) <= 2:  # which is its own
        return axes
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def _piece(g: Any, i: int, shapes: list[tuple[int, ...]], axis: int) -> Any:
    """The part of a concatenation's cotangent that belongs to array `i`."""
    start = sum(shape[axis] for shape in shapes[:i])
    return g[(slice(None),) * axis + (slice(start, start + shapes[i][axis]), ...)]


def _filled(gs: list[Any]) -> list[Any]:
    """Cotangents of outputs of one shape, with zeros for outputs that have none."""
    zero = zeros_like(next(g for g in gs if g is not None))
    return [zero if g is None else g for g in gs]


@one_array
def reshape(x: Any, /, shape: Shape, *, copy: bool | None = None) -> Any:
    """An array of another shape with the same elements in the same order.

    One length may be -1: it is computed from the others.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.reshape(ag.tensor([1.0, 2.0, 3.0, 4.0]), (2, -1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    wanted, size = shape_tuple(shape), math.prod(x.shape)
    if -1 in wanted:
        rest = math.prod(n for n in wanted if n != -1)
        if wanted.count(-1) > 1 or rest == 0 or size % rest:
            raise ValueError(f"cannot reshape an array of shape {x.shape} into {wanted}")
        wanted = tuple(size // rest if n == -1 else n for n in wanted)
    elif math.prod(wanted) != size or min(wanted, default=0) < 0:
        raise ValueError(f"cannot reshape an array of shape {x.shape} into {wanted}")
    if copy is None:
        return _reshape(x, shape=wanted)
    return _reshape(x, shape=wanted, copy=copy)


@one_array
def permute_dims(x: Any, /, axes: Any) -> Any:
    """Reorder the axes of an array.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.permute_dims(ag.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    order = tuple(one_axis(a, x.ndim, "axes") for a in axes)
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"axes must name each of the {x.ndim} axes once, got {tuple(axes)}")
    return _permute_dims(x, axes=order)


@one_array
def matrix_transpose(x: Any, /) -> Any:
    """Swap the last two axes.

    >>> ag.matrix_transpose(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 3.],
            [2., 4.]])
    """
    _matrices(x, "matrix_transpose")
    return _permute_dims(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@one_array
def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """Move axes to new positions; the others keep their order.

    >>> ag.moveaxis(ag.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    sources = many_axes(source, x.ndim, "source") or ()
    destinations = many_axes(destination, x.ndim, "destination") or ()
    if len(sources) != len(destinations):
        raise ValueError("source and destination must name the same number of axes")
    order = [a for a in range(x.ndim) if a not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return _permute_dims(x, axes=tuple(order))


@one_array
def swapaxes(x: Any, axis1: int, axis2: int, /) -> Any:
    """Exchange two axes.

    >>> ag.swapaxes(ag.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a, b = one_axis(axis1, x.ndim, "axis1"), one_axis(axis2, x.ndim, "axis2")
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return _permute_dims(x, axes=tuple(order))


@one_array
def expand_dims(x: Any, /, axis: int | tuple[int, ...] | list[int] = 0) -> Any:
    """Insert axes of length one at the positions `axis` of the result.

    >>> ag.expand_dims(ag.ones(3), axis=0).shape
    (1, 3)
    """
    places = axis if isinstance(axis, tuple | list) else (axis,)
    ndim = x.ndim + len(places)
    found = many_axes(tuple(places), ndim)
    rest = iter(x.shape)
    return _reshape(x, shape=tuple(1 if i in (found or ()) else next(rest) for i in range(ndim)))


@one_array
def squeeze(x: Any, /, axis: Axis = None) -> Any:
    """Remove axes of length one: the given axes, or all.

    >>> ag.squeeze(ag.ones((1, 3, 1)), axis=0).shape
    (3, 1)
    """
    if axis is None:
        return _reshape(x, shape=tuple(n for n in x.shape if n != 1))
    dropped = many_axes(axis, x.ndim, numbers=True) or ()
    for a in dropped:
        if x.shape[a] != 1:
            raise ValueError(f"cannot squeeze axis {a} of length {x.shape[a]}")
    return _reshape(x, shape=tuple(n for i, n in enumerate(x.shape) if i not in dropped))


@one_array
def ravel(x: Any, /) -> Any:
    """All elements in one axis.

    >>> ag.ravel(ag.ones((2, 3))).shape
    (6,)
    """
    return _reshape(x, shape=(math.prod(x.shape),))


@one_array
def flatten(x: Any, /, start_axis: int = 0, end_axis: int = -1) -> Any:
    """Merge the axes from `start_axis` to `end_axis` into one.

    >>> ag.flatten(ag.ones((2, 3, 4)), start_axis=1).shape
    (2, 12)
    """
    if x.ndim == 0:
        return _reshape(x, shape=(1,))
    first = one_axis(start_axis, x.ndim, "start_axis")
    last = one_axis(end_axis, x.ndim, "end_axis")
    if first > last:
        raise ValueError(f"start_axis {start_axis} comes after end_axis {end_axis}")
    merged = math.prod(x.shape[first : last + 1])
    return _reshape(x, shape=(*x.shape[:first], merged, *x.shape[last + 1 :]))


@one_array
def broadcast_to(x: Any, /, shape: Shape) -> Any:
    """Repeat an array along new axes and axes of length one, without copying it.

    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> ag.grad(ag.broadcast_to(x, (3, 2)).sum(), x)
    tensor([3., 3.])
    """
    wanted = shape_tuple(shape)
    if x.shape == wanted:
        return x
    if len(wanted) < x.ndim or broadcast_shapes(x.shape, wanted) != wanted:
        raise ValueError(f"an array of shape {x.shape} does not broadcast to {wanted}")
    return _broadcast_to(x, shape=wanted)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of arrays of the given shapes after broadcasting.

    >>> ag.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    ndim = max(map(len, shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for i, n in enumerate(shape, ndim - len(shape)):
            if n != 1 and result[i] not in (1, n):
                raise ValueError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
            result[i] = n if n != 1 else result[i]
    return tuple(result)


@overload
def broadcast_arrays(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]: ...
@overload
def broadcast_arrays(*arrays: A) -> tuple[A, ...]: ...
@naming("*arrays")
def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """Broadcast arrays against each other.

    >>> [a.shape for a in ag.broadcast_arrays(ag.ones((2, 1)), ag.ones(3))]
    [(2, 3), (2, 3)]
    """
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return tuple(broadcast_to(a, shape) for a in arrays)


@one_array
def flip(x: Any, /, *, axis: Axis = None) -> Any:
    """Reverse the order of elements along the given axes, or along all.

    >>> ag.flip(ag.tensor([1.0, 2.0, 3.0]))
    tensor([3., 2., 1.])
    """
    return _flip(x, axis=tuple(range(x.ndim)) if axis is None else many_axes(axis, x.ndim))


@one_array
def roll(x: Any, /, shift: Any, *, axis: Axis = None) -> Any:
    """Shift elements along axes; elements that leave at one end come back at the other.

    >>> ag.roll(ag.tensor([1.0, 2.0, 3.0]), 1)
    tensor([3., 1., 2.])
    """
    if axis is None:
        if isinstance(shift, tuple | list):
            raise TypeError("shift must be an integer when axis is None")
        return reshape(roll(ravel(x), shift, axis=0), x.shape)
    axes = tuple(one_axis(a, x.ndim) for a in (axis if isinstance(axis, tuple | list) else (axis,)))
    shifts = (
        shape_tuple(shift, "shift")
        if isinstance(shift, tuple | list)
        else shape_tuple(shift, "shift") * len(axes)
    )
    if len(shifts) != len(axes):
        raise ValueError("shift and axis must have the same length")
    return _roll(x, shift=shifts, axis=axes)


@joining
def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Join arrays along an existing axis; with None, the arrays are flattened first.

    >>> ag.concat([ag.tensor([1.0]), ag.tensor([2.0, 3.0])])
    tensor([1., 2., 3.])
    """
    arrays = tuple(arrays)
    if not arrays:
        raise ValueError("arrays must not be empty")
    if axis is None:
        arrays, axis = tuple(ravel(a) for a in arrays), 0
    return _concat(*arrays, axis=one_axis(axis, arrays[0].ndim))


@joining
def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Join arrays along a new axis.

    >>> ag.stack([ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0])])
    tensor([[1., 2.],
            [3., 4.]])
    """
    arrays = tuple(arrays)
    if not arrays:
        raise ValueError("arrays must not be empty")
    return _stack(*arrays, axis=one_axis(axis, arrays[0].ndim + 1))


@overload
def unstack(x: NDArray[Any], /, *, axis: int = 0) -> tuple[NDArray[Any], ...]: ...
@overload
def unstack(x: A, /, *, axis: int = 0) -> tuple[A, ...]: ...
@naming("x")
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Split an array into its slices along an axis.

    >>> ag.unstack(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    (tensor([1., 2.]), tensor([3., 4.]))
    """
    return tuple(_unstack(x, axis=one_axis(axis, x.ndim)))


@one_array
def tile(x: Any, repetitions: Any, /) -> Any:
    """Repeat a whole array along each axis.

    >>> ag.tile(ag.tensor([1.0, 2.0]), (2, 2))
    tensor([[1., 2., 1., 2.],
            [1., 2., 1., 2.]])
    """
    counts = counts_tuple(repetitions, "repetitions")
    ndim = max(len(counts), x.ndim)
    counts = (1,) * (ndim - len(counts)) + counts
    shape = (1,) * (ndim - x.ndim) + tuple(x.shape)
    apart = tuple(n for size in shape for n in (1, size))
    repeated = tuple(n for pair in zip(counts, shape, strict=True) for n in pair)
    merged = tuple(c * n for c, n in zip(counts, shape, strict=True))
    parts = broadcast_to(_reshape(x, shape=apart), repeated)
    return _reshape(parts, shape=merged, copy=True)


def counts_tuple(value: Any, name: str) -> tuple[int, ...]:
    """Numbers of repetitions, given as an integer or a sequence, as a tuple of integers."""
    counts = shape_tuple(value, name)
    if any(n < 0 for n in counts):
        raise ValueError(f"{name} must not be negative, got {value}")
    return counts


def as_inexact(x: Any) -> Any:
    """Integers and booleans as floating-point numbers."""
    backend = backend_of(x)
    return astype(x, backend.dtype(float)) if backend.kind(x.dtype) in "bi" else x


@one_array
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Convert to another dtype, and move to a device. The gradient has the dtype of `x`.

    >>> x = ag.tensor([1.5, 2.5], requires_grad=True)
    >>> ag.grad(ag.astype(x, ag.float32).sum(), x).dtype
    dtype('float64')
    """
    if device is not None:
        x = to_device(x, device)
    if not copy and x.dtype is dtype:
        return x
    to = backend_of(x).dtype(dtype)
    if not copy and x.dtype == to:
        return x
    if backend_of(x).kind(to) in "fc":
        return _astype(x, dtype=to, copy=copy)
    return _to_integers(x, dtype=to, copy=copy)


@one_array
def to_device(x: Any, device: Any, /, *, stream: Any = None) -> Any:
    """Move an array to another device. The gradient is on the device of `x`.

    >>> ag.to_device(ag.ones(2), "cpu")
    tensor([1., 1.])
    """
    return _to_device(x, device=device, stream=stream)


def _array_to_device(x: Any, device: Any, stream: Any) -> Any:
    from array_api_compat import to_device

    return to_device(x, device, stream=stream)


@one_array
def tril(x: Any, /, *, k: int = 0) -> Any:
    """The lower triangle: zero above diagonal `k` of the last two axes.

    >>> ag.tril(ag.ones((2, 2)))
    tensor([[1., 0.],
            [1., 1.]])
    """
    return _tril(_matrices(x, "tril"), k=k)


@one_array
def triu(x: Any, /, *, k: int = 0) -> Any:
    """The upper triangle: zero below diagonal `k` of the last two axes.

    >>> ag.triu(ag.ones((2, 2)))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return _triu(_matrices(x, "triu"), k=k)


def _matrices(x: Any, name: str) -> Any:
    if x.ndim < 2:
        raise ValueError(f"{name} needs at least 2 dimensions, got shape {x.shape}")
    return x
