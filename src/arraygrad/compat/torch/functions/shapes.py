"""The same elements in another shape or order: views of one tensor."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from .... import ops
from ....arrays.batched import Batched
from ....arrays.creation import asarray
from ....arrays.dual import Dual
from ....arrays.tensor import Tensor as Native
from ....core.array import Array, plain
from ....core.memory import owner_of
from ....ops.pairs import as_pairs, from_pairs
from ..dtypes import Size
from ..handles import origin_of
from ..publish import function
from .axes import check_axes, checked

# The names of `torch` that are made here.
__all__ = [
    "adjoint", "as_strided", "broadcast_shapes", "broadcast_tensors", "broadcast_to", "diagonal",
    "expand", "expand_as", "flatten", "moveaxis", "movedim", "narrow", "permute", "ravel",
    "reshape", "reshape_as", "select", "squeeze", "swapaxes", "swapdims", "t", "transpose",
    "unflatten", "unfold", "unsqueeze", "view", "view_as", "view_as_complex", "view_as_real",
]  # fmt: skip


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Lengths that were given one by one, or as one tuple."""
    if len(given) == 1 and isinstance(given[0], tuple | list):
        given = tuple(given[0])
    for n in given:
        if type(n) is not int:
            return tuple(int(asarray(n).item()) if isinstance(n, Array) else int(n) for n in given)
    return given


# --- views ---


reshape = function(lambda input, *shape: ops.reshape(input, sizes(shape)), name="reshape")


@function
def view(input: Any, *shape: Any, dtype: Any = None) -> Any:
    """The same elements in another shape, on the same memory; or as another dtype."""
    wanted = dtype if dtype is not None else shape[0] if len(shape) == 1 else None
    if isinstance(wanted, np.dtype):
        if wanted == input.dtype:
            return input[...]
        return asarray(np.asarray(input.array).view(wanted))
    size = sizes(shape)
    if size and not _viewable(input, size):
        raise RuntimeError(
            f"view() of shape {size}: the elements are not in this order in memory: use reshape()"
        )
    return ops.reshape(input, size)


def in_memory(array: Any) -> Any:
    """The NumPy array of a tensor; in a batch, that of its first member; None if there is none."""
    batches = 0
    while isinstance(array, Array):
        batches += isinstance(array, Batched)
        array = array.primal if isinstance(array, Dual) else array._array
    if not isinstance(array, np.ndarray) or array.ndim < batches or 0 in array.shape[:batches]:
        return None
    return array[(0,) * batches]


def _viewable(input: Any, shape: tuple[int, ...]) -> bool:
    array = in_memory(input)
    if array is None:
        return True
    if array.flags.c_contiguous or not array.size:
        return True
    try:
        probe = array.view()
        probe.shape = shape
    except (AttributeError, ValueError):
        rest = math.prod(n for n in shape if n != -1)
        return builtins.bool(rest and array.size % rest)  # a wrong shape is another error
    return True


view_as = function(lambda input, other: view.__wrapped__(input, tuple(other.shape)), name="view_as")
reshape_as = function(lambda input, other: ops.reshape(input, other.shape), name="reshape_as")


@function
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Several axes as one."""
    if not input.ndim:
        return ops.reshape(input, (1,))
    first, last = checked(start_dim, input.ndim), checked(end_dim, input.ndim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = input.shape
    return ops.reshape(
        input, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])
    )


@function
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """One axis as several."""
    axis = checked(dim, input.ndim)
    parts = list(sizes)
    if -1 in parts:
        rest = -math.prod(parts)
        parts[parts.index(-1)] = input.shape[axis] // rest
    return ops.reshape(input, (*input.shape[:axis], *parts, *input.shape[axis + 1 :]))


ravel = function(lambda input: ops.reshape(input, (-1,)), name="ravel")


@function
def t(input: Any) -> Any:
    """The transpose of a matrix."""
    if input.ndim > 2:
        raise RuntimeError(f"t() is for matrices and vectors, this tensor has {input.ndim} axes")
    return ops.matrix_transpose(input) if input.ndim == 2 else input


@function
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two axes swapped."""
    first, second = checked(dim0, input.ndim), checked(dim1, input.ndim)
    return ops.swapaxes(input, first, second) if input.ndim else input


swapaxes = swapdims = transpose


def adjoint_of(x: Any) -> Any:
    """The last two axes swapped, and conjugated."""
    swapped = ops.matrix_transpose(x)
    return ops.conj(swapped) if x.dtype.kind == "c" else swapped


adjoint = function(lambda input: adjoint_of(input), name="adjoint")


@function
def permute(input: Any, *dims: Any) -> Any:
    """The axes in another order."""
    order = sizes(dims)
    if len(order) != input.ndim:
        raise RuntimeError(f"permute() needs {input.ndim} axes, not {len(order)}")
    return ops.permute_dims(input, order)


movedim = function(
    lambda input, source, destination: ops.moveaxis(input, source, destination), name="movedim"
)
moveaxis = movedim
unsqueeze = function(
    lambda input, dim: ops.expand_dims(input, checked(dim, input.ndim + 1)), name="unsqueeze"
)


@function
def squeeze(input: Any, dim: Any = None) -> Any:
    """Without axes of length one."""
    if dim is None:
        axes = tuple(i for i, n in enumerate(input.shape) if n == 1)
    else:
        given = dim if isinstance(dim, tuple | list) else (dim,)
        axes = tuple(
            a for a in (checked(d, input.ndim) for d in given) if input.ndim and input.shape[a] == 1
        )
    return ops.squeeze(input, axis=axes) if axes else input[...]


@function
def expand(input: Any, *size: Any) -> Any:
    """Axes of length one stretched, without a copy; -1 leaves an axis as it is."""
    wanted = sizes(size)
    lead = len(wanted) - input.ndim
    if lead < 0:
        raise RuntimeError(f"expand() to {wanted} has fewer axes than shape {tuple(input.shape)}")
    full = tuple(
        input.shape[i - lead] if n == -1 and i >= lead else n for i, n in enumerate(wanted)
    )
    return ops.broadcast_to(input, full)


expand_as = function(lambda input, other: ops.broadcast_to(input, other.shape), name="expand_as")
broadcast_to = function(
    lambda input, size: ops.broadcast_to(input, tuple(size)), name="broadcast_to"
)


@function(method=False)
def broadcast_tensors(*tensors: Any) -> Any:
    """Tensors stretched to a common shape."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else tensors
    return tuple(ops.broadcast_arrays(*given))


def broadcast_shapes(*shapes: Any) -> Size:
    """The common shape of several."""
    try:
        return Size(
            ops.broadcast_shapes(*((s,) if isinstance(s, int) else tuple(s) for s in shapes))
        )
    except ValueError as error:
        raise RuntimeError(str(error)) from error


@function
def select(input: Any, dim: int, index: Any) -> Any:
    """One slice along an axis, without the axis."""
    axis = checked(dim, input.ndim)
    if not input.ndim:
        raise IndexError("select() is not for 0-d tensors")
    return input[(slice(None),) * axis + (int(index),)]


@function
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Some neighbouring slices along an axis."""
    check_axes("narrow", input, 1)
    axis = checked(dim, input.ndim)
    if isinstance(start, Array):
        if start.ndim or start.dtype.kind not in "iu":
            raise RuntimeError("narrow(): start must be an 0-dim integral Tensor.")
        start = asarray(start).item()
    span = input.shape[axis]
    if not -span <= start <= span:
        raise IndexError(
            f"narrow(): start out of range (expected to be in range of [-{span}, {span}], but got "
            f"{start})"
        )
    begin = start + span if start < 0 else start
    if length < 0 or begin + length > span:
        raise RuntimeError(
            f"narrow(): start {start} and length {length} are beyond the axis of length {span}"
        )
    return input[(slice(None),) * axis + (slice(begin, begin + length),)]


diagonal = function(
    lambda input, offset=0, dim1=0, dim2=1: ops.diagonal(input, offset, dim1, dim2), name="diagonal"
)


@function
def unfold(input: Any, dimension: int, size: int, step: int) -> Any:
    """All windows of a length along an axis, on a new last axis."""
    axis = checked(dimension, input.ndim)
    if not input.ndim:
        input = ops.reshape(input, (1,))
        if size == 1:
            return input
    if size > input.shape[axis] or step < 1:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {input.shape[axis]} but size is "
            f"{size}, by steps of {step}"
        )
    count = (input.shape[axis] - size) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(size)
    lead = (slice(None),) * axis
    return ops.moveaxis(_unwritten(input[(*lead, places)]), axis + 1, -1)


@function
def as_strided(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """Elements of the memory at given steps."""
    memory, start = memory_of(input)
    place = places_in_memory(size, stride, start if storage_offset is None else storage_offset)
    return _unwritten(memory[place])


def _unwritten(copy: Any) -> Any:
    """A copy of elements that is a view in PyTorch: what is written to it would be lost."""
    array = plain(copy)
    if isinstance(array, np.ndarray):
        array.flags.writeable = False
    return copy


def memory_of(input: Any) -> tuple[Any, int]:
    """All elements of the tensor that another one is a view of, in order; and where it starts."""
    origin = origin_of(input)
    if origin is None or not isinstance(origin.base, Array):
        return ops.reshape(input, (-1,)), 0
    whole, part = plain(origin.base), plain(input)
    if not isinstance(whole, np.ndarray) or not whole.flags.c_contiguous:
        raise RuntimeError("the elements are not in order in memory: use contiguous() before")
    begin = [x.__array_interface__["data"][0] for x in (whole, part)]
    memory, start = ops.reshape(origin.base, (-1,)), (begin[1] - begin[0]) // whole.itemsize
    if isinstance(input, Native) and input.requires_grad and input.is_leaf and input.size:
        # What it is given is its own gradient, and not that of the base.
        own = np.full(whole.size, -1)
        strides = [step // whole.itemsize for step in part.strides]
        own[places_in_memory(part.shape, strides, start)] = np.arange(part.size).reshape(part.shape)
        memory = ops.where(own >= 0, ops.reshape(input, (-1,))[np.maximum(own, 0)], plain(memory))
    return memory, start


def offset_of(array: Any) -> int:
    """How many elements the memory of a NumPy array has before its first one."""
    owner = owner_of(array)
    if not isinstance(owner, np.ndarray) or not array.size:
        return 0
    first, start = (a.__array_interface__["data"][0] for a in (array, owner))
    return int((first - start) // array.itemsize)


def places_in_memory(size: Any, stride: Any, start: int) -> Any:
    """The places of elements at given steps."""
    place = np.full(tuple(size), start, np.int64)
    for axis, (length, step) in enumerate(zip(size, stride, strict=True)):
        shape = [1] * len(size)
        shape[axis] = length
        place = place + np.reshape(np.arange(length) * step, shape)
    return place


@function
def view_as_real(input: Any) -> Any:
    """Complex numbers as pairs of real numbers, on a new last axis and the same memory."""
    if input.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return as_pairs(input)


@function
def view_as_complex(input: Any) -> Any:
    """Pairs of real numbers along the last axis as complex numbers, on the same memory."""
    if input.dtype not in (np.float32, np.float64):
        raise RuntimeError(
            "view_as_complex is only supported for float and double tensors, but got a tensor of "
            f"{input.dtype}"
        )
    if not input.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2, not shape {tuple(input.shape)}"
        )
    array = in_memory(input)
    if array is not None and array.size and array.strides[-1] != array.itemsize:
        raise RuntimeError(
            "Tensor must have a last dimension with stride 1, which makes pairs of neighbours in "
            "memory: use contiguous() before"
        )
    return from_pairs(input)
