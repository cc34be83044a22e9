"""`torch.types`: names for types in signatures."""

from collections.abc import Sequence
from typing import Any

from .dtypes import Size, device, dtype

__all__ = ["Device", "Number", "Size", "_device", "_dtype", "_size"]

Number = int | float | bool
Device = device | str | int | None
_device, _dtype = device, dtype
_size = Size | Sequence[int]
Storage = Any
