"""The special functions of the array libraries. Their derivatives are in `ops.special`.

NumPy, and every library without special functions of its own, use SciPy, which is imported at the
first use.
"""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any

import numpy as np

from ..core.array import AnyFunction
from .registry import backend_of

_LIBRARIES = {"torch": "torch.special", "cupy": "cupyx.scipy.special", "jax": "jax.scipy.special"}
# The libraries whose arrays SciPy's functions accept.
_SCIPY_TAKES = {"numpy", "dask"}


def takes_scipy(parts: list[str]) -> bool:
    """Whether SciPy's functions accept the arrays of a module, given the parts of its name.

    The parts decide together: ``jax.numpy`` contains "numpy", but SciPy does not accept its arrays.
    """
    return not _SCIPY_TAKES.isdisjoint(parts) and _LIBRARIES.keys().isdisjoint(parts)


@functools.cache
def kernel(xp: Any, name: str) -> AnyFunction:
    """The special function `name` for the arrays of a namespace."""
    parts = xp.__name__.split(".") if isinstance(xp, ModuleType) else []
    for part in parts:
        if part in _LIBRARIES:
            found = getattr(importlib.import_module(_LIBRARIES[part]), name, None)
            if found is not None:
                return found  # type: ignore[no-any-return]
    try:
        special = importlib.import_module("scipy.special")
    except ImportError as error:
        raise ImportError(
            f"special.{name} computes with SciPy, which cannot be imported: install it with "
            "pip install 'arraygrad[scipy]'"
        ) from error
    function = functools.partial(_by_scipy, getattr(special, name))
    if takes_scipy(parts):
        return function
    return functools.partial(_on_the_host, xp, function)


def _by_scipy(function: AnyFunction, *arrays: Any) -> Any:
    """Call SciPy's function. Some functions return a wider dtype: convert to the arrays' dtype."""
    out = function(*arrays)
    floats = [a.dtype for a in arrays if hasattr(a, "dtype") and a.dtype.kind in "fc"]
    if not floats:
        return out
    wanted = floats[0] if len(floats) == 1 else functools.reduce(np.promote_types, floats)
    return out if out.dtype == wanted else out.astype(wanted)


def _on_the_host(xp: Any, function: AnyFunction, *arrays: Any) -> Any:
    """For a library without the function: convert to NumPy, call SciPy, and convert back."""
    try:
        values = [np.asarray(a) if hasattr(a, "dtype") else a for a in arrays]
        if any(v.dtype == object for v in values if hasattr(v, "dtype")):
            raise TypeError("it has no __array__()")
    except Exception as error:  # each library raises its own class
        raise TypeError(
            f"{backend_of(arrays[-1]).name} has no such function, and SciPy's runs on the host "
            f"only, which the array cannot be moved to without being asked ({error}): use "
            "to_device() first"
        ) from error
    out = function(*values)
    like = next(a for a in arrays if hasattr(a, "dtype"))
    return xp.asarray(out, device=backend_of(like).device(like))
