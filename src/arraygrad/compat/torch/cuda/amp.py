"""`torch.cuda.amp`: mixed precision under its old name."""

from ..amp import GradScaler, autocast

__all__ = ["GradScaler", "autocast"]
