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
    for name in (
        "accelerator",
        "backends",
        "compiler",
        "distributed",
        "jit",
        "mps",
        "version",
        "xpu",
    ):
        _modules(f"torch.{name}", getattr(sys.modules[package], name))
    nn = sys.modules["torch.nn"]
    sys.modules["torch.nn.modules"] = nn.modules
    for name in nn.modules.PARTS:
        sys.modules[f"torch.nn.modules.{name}"] = nn
    for whole, parts in _PARTS.items():  # what PyTorch has in several files
        for part in parts.split():
            sys.modules[f"torch.{whole}.{part}"] = sys.modules[f"torch.{whole}"]
            setattr(sys.modules[f"torch.{whole}"], part, sys.modules[f"torch.{whole}"])


_PARTS = {
    "distributions": "bernoulli beta categorical cauchy chi2 dirichlet distribution exponential "
    "gamma gumbel half_normal independent kl laplace log_normal mixture_same_family "
    "multivariate_normal normal one_hot_categorical poisson studentT transformed_distribution "
    "transforms uniform",
    "utils.data": "dataloader dataset sampler",
}


def _modules(name: str, space: Any) -> None:
    """Modules for a namespace and those in it, so that they can be imported."""
    module = ModuleType(name)
    module.__dict__.update(vars(space))
    sys.modules[name] = module
    for inner, value in vars(space).items():
        if isinstance(value, SimpleNamespace):
            _modules(f"{name}.{inner}", value)
