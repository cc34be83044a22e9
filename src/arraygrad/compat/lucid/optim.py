"""`lucid.optim`: the common optimisers."""

from ..optimisers import SGD, Adam, Optimizer, RMSprop

__all__ = ["SGD", "Adam", "Optimizer", "RMSprop"]


def __dir__() -> list[str]:
    return __all__
