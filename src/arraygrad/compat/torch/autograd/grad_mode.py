"""`torch.autograd.grad_mode`: contexts in which gradients are recorded, or not."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

from .... import autograd as native
from ....autograd import is_grad_enabled, is_inference_mode_enabled

__all__ = [
    "enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad",
    "set_grad_enabled",
]  # fmt: skip


class _OfClasses:
    """Decorates classes, too, as old programs do: the mode is then in force where one is made."""

    def __call__(self: Any, function: Any) -> Any:
        if not isinstance(function, type):
            return super().__call__(function)  # type: ignore[misc]
        warnings.warn(
            "Decorating classes is deprecated: decorate the methods", FutureWarning, stacklevel=2
        )

        @functools.wraps(function, updated=())
        def make(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return make


if TYPE_CHECKING:  # as type checkers see arraygrad's
    from ....autograd import enable_grad, inference_mode, no_grad, set_grad_enabled
else:

    class no_grad(_OfClasses, native.no_grad):  # noqa: N801  (torch's name)
        """Record no ops inside."""

    class enable_grad(_OfClasses, native.enable_grad):  # noqa: N801  (torch's name)
        """Record again inside `no_grad`."""

    class inference_mode(_OfClasses, native.inference_mode):  # noqa: N801  (torch's name)
        """Record no ops inside, and mark the results as inference tensors."""

    class set_grad_enabled(_OfClasses, native.set_grad_enabled):  # noqa: N801  (torch's name)
        """Switch recording on or off."""
