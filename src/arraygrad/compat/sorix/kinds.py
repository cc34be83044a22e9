"""What sorix says of tensors: devices, shapes and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import devices

__all__ = [
    "DType", "Device", "Size", "bool_", "float16", "float32", "float64", "int16", "int32", "int64",
    "numpy_dtype", "uint8",
]  # fmt: skip


class Device(devices.Device):
    """Where a tensor is: always the processor's memory here."""

    def __init__(self, device: str | Device) -> None:
        super().__init__(device, None if str(device) == "cpu" else 0)

    def __repr__(self) -> str:
        return f"device(type={self.type!r})" if self.index is None else f"device({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str | Device) and str(self) == str(Device(other))

    __hash__ = devices.Device.__hash__


class Size(tuple[int, ...]):
    """A shape."""

    def __repr__(self) -> str:
        return f"sorix.Size([{', '.join(map(str, self))}])"


class DType:
    """A data type. It equals its name, NumPy's dtype, and Python's type of that kind."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"sorix.{self.name}"

    def __eq__(self, other: object) -> bool:
        if other is int or other is float:
            return self.name.startswith(other.__name__)
        if isinstance(other, str):
            return self.name == other.removeprefix("sorix.")
        name = "bool" if other is bool else getattr(other, "name", None)
        return self.name == (name or getattr(other, "__name__", None))

    def __hash__(self) -> int:
        return hash(self.name)


float16, float32, float64 = DType("float16"), DType("float32"), DType("float64")
int16, int32, int64, uint8 = DType("int16"), DType("int32"), DType("int64"), DType("uint8")
bool_ = DType("bool")


def numpy_dtype(dtype: Any) -> Any:
    """NumPy's dtype for one of sorix's."""
    return np.dtype(dtype.name) if isinstance(dtype, DType) else dtype
