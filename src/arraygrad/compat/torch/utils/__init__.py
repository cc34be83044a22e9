"""`torch.utils`: checkpoints, and data in batches."""

from . import checkpoint, data

__all__ = ["checkpoint", "data"]


def __dir__() -> list[str]:
    return __all__
