"""The few names inside PyTorch that programs ask for: kinds of nodes, and kinds of results."""

from __future__ import annotations

from types import SimpleNamespace

from .autograd.nodes import SavedTensor, kind_of_node
from .functions.results import KINDS

return_types = SimpleNamespace(**KINDS)
_C = SimpleNamespace(
    _autograd=SimpleNamespace(SavedTensor=SavedTensor),
    _functions=SimpleNamespace(
        AccumulateGrad=kind_of_node("AccumulateGrad"), DelayedError=kind_of_node("Error")
    ),
)
