"""`torch.utils.hooks`: what registering a hook gives."""

from ....core.nodes import RemovableHandle

__all__ = ["RemovableHandle"]
