"""`torch.optim`: gradient descent and Adam."""

from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]


def __dir__() -> list[str]:
    return __all__
