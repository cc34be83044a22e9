"""The backend for MLX. Its namespace is in `namespace`, `reductions` and `linalg`.

MLX computes an array when its values are needed. Arrays have no device; operations have one. Floats
are in single precision: doubles exist on the CPU only, and complex doubles do not exist.
"""

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx
import numpy as np

from ...core.indices import fill
from ..base import Backend, Kernel
from ..special import kernel
from ..standard import standard_kernels
from . import namespace as mlx_namespace

# The dtypes of Python's numbers in MLX.
_DEFAULTS = {float: mx.float32, complex: mx.complex64}


class MlxBackend(Backend):
    """MLX's arrays."""

    def device(self, array: Any) -> Any:
        return mx.default_device()

    def dtype(self, dtype: Any) -> Any:
        if dtype in _DEFAULTS:
            return _DEFAULTS[dtype]
        if isinstance(dtype, type | np.dtype) and np.dtype(dtype) == np.complex128:
            raise TypeError("MLX has no complex128: use complex64")
        return super().dtype(dtype)

    def integers(self, like: Any, values: list[int]) -> Any:
        return mx.array(np.array(values, np.int64))

    def copy(self, array: Any) -> Any:
        return mx.array(array)  # a write to one array does not change the other

    def to_numpy(self, array: Any) -> Any:
        # NumPy has no bfloat16.
        return np.array(array.astype(mx.float32) if array.dtype == mx.bfloat16 else array)


def _places(index: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index that MLX accepts: masks become positions; beside arrays, integers become arrays."""
    if not any(isinstance(part, mx.array) for part in index):
        return index
    parts: list[Any] = []
    for part in index:
        if isinstance(part, int):
            parts.append(mx.array(part))  # MLX does not count an int as an index array
        elif isinstance(part, mx.array) and part.dtype == mx.bool_:
            if not part.ndim:
                raise IndexError("a mask without axes is no index for arrays of MLX: use where()")
            parts += mlx_namespace.nonzero(part)
        else:
            parts.append(part)
    return tuple(parts)


def _getitem(x: Any, *indices: Any, template: tuple[Any, ...]) -> Any:
    return x[_places(fill(template, indices))]


def _index_add(x: Any, *indices: Any, template: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    out = mx.zeros(shape, x.dtype)
    return out.at[_places(fill(template, indices))].add(x) if x.size else out


def _singly(name: str) -> Kernel:
    """A special function: MLX's own, with seven digits, or SciPy's if the dtype has more."""
    function = getattr(mx, name)

    def compute(x: Any) -> Any:
        if x.dtype not in (mx.float64, mx.complex64):
            return function(x)
        return kernel(mlx_namespace, name)(x)

    return compute


def _entropy(x: Any) -> Any:
    inside = mx.where(x == 0, 0, -x * mx.log(mx.where(x > 0, x, 1)))
    return mx.where(x < 0, -math.inf, mx.where(x != x, math.nan, inside))


def _transform(name: str, dtype: Any = mx.complex64) -> Kernel:
    """The kernel of a Fourier transform, which MLX computes in single precision."""
    function = getattr(mx.fft, name)
    return lambda x, s, axis, norm: function(x.astype(dtype), s=s, axes=axis, norm=norm)


_standard = standard_kernels(mlx_namespace)
backend = MlxBackend(
    "mlx",
    mlx_namespace,
    {
        "getitem": _getitem,
        "index_add": _index_add,
        "entr": _entropy,
        "erf": _singly("erf"),
        "erfinv": _singly("erfinv"),
        "kl_div": _standard["kl_div"],
        "rel_entr": _standard["rel_entr"],
        "logit": lambda x: mx.log(x / (1 - x)),
        "fft": _transform("fftn"),
        "ifft": _transform("ifftn"),
        "rfft": _transform("rfftn", mx.float32),
        "irfft": _transform("irfftn"),
        # All devices share their memory.
        "to_device": lambda x, device, stream: x,
    },
)
