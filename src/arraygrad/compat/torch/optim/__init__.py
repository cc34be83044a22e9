"""`torch.optim`: gradient descent, Adam and relatives, and schedules of learning rates."""

from . import lr_scheduler
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .others import Adagrad, Adamax, RMSprop
from .sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Adamax", "Optimizer", "RMSprop", "lr_scheduler"]


def __dir__() -> list[str]:
    return __all__
