"""`torch._C`: the few names of PyTorch's compiled part that programs use."""

from __future__ import annotations

from types import SimpleNamespace

from ...core.modes import current_modes
from .autograd.nodes import SavedTensor, kind_of_node


def _saved_tensors_hooks_is_enabled() -> bool:
    return current_modes().hooks_forbidden is None


_functions = SimpleNamespace(AccumulateGrad=kind_of_node("AccumulateGrad"))
_autograd = SimpleNamespace(
    SavedTensor=SavedTensor, _saved_tensors_hooks_is_enabled=_saved_tensors_hooks_is_enabled
)
