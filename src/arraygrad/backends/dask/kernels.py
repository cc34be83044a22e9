"""Which of the ways in `dask_blocks` and `dask_indexing` each op is computed by on Dask arrays.

Ops that are not here are elementwise, or Dask has a function for them that works on blocks.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .blocks import (
    Block,
    Kernel,
    along,
    beside,
    blockwise,
    contract,
    da,
    in_one_chunk,
    matrices,
    op_named,
    within,
    xp,
)
from .indexing import add_along_axis, concat, getitem, index_add, take, take_along_axis
from .writing import put, survivors

Shape = tuple[int, ...]


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


def _logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    total = op_named("logsumexp").compute(xp, x, axis, True)
    return total if keepdims else da.squeeze(total, axis)


# --- transforms ----------------------------------------------------------------------------------


def _lengths(x: Any, axes: Any, params: Any) -> dict[int, int]:
    return dict(zip(axes, params["s"], strict=True))


def _half(x: Any, axes: Any, params: Any) -> dict[int, int]:
    return {**_lengths(x, axes, params), axes[-1]: params["s"][-1] // 2 + 1}


def _complex(dtype: Any) -> Any:
    return np.dtype(np.complex64 if dtype in (np.float32, np.complex64) else np.complex128)


def _real(dtype: Any) -> Any:
    return np.dtype(np.float32 if dtype in (np.float32, np.complex64) else np.float64)


# --- matrices ------------------------------------------------------------------------------------


def _square(x: Shape, **params: Any) -> tuple[Shape, ...]:
    return (x,)


def _diagonal(x: Shape, **params: Any) -> tuple[Shape, ...]:
    return (x[-1:],)


def _number(x: Shape, **params: Any) -> tuple[Shape, ...]:
    return ((),)


def _qr(x: Shape, mode: str) -> tuple[Shape, ...]:
    m, n = x
    k = min(m, n) if mode == "reduced" else m
    return (m, k), (k, n)


def _svd(x: Shape, full_matrices: bool) -> tuple[Shape, ...]:
    m, n = x
    k = min(m, n)
    return ((m, m), (k,), (n, n)) if full_matrices else ((m, k), (k,), (k, n))


def _tiled_qr(x: Any, mode: str) -> Any:
    return tuple(da.linalg.qr(x.rechunk({1: -1})))


def _tiled_svd(x: Any, full_matrices: bool) -> Any:
    if full_matrices:
        return matrices("svd", _svd)(x, full_matrices=True)
    tall = x.shape[0] >= x.shape[1]
    return tuple(da.linalg.svd(x.rechunk({int(tall): -1})))


def _tiled_cholesky(x: Any) -> Any:
    # Dask wants all tiles alike.
    n, most = x.shape[0], max(x.chunks[0])
    side = next(k for k in range(most, 0, -1) if n % k == 0)
    if side < most / 2:
        return matrices("cholesky", _square)(x)
    return da.linalg.cholesky(x.rechunk((side, side)), lower=True)


def _convolve(x: Any, y: Any) -> Any:
    x, y = in_one_chunk(x, (0,), "convolve"), in_one_chunk(y, (0,), "convolve")
    return blockwise(
        Block("convolve", {}),
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


KERNELS: dict[str, Kernel] = {
    "astype": _astype,
    "astype_constant": _astype,
    "copy": lambda x: x.copy(),
    "to_device": lambda x, device, stream: x,
    "contract": contract,
    "in_one_chunk": lambda x, axis: in_one_chunk(x, (axis,), "prod"),
    "count_nonzero": _count_nonzero,
    "tril": _triangle("tril"),
    "triu": _triangle("triu"),
    "vector_norm": _vector_norm,
    "logsumexp": _logsumexp,
    # along axes
    "sort": along("sort"),
    "argsort": along("argsort", dtype=lambda dtype: np.dtype(np.intp)),
    "fft": along("fft", _lengths, _complex),
    "ifft": along("ifft", _lengths, _complex),
    "rfft": along("rfft", _half, _complex),
    "irfft": along("irfft", _lengths, _real),
    "softmax": within("softmax"),
    "log_softmax": within("log_softmax"),
    "softmax_tangent": within("softmax_tangent"),
    "shifted_softmax": within("shifted_softmax"),
    "convolve": _convolve,
    # beside another array
    "searchsorted": beside("searchsorted", 1, np.dtype(np.intp)),
    "isin": beside("isin", 0, np.dtype(bool)),
    # matrices
    "det": matrices("det", _number),
    "slogdet": matrices("slogdet", lambda x: ((), ())),
    "inv": matrices("inv", _square),
    "solve": matrices("solve", lambda a, b: (b,)),
    "cholesky": matrices("cholesky", _square, _tiled_cholesky),
    "qr": matrices("qr", _qr, _tiled_qr),
    "svd": matrices("svd", _svd, _tiled_svd),
    "svdvals": matrices("svdvals", lambda x: ((min(x),),)),
    "eigh": matrices("eigh", lambda x: (x[1:], x)),
    "eigvalsh": matrices("eigvalsh", _diagonal),
    "eig": matrices("eig", lambda x: (x[1:], x)),
    "eigvals": matrices("eigvals", _diagonal),
    "pinv": matrices("pinv", lambda x, rtol: (x[::-1],)),
    "matrix_rank": matrices("matrix_rank", _number),
    "cofactors": matrices("cofactors", _square),
    "cofactors_along": matrices("cofactors_along", lambda x, e: (x,)),
    # indexing
    "concat": concat,
    "getitem": getitem,
    "take": take,
    "index_add": index_add,
    "take_along_axis": take_along_axis,
    "add_along_axis": add_along_axis,
    "put": put,
    "survivors": survivors,
}
