"""`torch.utils.dlpack`: memory that is shared with other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..creation import from_numpy
from ..handles import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor on the memory of an array of another library."""
    return from_numpy(np.from_dlpack(ext_tensor))


def to_dlpack(tensor: Tensor) -> Any:
    """The memory of a tensor, for another library."""
    return tensor.numpy().__dlpack__()
