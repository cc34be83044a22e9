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
MODULES = (
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
# Others that turn arrays into NumPy's, and what to pass to them.
_OTHERS = {
    "pandas": "pandas computes with NumPy arrays: use to_numpy() of what pandas has",
}
_MOST = 60  # names in an error


def what_runs() -> str | None:
    """What a function that cannot carry derivatives is, and what to use in its place.

    None if it is not known. The innermost code that is not NumPy's must be SciPy's, or that of
    another library: else it is the user's, in a function that SciPy calls.
    """
    twin = own = None
    for module, name, first, closure in running():
        package = module.partition(".")[0]
        if package in _OTHERS and own is None:
            return _OTHERS[package]
        if package not in _BETWEEN:
            break
        if module.startswith("scipy.sparse._") and own is None:
            return "SciPy's sparse arrays cannot carry gradients: import arraygrad.scipy.sparse"
        if module.startswith("scipy."):
            found = _public(module, name, first) or _wrapped(closure)
            if found is not None:
                place, called, has_twin = found
                own = place, called
                twin = own if has_twin else twin
        elif own is not None and module.startswith("arraygrad.scipy."):
            return (
                f"{'.'.join(own)} cannot carry gradients, and arraygrad has no derivatives of it "
                "with these arguments"
            )
    if twin is not None:
        called = ".".join(twin)
        return f"{called} cannot carry gradients: use arraygrad.{called}"
    return None if own is None else _without_twin(*own)


def _without_twin(place: str, name: str) -> str:
    """What to do about a function of SciPy that has no derivatives here."""
    if _follows_the_standard(getattr(sys.modules[place], name, None)):
        return (
            f"{place}.{name} computes with tensors if the environment has SCIPY_ARRAY_API=1 before "
            "SciPy is imported"
        )
    if place not in MODULES:
        return f"{place}.{name} has no derivative here"
    known = importlib.import_module(f"arraygrad.{place}").__all__
    names = ", ".join(known) if len(known) <= _MOST else f"those in arraygrad.{place}.__all__"
    return f"{place}.{name} has no derivative here; these of {place} have: {names}"


def _follows_the_standard(function: Any) -> bool:
    """Whether SciPy says that a function computes with arrays of any library."""
    table = getattr(sys.modules.get("scipy._lib._array_api"), "xp_capabilities_table", {})
    known = (table.get(function) or {}) if callable(function) else {}
    return bool(known) and not any(known[k] for k in ("np_only", "cpu_only", "out_of_scope"))


def _wrapped(closure: list[Any]) -> tuple[str, str, bool] | None:
    """The function of SciPy that a decorator of SciPy's calls."""
    for inner in closure:
        module, name = getattr(inner, "__module__", None), getattr(inner, "__name__", None)
        if isinstance(module, str) and isinstance(name, str) and module.startswith("scipy."):
            return _public(module, name, None)
    return None


def _public(module: str, name: str, first: Any) -> tuple[str, str, bool] | None:
    """The module and the name of a function that users call, and whether it has a twin."""
    outer = module.split("._")[0]
    place = next((m for m in MODULES if module == m or module.startswith(f"{m}.")), outer)
    ours = vars(importlib.import_module(f"arraygrad.{place}")) if place in MODULES else {}
    if name in ("__init__", "__new__", "__call__"):
        name = type(first).__name__
    distribution = getattr(first, "name", None)
    if place == "scipy.stats" and isinstance(distribution, str):
        found = getattr(importlib.import_module("arraygrad.scipy.stats"), distribution, None)
        has_twin = found is not first and hasattr(type(found), name)
        return place, f"{distribution}.{name}", has_twin
    original = getattr(sys.modules.get(place), name, None)
    if original is None or name.startswith("_"):
        return None
    return place, name, ours.get(name, original) is not original


def special_twin(ufunc: Any) -> AnyFunction | None:
    """The twin of a universal function of `scipy.special`; None if there is none."""
    name = str(ufunc.__name__)
    if getattr(sys.modules.get("scipy.special"), name, None) is not ufunc:
        return None
    found = vars(importlib.import_module("arraygrad.scipy.special")).get(name)
    return found if callable(found) else None
