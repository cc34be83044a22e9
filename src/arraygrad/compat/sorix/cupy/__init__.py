"""`sorix.cupy`: whether tensors can be on a GPU."""

from .cupy import _cupy_available

__all__ = ["_cupy_available"]
