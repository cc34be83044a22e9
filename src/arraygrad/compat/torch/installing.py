"""`install`: this package in the place of `torch`, for one process."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from ..installing import take_place

__all__ = ["install"]


def install() -> None:
    """Put this package in the place of `torch`: ``import torch`` gives it from now on.

    Nothing on disk changes. Call it before anything imports PyTorch, else it raises RuntimeError.
    """
    package = __name__.rpartition(".")[0]
    take_place(package, "torch")
    for name in ("accelerator", "backends", "mps", "version", "xpu"):
        _modules(f"torch.{name}", getattr(sys.modules[package], name))
    sys.modules["torch.nn.modules"] = sys.modules["torch.nn"]


def _modules(name: str, space: Any) -> None:
    """Modules for a namespace and those in it, so that they can be imported."""
    module = ModuleType(name)
    module.__dict__.update(vars(space))
    sys.modules[name] = module
    for inner, value in vars(space).items():
        if isinstance(value, SimpleNamespace):
            _modules(f"{name}.{inner}", value)
