"""`install`: this package in the place of `autograd`, for one process."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys

from .boxes import ArrayBox, forward_box, reverse_box

__all__ = ["install"]


def install() -> None:
    """Put this package in the place of `autograd`: ``import autograd`` gives it from now on.

    Nothing on disk changes, and other processes are not affected. Call it before anything imports
    autograd.

    Raises
    ------
    RuntimeError
        If autograd itself has been imported already: functions that were imported from it would
        not know the arrays of this package.
    """
    package = sys.modules[__name__.rpartition(".")[0]]
    present = sys.modules.get("autograd")
    if present is not None and present is not package:
        raise RuntimeError(
            "autograd has been imported already, so install() cannot take its place: call "
            "arraygrad.compat.hips.install() before anything that imports autograd"
        )
    start = package.__name__
    has_scipy = importlib.util.find_spec("scipy") is not None
    for found in pkgutil.walk_packages(package.__path__, start + ".", onerror=_pass_over):
        if has_scipy or not found.name.startswith(start + ".scipy"):
            importlib.import_module(found.name)
    for name, module in list(sys.modules.items()):
        if name == start or name.startswith(start + "."):
            sys.modules["autograd" + name.removeprefix(start)] = module
    # Programs compare the name of the type.
    ArrayBox.__module__ = "autograd.numpy.numpy_boxes"
    reverse_box.cache_clear()
    forward_box.cache_clear()


def _pass_over(name: str) -> None:
    """Leave out a package that cannot be imported, as it needs SciPy."""
