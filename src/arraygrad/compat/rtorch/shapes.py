"""Functions that move elements: shapes, parts, places. Dimensions and places count from one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...arrays.tensor import Tensor
from .numbers import LONG, axes, axis, dtype_of, sizes, whole


def reshape(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape."""
    return ops.reshape(self, sizes(shape))


def flatten(self: Tensor, start_dim: Any = 1, end_dim: Any = -1) -> Tensor:
    """Several dimensions as one."""
    if self.ndim == 0:
        return ops.reshape(self, (1,))
    first, last = axis(start_dim, self.ndim, "start_dim"), axis(end_dim, self.ndim, "end_dim")
    return ops.reshape(self, (*self.shape[:first], -1, *self.shape[last + 1 :]))


def squeeze(self: Tensor, dim: Any = None) -> Tensor:
    """Without dimensions of length one; with `dim`, without this one if it has length one."""
    if dim is None:
        return ops.squeeze(self)
    along = axis(dim, self.ndim)
    return ops.squeeze(self, axis=along) if self.shape[along] == 1 else self


def unsqueeze(self: Tensor, dim: Any) -> Tensor:
    """With one more dimension, of length one."""
    return ops.expand_dims(self, axis(dim, self.ndim + 1))


def transpose(self: Tensor, dim0: Any, dim1: Any) -> Tensor:
    """With two dimensions exchanged."""
    return ops.swapaxes(self, axis(dim0, self.ndim, "dim0"), axis(dim1, self.ndim, "dim1"))


def t(self: Tensor) -> Tensor:
    """The transpose of a matrix; a vector stays what it is."""
    if self.ndim > 2:
        raise RuntimeError(f"t() is for at most 2 dimensions, and the tensor has {self.ndim}")
    return ops.matrix_transpose(self) if self.ndim == 2 else self


def permute(self: Tensor, *dims: Any) -> Tensor:
    """With the dimensions in another order."""
    return ops.permute_dims(self, tuple(axis(d, self.ndim, "dims") for d in sizes(dims)))


def expand(self: Tensor, *shape: Any) -> Tensor:
    """Repeated along dimensions of length one; -1 keeps a length."""
    wanted = sizes(shape)
    own = (None,) * (len(wanted) - self.ndim) + self.shape
    lengths = tuple(o if n == -1 and o is not None else n for n, o in zip(wanted, own, strict=True))
    return ops.broadcast_to(self, lengths)


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Repeated to the shape of another tensor."""
    return ops.broadcast_to(self, other.shape)


def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """Copies of the tensor side by side, so many along each dimension."""
    return ops.tile(self, sizes(repeats))


def flip(self: Tensor, dims: Any) -> Tensor:
    """With the order reversed along some dimensions."""
    return ops.flip(self, axis=axes(dims, self.ndim))


def cat(tensors: list[Tensor], dim: Any = 1) -> Tensor:
    """Tensors joined along a dimension that they have."""
    return ops.concat(tensors, axis=axis(dim, tensors[0].ndim))


def stack(tensors: list[Tensor], dim: Any = 1) -> Tensor:
    """Tensors joined along a new dimension."""
    return ops.stack(tensors, axis=axis(dim, tensors[0].ndim + 1))


def unbind(self: Tensor, dim: Any = 1) -> tuple[Tensor, ...]:
    """The parts along a dimension, without it."""
    return tuple(ops.unstack(self, axis=axis(dim, self.ndim)))


def split(self: Tensor, split_size: Any, dim: Any = 1) -> tuple[Tensor, ...]:
    """Parts of some length along a dimension; the last may be shorter."""
    along = axis(dim, self.ndim)
    length = self.shape[along]
    if isinstance(split_size, list | tuple):
        lengths = list(sizes(split_size))
    else:
        size = whole(split_size, "split_size")
        lengths = [size] * (length // size) + ([length % size] if length % size else [])
    return tuple(ops.split(self, np.cumsum(lengths)[:-1].tolist(), axis=along))


def chunk(self: Tensor, chunks: Any, dim: Any = 1) -> tuple[Tensor, ...]:
    """So many parts along a dimension, of equal length except the last."""
    length = self.shape[axis(dim, self.ndim)]
    return split(self, -(-length // whole(chunks, "chunks")), dim)


def narrow(self: Tensor, dim: Any, start: Any, length: Any) -> Tensor:
    """The part along a dimension that starts at `start` and has a length."""
    along = axis(dim, self.ndim)
    first = axis(start, self.shape[along], "start")
    return self[(slice(None),) * along + (slice(first, first + whole(length, "length")),)]


def select(self: Tensor, dim: Any, index: Any) -> Tensor:
    """One slice of a dimension, without it."""
    along = axis(dim, self.ndim)
    return self[(slice(None),) * along + (axis(index, self.shape[along], "index"),)]


def index_select(self: Tensor, dim: Any, index: Any) -> Tensor:
    """The slices of a dimension at some places, counted from one."""
    return ops.take(self, from_one(index), axis=axis(dim, self.ndim))


def gather(self: Tensor, dim: Any, index: Any) -> Tensor:
    """Along a dimension, the elements at the places that `index` has, counted from one."""
    return ops.take_along_axis(self, from_one(index), axis=axis(dim, self.ndim))


def from_one(index: Any) -> Any:
    """Places that count from one, or back from -1, as places that count from zero or back."""
    places = np.asarray(index.detach().numpy() if isinstance(index, Tensor) else index)
    if places.dtype.kind == "f" and (places == np.floor(places)).all():
        places = places.astype(LONG)
    if places.dtype.kind not in "iu":
        raise TypeError(f"places must be whole numbers, not {places.dtype}")
    if (places == 0).any():
        raise IndexError("places count from one, so there is no place 0")
    return np.where(places > 0, places - 1, places)


def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, as a vector."""
    return ops.broadcast_to(self, ops.broadcast_shapes(self.shape, mask.shape))[mask.array]


def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A value where the mask holds, and the elements elsewhere."""
    return ops.where(mask, value, self)


def tril(self: Tensor, diagonal: Any = 0) -> Tensor:
    """The part of matrices below a diagonal."""
    return ops.tril(self, k=whole(diagonal, "diagonal"))


def triu(self: Tensor, diagonal: Any = 0) -> Tensor:
    """The part of matrices above a diagonal."""
    return ops.triu(self, k=whole(diagonal, "diagonal"))


def diag(self: Tensor, diagonal: Any = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix with a diagonal."""
    return ops.diag(self, whole(diagonal, "diagonal"))


def to(self: Tensor, dtype: Any = None) -> Tensor:
    """The tensor in another dtype."""
    return self if dtype is None else ops.astype(self, dtype_of(dtype))
