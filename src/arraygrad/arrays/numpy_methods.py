"""Methods with NumPy's names and arguments that differ from those of arraygrad's functions.

Those that write, such as `sort`, are in `inplace`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .. import ops
from ..ops.define.signatures import Axis, Shape
from . import orders
from .writes.methods import check_partition


class NumPyMethods:
    """The methods of NumPy's arrays that are no functions of arraygrad."""

    __slots__ = ()

    if TYPE_CHECKING:  # defined by `ArrayMethods`

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def ndim(self) -> int: ...
        @property
        def dtype(self) -> Any: ...

    conjugate = ops.conj

    @property
    def nbytes(self) -> int:
        """The size of all elements together, in bytes."""
        return math.prod(self.shape) * int(self.dtype.itemsize)

    @property
    def flags(self) -> Any:
        """How the array is stored, as NumPy says it, if the array is one of NumPy's."""
        return ops.plain(self).flags

    def __copy__(self) -> Self:
        return ops.copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return ops.copy(self)

    def copy(self, order: str = "C") -> Self:
        """A copy, whose elements lie in C order in memory. The gradient passes through it."""
        copied: Self = orders.copied(self, order)
        return copied

    def round(self, decimals: int = 0) -> Self:
        """Rounded to a number of decimals, halves to the even digit. The derivative is zero."""
        if not decimals:
            return ops.round(self)
        if decimals > 0 and not ops.is_inexact(self):
            return ops.copy(self)
        scale = 10.0**decimals
        rounded = ops.divide(ops.round(ops.multiply(self, scale)), scale)
        return ops.astype(rounded, self.dtype, copy=False)

    def cumsum(self, axis: int | None = None, *, dtype: Any = None) -> Self:
        """The running sum along an axis; by default, over the flattened array."""
        x = ops.ravel(self) if axis is None else self
        return ops.cumulative_sum(x, axis=axis, dtype=dtype)

    def cumprod(self, axis: int | None = None, *, dtype: Any = None) -> Self:
        """The running product along an axis; by default, over the flattened array."""
        x = ops.ravel(self) if axis is None else self
        return ops.cumulative_prod(x, axis=axis, dtype=dtype)

    def std(
        self,
        axis: Axis = None,
        *,
        correction: float = 0.0,
        keepdims: bool = False,
        ddof: float | None = None,
    ) -> Self:
        """The standard deviation; NumPy's `ddof` is the standard's `correction`."""
        correction = correction if ddof is None else ddof
        return ops.std(self, axis=axis, correction=correction, keepdims=keepdims)

    def var(
        self,
        axis: Axis = None,
        *,
        correction: float = 0.0,
        keepdims: bool = False,
        ddof: float | None = None,
    ) -> Self:
        """The variance; NumPy's `ddof` is the standard's `correction`."""
        correction = correction if ddof is None else ddof
        return ops.var(self, axis=axis, correction=correction, keepdims=keepdims)

    def reshape(self, *shape: Shape, order: str | None = "C", copy: bool | None = None) -> Self:
        """The same elements in another shape: `x.reshape(2, 3)` or `x.reshape((2, 3))`.

        `order` is NumPy's: "C" (by default), "F" or "A".
        """
        wanted: Any = shape[0] if len(shape) == 1 else shape
        reshaped: Self = orders.reshaped(self, wanted, order, copy)
        return reshaped

    def ravel(self, order: str | None = "C") -> Self:
        """All elements in one axis, in NumPy's order "C", "F", "A" or "K"; a view, if it can be."""
        ravelled: Self = orders.ravelled(self, order)
        return ravelled

    def flatten(self, order: Any = "C", end_axis: int = -1, *, start_axis: int = 0) -> Self:
        """A copy of all elements in one axis, in NumPy's order "C", "F", "A" or "K".

        With two numbers, or one in the place of the order, this merges the axes from the first to
        the second, as `arraygrad.flatten` does.
        """
        if isinstance(order, int):
            return ops.flatten(self, order, end_axis)
        if (start_axis, end_axis) != (0, -1):
            return ops.flatten(self, start_axis, end_axis)
        flattened: Self = orders.ravelled(self, order, copy=True)
        return flattened

    def permute_dims(self, *axes: Shape) -> Self:
        """Reorder the axes: `x.permute_dims(1, 0)` or `x.permute_dims((1, 0))`."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return ops.permute_dims(self, order)

    def transpose(self, *axes: Shape) -> Self:
        """NumPy's transpose: reorder the axes as given, or reverse them all."""
        return self.permute_dims(*(axes or tuple(range(self.ndim))[::-1]))

    def ptp(self, axis: Axis = None, *, keepdims: bool = False) -> Self:
        """The largest minus the smallest element."""
        largest: Any = ops.max(self, axis=axis, keepdims=keepdims)
        return largest - ops.min(self, axis=axis, keepdims=keepdims)  # type: ignore[no-any-return]

    def compress(self, condition: Any, axis: int | None = None) -> Self:
        """The slices along an axis for which a list of booleans says so."""
        chosen = condition if hasattr(condition, "dtype") else np.asarray(condition)
        if chosen.ndim != 1:
            raise ValueError(f"condition must have one axis, got shape {tuple(chosen.shape)}")
        return ops.take(self, ops.nonzero(chosen)[0], axis=axis)

    def argpartition(
        self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
    ) -> Self:
        """The indices that bring the `kth` smallest element to its place, smaller ones before it.

        They are those that sort the array, which do this for all places.
        """
        x: Any = self if axis is not None else ops.ravel(self)
        axis = check_partition(x, kth, -1 if axis is None else axis, kind, order)
        indices: Self = ops.argsort(x, axis=axis)
        return indices
