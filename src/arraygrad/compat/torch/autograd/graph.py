"""`torch.autograd.graph`: arraygrad's own graph tools, which have PyTorch's names."""

from ....autograd.graph import *  # noqa: F403
from ....autograd.graph import __all__ as __all__


def __dir__() -> list[str]:
    return __all__
