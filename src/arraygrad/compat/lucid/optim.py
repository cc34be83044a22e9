"""`lucid.optim`: the common optimisers."""

from ..optimisers import SGD, Adam, RMSprop
from ..optimisers import Plain as Optimizer

__all__ = ["SGD", "Adam", "Optimizer", "RMSprop"]
