"""The methods of `Tensor` that compute. Each module here attaches some, when it is imported."""

from . import conversions, copies, indices, memory, operators

__all__ = ["conversions", "copies", "indices", "memory", "operators"]
