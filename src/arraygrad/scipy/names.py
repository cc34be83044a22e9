"""The names of a module of SciPy that have no differentiable form: they are SciPy's own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_known: dict[str, Any] = {}  # SciPy's own modules: `install` puts copies in their places


def scipy_module(name: str) -> Any:
    """A module of SciPy, such as ``"scipy.optimize"``; an error that names the extra without it."""
    if name in _known:
        return _known[name]
    try:
        _known[name] = importlib.import_module(name)
        return _known[name]
    except ImportError:
        raise ImportError(
            f"arraygrad.{name} computes by SciPy: install it, pip install 'arraygrad[scipy]'"
        ) from None


class Missing:
    """A function that SciPy has in newer versions: a call says so."""

    def __init__(self, module: Any, name: str) -> None:
        self.__name__, self.__module__ = name, module.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{self.__module__}.{self.__name__} needs a newer SciPy than "
            f"{scipy_module('scipy').__version__}"
        )


def newer(module: Any, name: str) -> Any:
    """A function of SciPy that the oldest version does not have."""
    return getattr(module, name, None) or Missing(module, name)


def others_from(name: str) -> Callable[[str], Any]:
    """The function `__getattr__` of a module that has SciPy's names besides its own.

    >>> from arraygrad.scipy import optimize
    >>> import scipy.optimize
    >>> optimize.OptimizeResult is scipy.optimize.OptimizeResult
    True
    """

    def getattr_(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return getattr(scipy_module(name), attribute)

    return getattr_
