"""Finding the differentiable twin of a function of SciPy that got a tensor.

This runs only when an error is about to be raised, which then names the twin.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..core.array import AnyFunction
from ..core.cpython import running

# Modules of SciPy with twins, the longest names first.
_MODULES = (
    "scipy.sparse.linalg",
    "scipy.spatial.distance",
    *(
        f"scipy.{name}"
        for name in (
            "fft",
            "integrate",
            "interpolate",
            "linalg",
            "ndimage",
            "optimize",
            "signal",
            "special",
            "stats",
        )
    ),
)
# What runs between SciPy's own functions.
_BETWEEN = ("arraygrad", "numpy", "contextlib", "functools", "scipy")


def caller_with_twin() -> str | None:
    """The name of the function of SciPy that runs and has a twin; None if there is none.

    The innermost code that is not NumPy's must be SciPy's: else it is the user's, in a function
    that SciPy calls.
    """
    found = None
    for module, name, first in running():
        if module.partition(".")[0] not in _BETWEEN:
            break
        if module.startswith("scipy."):
            found = _public(module, name, first) or found
    return found


def _public(module: str, name: str, first: Any) -> str | None:
    place = next((m for m in _MODULES if module == m or module.startswith(f"{m}.")), None)
    if place is None:
        return None
    ours = vars(importlib.import_module(f"arraygrad.{place}"))
    kind = type(first).__name__
    if name in ("__init__", "__new__", "__call__"):
        return f"{place}.{kind}" if _is_twin(ours, place, kind) else None
    distribution = getattr(first, "name", None)
    if place == "scipy.stats" and isinstance(distribution, str) and distribution in ours:
        has_twin = hasattr(type(ours[distribution]), name)
        return f"{place}.{distribution}.{name}" if has_twin else None
    return f"{place}.{name}" if _is_twin(ours, place, name) else None


def _is_twin(ours: dict[str, Any], place: str, name: str) -> bool:
    original = getattr(sys.modules.get(place), name, None)
    return original is not None and ours.get(name, original) is not original


def special_twin(ufunc: Any) -> AnyFunction | None:
    """The twin of a universal function of `scipy.special`; None if there is none."""
    name = str(ufunc.__name__)
    if getattr(sys.modules.get("scipy.special"), name, None) is not ufunc:
        return None
    found = vars(importlib.import_module("arraygrad.scipy.special")).get(name)
    return found if callable(found) else None
