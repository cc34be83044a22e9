"""`torch.optim`: gradient descent, Adam and relatives, and schedules of learning rates."""

from . import lr_scheduler
from .adam import Adam, AdamW
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .others import Adagrad, Adamax, RMSprop
from .relatives import Adadelta, NAdam, RAdam
from .sgd import SGD

__all__ = [
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "lr_scheduler",
]


def __dir__() -> list[str]:
    return __all__
