"""The optimisers: the rules of `ag.optim`, for PyTorch's tensors."""

from __future__ import annotations

from typing import Any

from .... import optim
from ....arrays.creation import asarray as native
from ... import optimisers
from ...optimisers import optimizer
from ..handles import Tensor, wrap

__all__ = [
    "ASGD", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam",
    "Optimizer", "RAdam", "RMSprop", "Rprop",
]  # fmt: skip


class Optimizer(optimisers.Optimizer):
    """Changes parameters by their gradients. A subclass defines `step`."""

    def _tensor(self, p: Tensor) -> Any:
        return p._t

    def _shown(self, array: Any) -> Any:
        return wrap(native(array))

    def _gradient(self, p: Tensor) -> Any:
        gradient = p.grad
        return None if gradient is None else gradient._t


SGD = optimizer("SGD", optim.sgd, Optimizer)
Adam = optimizer("Adam", optim.adam, Optimizer)
AdamW = optimizer("AdamW", optim.adamw, Optimizer)
NAdam = optimizer("NAdam", optim.nadam, Optimizer)
RAdam = optimizer("RAdam", optim.radam, Optimizer)
Adamax = optimizer("Adamax", optim.adamax, Optimizer)
Adagrad = optimizer("Adagrad", optim.adagrad, Optimizer)
Adadelta = optimizer("Adadelta", optim.adadelta, Optimizer)
RMSprop = optimizer("RMSprop", optim.rmsprop, Optimizer)
Rprop = optimizer("Rprop", optim.rprop, Optimizer)
ASGD = optimizer("ASGD", optim.asgd, Optimizer)
Adafactor = optimizer("Adafactor", optim.adafactor, Optimizer)
