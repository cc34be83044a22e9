"""`torch.optim`: gradient descent, Adam and relatives, and schedules of learning rates."""

from . import lr_scheduler, optimizer, swa_utils
from .lbfgs import LBFGS
from .optimizer import *

__all__ = ["LBFGS", "lr_scheduler", "swa_utils"]
__all__ += optimizer.__all__
