"""SciPy's functions with derivatives, from `arraygrad.scipy`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ..numpy.numpy_wrapper import wrapped

__all__ = ["lazily"]


def lazily(module: str, made: dict[str, Any]) -> Callable[[str], Any]:
    """The `__getattr__` of a module: a function is made when it is first asked for."""

    def find(name: str) -> Any:
        made[name] = _twin(module, name)
        return made[name]

    return find


def _twin(module: str, name: str) -> Any:
    """The function of this name in a module of `arraygrad.scipy`; any other value as it is."""
    if name.startswith("__"):  # which Python looks for in modules
        raise AttributeError(name)
    own = getattr(importlib.import_module(f"arraygrad.scipy.{module}"), name)
    raw = getattr(importlib.import_module(f"scipy.{module}"), name)
    if own is raw or isinstance(own, type) or not callable(own):
        return own
    return wrapped(raw, own)
