"""Which kernel computes an op on Dask arrays: one for the op's kind, or one for this op only."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.kinds import AlongAxis, Contracts, Elementwise, Matrices
from .blocks import (
    Kernel,
    along,
    blockwise,
    contract,
    da,
    elementwise,
    in_one_chunk,
    matrices,
    xp,
)
from .indexing import add_along_axis, concat, getitem, index_add, take, take_along_axis
from .shapes import broadcast_to, reshape
from .writing import put

if TYPE_CHECKING:
    from ...ops.define import Op


def dask_kernel(op: Op) -> Kernel | None:
    """The kernel for the op's kind, or None.

    If it is None, Dask's own function with the op's name computes the op, or the function in the
    op's declaration.
    """
    kind = op.kind
    if isinstance(kind, Elementwise):
        return elementwise(op)
    if isinstance(kind, Matrices):
        return matrices(op, TILED.get(op.name) if op.is_library else None)
    if isinstance(kind, Contracts) and kind.labels is not None:
        return contract(op)
    if isinstance(kind, AlongAxis):
        if op.compute is None and kind.running:
            return None  # Dask's own function works block by block
        if op.is_library and op.compute is not None and kind.lengths is None:
            # The declared function consists of ops that also work on lines in several chunks.
            return along(op, functools.partial(op.compute, xp))
        return along(op)
    return None


# --- kernels for single ops ----------------------------------------------------------------------


def _astype(x: Any, dtype: Any, copy: bool) -> Any:
    return x if x.dtype == dtype else x.astype(dtype)


def _count_nonzero(x: Any, axis: Any, keepdims: bool) -> Any:
    return da.sum(x != 0, axis=axis, keepdims=keepdims, dtype=np.intp)


def _triangle(name: str) -> Kernel:
    def kernel(x: Any, k: int) -> Any:
        labels = tuple(range(x.ndim))
        rows, columns = (da.arange(sum(c), chunks=(c,), dtype=np.intp) for c in x.chunks[-2:])
        function = functools.partial(_triangle_block, k, name == "tril")
        pairs = (x, labels, rows, labels[-2:-1], columns, labels[-1:])
        return blockwise(function, labels, *pairs, name=name, dtype=x.dtype)

    return kernel


def _triangle_block(k: int, lower: bool, block: Any, rows: Any, columns: Any) -> Any:
    above = columns - rows[:, None]
    return np.where(above <= k if lower else above >= k, block, np.zeros((), block.dtype))


def _vector_norm(x: Any, axis: Any, keepdims: bool, ord: float) -> Any:
    if ord == 2:
        squares = x.real**2 + x.imag**2 if x.dtype.kind == "c" else x * x
        return da.sqrt(da.sum(squares, axis=axis, keepdims=keepdims))
    return da.sum(da.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def _tiled_qr(x: Any, mode: str) -> Any:
    return tuple(da.linalg.qr(x.rechunk({1: -1})))


def _tiled_svd(x: Any, full_matrices: bool) -> Any:
    if full_matrices:
        return None
    tall = x.shape[0] >= x.shape[1]
    return tuple(da.linalg.svd(x.rechunk({int(tall): -1})))


def _tiled_cholesky(x: Any) -> Any:
    # Dask requires tiles of equal size.
    n, most = x.shape[0], max(x.chunks[0])
    side = next(k for k in range(most, 0, -1) if n % k == 0)
    if side < most / 2:
        return None
    return da.linalg.cholesky(x.rechunk((side, side)), lower=True)


def _convolve(x: Any, y: Any) -> Any:
    x, y = in_one_chunk(x, (0,), "convolve"), in_one_chunk(y, (0,), "convolve")
    return blockwise(
        np.convolve,
        (2,),
        x,
        (0,),
        y,
        (1,),
        name="convolve",
        dtype=np.result_type(x.dtype, y.dtype),
        concatenate=True,
        new_axes={2: x.shape[0] + y.shape[0] - 1},
    )


# Dask's own algorithms for a matrix in several chunks. They return None where they do not apply.
TILED: dict[str, Kernel] = {"cholesky": _tiled_cholesky, "qr": _tiled_qr, "svd": _tiled_svd}

KERNELS: dict[str, Kernel] = {
    "astype": _astype,
    "astype_constant": _astype,
    "copy": lambda x: x.copy(),
    "to_device": lambda x, device, stream: x,
    "reshape": reshape,
    "broadcast_to": broadcast_to,
    "in_one_chunk": lambda x, axis: in_one_chunk(x, (axis,), "prod"),
    "count_nonzero": _count_nonzero,
    "tril": _triangle("tril"),
    "triu": _triangle("triu"),
    "vector_norm": _vector_norm,
    "convolve": _convolve,
    "concat": concat,
    "getitem": getitem,
    "take": take,
    "index_add": index_add,
    "take_along_axis": take_along_axis,
    "add_along_axis": add_along_axis,
    "put": put,
}
