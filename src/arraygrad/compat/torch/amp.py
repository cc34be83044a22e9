"""`torch.amp`: mixed precision, which changes nothing on a CPU."""

from __future__ import annotations

import contextlib
from typing import Any

__all__ = ["GradScaler", "autocast"]


class autocast(contextlib.ContextDecorator):  # noqa: N801  (torch's name)
    """A block, or a function, that is computed in the dtypes that its tensors have."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        """Take, and leave out of account, a device, a dtype and so on."""

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class GradScaler:
    """Scales nothing: gradients on a CPU are not in half precision."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        """Take, and leave out of account, a device, a scale and so on."""

    def scale(self, outputs: Any) -> Any:
        """The loss itself."""
        return outputs

    def step(self, optimizer: Any, *args: Any, **keywords: Any) -> Any:
        """A step of the optimiser."""
        return optimizer.step(*args, **keywords)

    def update(self, *args: Any, **keywords: Any) -> None:
        """Nothing, as `unscale_` and `load_state_dict`: there is no scale."""

    unscale_ = load_state_dict = update

    def get_scale(self) -> float:
        """One."""
        return 1.0

    def is_enabled(self) -> bool:
        """False."""
        return False

    def state_dict(self) -> dict[str, Any]:
        """Empty."""
        return {}
