"""The backend for Dask: lazy arrays, cut into blocks.

Nothing here looks at values. Some of Dask's own functions would cut arrays into other blocks, or
would add tasks that Dask cannot fuse. Kernels made of `blockwise`, which Dask fuses, replace them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import Backend, Kernel
from .blocks import constant_values, da, filled, xp
from .kernels import KERNELS, dask_kernel
from .shapes import ChunkedShape
from .writing import survivors


class DaskBackend(Backend):
    """Dask arrays."""

    defers = True

    merges_axes = False

    def device(self, array: Any) -> Any:
        return "cpu"

    def shape(self, array: Any) -> tuple[int, ...]:
        return ChunkedShape.of(array)

    def kernel_by_kind(self, op: Any) -> Kernel | None:
        return dask_kernel(op)

    def full(self, like: Any, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
        return filled(like, shape, value, dtype)

    def integers(self, like: Any, values: list[int]) -> Any:
        return da.from_array(np.array(values, np.intp), chunks=-1)

    def from_numpy(self, array: Any, device: Any) -> Any:
        return da.from_array(np.array(array), chunks=-1)

    def arranged(self, array: Any, like: Any) -> Any:
        lead = array.ndim - like.ndim
        if lead < 0 or array.shape[lead:] != like.shape or array.chunks[lead:] == like.chunks:
            return array
        if any(n != n for n in array.shape):
            return array
        return array.rechunk((*array.chunks[:lead], *like.chunks))

    def survivors(self, region: Any) -> Any:
        return survivors(region)

    def has_values(self, array: Any) -> bool:
        return False

    def known_values(self, array: Any) -> Any:
        return constant_values(array)

    def to_numpy(self, array: Any) -> Any:
        return np.asarray(array.compute())  # only if the user asks for it, as by `numpy()`

    def copy(self, array: Any) -> Any:
        return array.copy()  # shares the blocks: Dask replaces blocks and never writes to them

    def own(self, held: list[Any]) -> Any:
        return self.copy(held.pop())

    def without_nan(self, array: Any, error: Exception) -> Any:
        return da.blockwise(
            _checked, range(array.ndim), array, range(array.ndim), error=error, meta=array._meta
        )


def _checked(block: Any, error: Exception) -> Any:
    if np.isnan(block).any():
        raise error
    return block


backend = DaskBackend("dask", xp, KERNELS)
