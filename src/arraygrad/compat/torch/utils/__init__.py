"""`torch.utils`: checkpoints, data in batches, hooks, shared memory."""

from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]
