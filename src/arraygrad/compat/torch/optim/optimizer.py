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


required = object()  # the default of options without one, in many optimisers of users


class Optimizer(optimisers.Optimizer):
    """Changes parameters by their gradients. A subclass defines `step`."""

    def _tensor(self, value: Any) -> Any:
        return value._t if isinstance(value, Tensor) else value

    def _shown(self, array: Any) -> Any:
        return wrap(native(array))


def _all(names: str) -> Any:
    return (optimizer(name, getattr(optim, name.lower()), Optimizer) for name in names.split())


SGD, Adam, AdamW, NAdam, RAdam, Adamax = _all("SGD Adam AdamW NAdam RAdam Adamax")
Adagrad, Adadelta, RMSprop, Rprop, ASGD = _all("Adagrad Adadelta RMSprop Rprop ASGD")
(Adafactor,) = _all("Adafactor")
