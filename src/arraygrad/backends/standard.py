"""Any array library that follows the Array API standard, wrapped where array-api-compat does."""

from __future__ import annotations

import importlib
import sys

from . import Backend

# The top-level module of an array type, and the namespace that speaks the standard for it.
NAMESPACES = {
    "torch": "array_api_compat.torch",
    "dask": "array_api_compat.dask.array",
    "cupy": "array_api_compat.cupy",
    "jax": "jax.numpy",
    "jaxlib": "jax.numpy",
    "mlx": "mlx.core",
}


def standard_backend(array_type: type) -> Backend:
    """The backend of a type of array that follows the standard."""
    module = array_type.__module__.partition(".")[0]
    if module in NAMESPACES:
        xp = importlib.import_module(NAMESPACES[module])
    else:
        xp = sys.modules[module]
    return Backend(module, xp)
