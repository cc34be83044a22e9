"""`torch.utils.dlpack`: memory that is shared with other libraries."""

from __future__ import annotations

from typing import Any

from ..creation import from_dlpack
from ..handles import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """The memory of a tensor, for another library."""
    return tensor.__dlpack__()
