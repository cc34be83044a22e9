"""`torch.utils`: checkpoints."""

from . import checkpoint

__all__ = ["checkpoint"]


def __dir__() -> list[str]:
    return __all__
