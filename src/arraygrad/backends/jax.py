"""JAX: what it does in its own way, also while it traces a function to compile.

Its arrays cannot be written, and inside `jax.jit` and its kin they have shapes and dtypes, but
neither values nor a device.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import Backend


class JaxBackend(Backend):
    """JAX's arrays, and the tracers that stand for them while a function is traced."""

    def device(self, array: Any) -> Any:
        # Of a tracer, and of an array on several devices, JAX decides where new ones go.
        device = getattr(array, "device", None)
        return device if isinstance(device, jax.Device) else None

    def has_values(self, array: Any) -> bool:
        return not isinstance(array, jax.core.Tracer)

    def dtype(self, dtype: Any) -> Any:
        if dtype in (int, float, complex):  # which are single, unless doubles are enabled
            return jnp.result_type(dtype)
        return super().dtype(dtype)

    def from_numpy(self, array: Any, device: Any) -> Any:
        # A constant stays one inside jit, so that it can serve as a mask.
        with jax.ensure_compile_time_eval():
            return jax.device_put(jnp.asarray(array), device)

    def integers(self, like: Any, values: list[int]) -> Any:
        import numpy as np

        return self.from_numpy(np.array(values, np.int32), self.device(like))

    def to_numpy(self, array: Any) -> Any:
        if isinstance(array, jax.core.Tracer):
            raise TypeError(
                "the values of an array are not known while JAX traces a function (for jax.jit, "
                "jax.vmap, jax.grad, jax.lax.scan …), and what was called needs them, because the "
                "shape of its result depends on them or because they become Python numbers: call "
                "it outside"
            )
        return super().to_numpy(array)


def _index_add(x: Any, *indices: Any, template: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    from ..ops.indexing import fill

    return jnp.zeros(shape, x.dtype).at[fill(template, indices)].add(x)


backend = JaxBackend("jax", jnp, {"index_add": _index_add})
