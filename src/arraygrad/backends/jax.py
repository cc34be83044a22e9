"""The backend for JAX.

JAX's arrays cannot be written. While JAX traces a function, as in `jax.jit`, arrays have a shape
and a dtype, but no values and no device.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special

from ..core.indices import fill
from ..errors import LazyError
from .base import Backend
from .bessel import scaled_bessel


class JaxBackend(Backend):
    """JAX's arrays, and JAX's tracers, which replace arrays while JAX traces a function."""

    defers = True

    def device(self, array: Any) -> Any:
        # If x is a tracer, or an array on several devices, JAX chooses the device of new arrays.
        device = getattr(array, "device", None)
        return device if isinstance(device, jax.Device) else None

    def has_values(self, array: Any) -> bool:
        return not isinstance(array, jax.core.Tracer)

    def compiled(self, function: Any) -> Any:
        return jax.jit(function)

    def lacks_values(self, error: Exception) -> bool:
        kinds = (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError)
        return isinstance(error, (*kinds, LazyError))

    def dtype(self, dtype: Any) -> Any:
        if dtype in (int, float, complex):  # single precision, unless JAX enables doubles
            return jnp.result_type(dtype)
        return super().dtype(dtype)

    def from_numpy(self, array: Any, device: Any) -> Any:
        # Keep it a constant inside jit, so that it can serve as a mask.
        with jax.ensure_compile_time_eval():
            return jax.device_put(jnp.asarray(array), device)

    def integers(self, like: Any, values: list[int]) -> Any:
        import numpy as np

        return self.from_numpy(np.array(values, np.int32), self.device(like))

    def to_numpy(self, array: Any) -> Any:
        if isinstance(array, jax.core.Tracer):
            raise LazyError(
                "the values of an array are not known while JAX traces a function (for jax.jit, "
                "jax.vmap, jax.grad, jax.lax.scan …), and what was called needs them, because the "
                "shape of its result depends on them or because they become Python numbers: call "
                "it outside"
            )
        return super().to_numpy(array)


def _index_add(x: Any, *indices: Any, template: tuple[Any, ...], shape: tuple[int, ...]) -> Any:

    return jnp.zeros(shape, x.dtype).at[fill(template, indices)].add(x)


def _nonzero(x: Any) -> Any:
    # Inside jit this works for a constant only: other arrays have no values.
    with jax.ensure_compile_time_eval():
        return jnp.nonzero(x)


def _mean(x: Any, axis: Any, keepdims: bool) -> Any:
    dtype = jnp.result_type(float) if x.dtype == bool else None  # JAX would use single precision
    return jnp.mean(x, axis=axis, keepdims=keepdims, dtype=dtype)


def _matrix_rank(x: Any, rtol: Any) -> Any:
    # JAX compares singular values with `rtol`, not with `rtol` times the largest singular value.
    s = jnp.linalg.svd(x, compute_uv=False)
    if rtol is None:
        rtol = max(x.shape[-2:]) * jnp.finfo(x.dtype).eps
    largest = jnp.max(s, axis=-1, keepdims=True, initial=0)
    return jnp.sum(s > largest * jnp.asarray(rtol)[..., None], axis=-1)


def _ive(n: Any, x: Any) -> Any:
    return scaled_bessel(jnp, jax.scipy.special.i0e, jax.scipy.special.i1e, n, x)


def _searchsorted(x1: Any, x2: Any, side: str) -> Any:
    return jnp.searchsorted(x1, x2, side=side).astype(int)  # JAX would return int32


def _to_device(x: Any, device: Any, stream: Any) -> Any:
    if isinstance(device, str):  # a platform such as "cpu": take its first device
        device = jax.devices(device)[0]
    return x if device is None else jax.device_put(x, device)


backend = JaxBackend(
    "jax",
    jnp,
    {
        "index_add": _index_add,
        "ive": _ive,
        "iv": lambda n, x: _ive(n, x) * jnp.exp(jnp.abs(x)),
        "matrix_rank": _matrix_rank,
        "mean": _mean,
        "nonzero": _nonzero,
        "searchsorted": _searchsorted,
        "to_device": _to_device,
    },
)
