"""`lucid.utils.checkpoint`."""

from ..autograd import checkpoint

__all__ = ["checkpoint"]


def __dir__() -> list[str]:
    return __all__
