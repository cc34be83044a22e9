"""`install`: this package in the place of `torch`, for one process."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

__all__ = ["install"]


def install() -> None:
    """Put this package in the place of `torch`: ``import torch`` gives it from now on.

    Nothing on disk changes, and other processes are not affected. Call it before anything imports
    PyTorch.

    Raises
    ------
    RuntimeError
        If PyTorch itself has been imported already: functions that were imported from it would not
        know the tensors of this package.
    """
    package = sys.modules[__name__.rpartition(".")[0]]
    present = sys.modules.get("torch")
    if present is not None and present is not package:
        raise RuntimeError(
            "torch has been imported already, so install() cannot take its place: call "
            "arraygrad.compat.torch.install() before anything that imports torch"
        )
    start = package.__name__
    for found in pkgutil.walk_packages(package.__path__, start + "."):
        importlib.import_module(found.name)
    for name, module in list(sys.modules.items()):
        if name == start or name.startswith(start + "."):
            sys.modules["torch" + name.removeprefix(start)] = module
    for name in ("accelerator", "backends", "mps", "version", "xpu"):
        _modules(f"torch.{name}", getattr(package, name))
    sys.modules["torch.nn.modules"] = sys.modules["torch.nn"]


def _modules(name: str, space: Any) -> None:
    """Modules for a namespace and those in it, so that they can be imported."""
    module = ModuleType(name)
    module.__dict__.update(vars(space))
    sys.modules[name] = module
    for inner, value in vars(space).items():
        if isinstance(value, SimpleNamespace):
            _modules(f"{name}.{inner}", value)
