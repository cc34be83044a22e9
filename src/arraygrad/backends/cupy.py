"""The backend for CuPy.

CuPy queues its work on the current stream. The code here does not wait for the stream; only a
conversion to a number (`item`, `float`, a truth value) or to a NumPy array waits. CuPy's arrays
never become NumPy arrays implicitly: an op without a function in CuPy raises an error, and does not
copy to the host. Results without axes are arrays. In index arrays, integers that are out of range
wrap round, because a check would have to wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_compat
import cupy
import cupyx
from array_api_compat import cupy as xp

from ..core.cpython import POPPED, getrefcount
from ..core.indices import Template, fill
from .base import Backend
from .standard import put_into_copy, standard_kernels

if TYPE_CHECKING:
    from ..ops.regions import Region


class CupyBackend(Backend):
    """CuPy's arrays, on any of the devices."""

    defers = True

    def device(self, array: Any) -> Any:
        return array.device

    def own(self, held: list[Any]) -> Any:
        array = held.pop()
        if getrefcount(array) <= POPPED and array.base is None and array.flags.c_contiguous:
            return array
        return self.copy(array)

    def copy(self, array: Any) -> Any:
        return cupy.array(array, order="C")

    def add_into(self, array: Any, other: Any) -> bool:
        cupy.add(array, other, out=array)
        return True

    def from_numpy(self, array: Any, device: Any) -> Any:
        with device:
            return cupy.asarray(array)

    def to_numpy(self, array: Any) -> Any:
        return array.get()


def _index_add(x: Any, *indices: Any, template: Template, shape: tuple[int, ...]) -> Any:
    out = cupy.zeros(shape, dtype=x.dtype)
    index = fill(template, indices)
    if all(i.dtype.kind == "b" for i in indices):
        out[index] = x
    elif x.dtype == cupy.int64:  # no atomic addition exists; uint64 gives the same bits
        cupyx.scatter_add(out.view(cupy.uint64), index, x.astype(cupy.uint64))
    else:
        cupyx.scatter_add(out, index, x)
    return out


def _put(x: Any, value: Any, region: Region) -> Any:
    return put_into_copy(backend, x, value, region, cupy.shares_memory)


def _to_device(x: Any, device: Any, stream: Any) -> Any:
    if not isinstance(device, cupy.cuda.Device):
        raise ValueError(
            f"device must be a cupy.cuda.Device, not {device!r}: numpy() gives a NumPy array"
        )
    return array_api_compat.to_device(x, device, stream=stream)


_standard = standard_kernels(xp)
backend = CupyBackend(
    "cupy",
    xp,
    {
        **{name: _standard[name] for name in ("var", "std", "rel_entr", "kl_div")},
        "index_add": _index_add,
        "put": _put,
        "to_device": _to_device,
    },
)
