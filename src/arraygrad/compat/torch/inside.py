"""Whether a function runs inside a transform of `torch.func`.

There, PyTorch refuses a few things that would leave a trace outside.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

_depth: ContextVar[int] = ContextVar("arraygrad_torch_transforms", default=0)


# The transforms that run, in all threads: functions look at it for each op.
INSIDE: list[Any] = []


class transforming:  # noqa: N801  (it is used like a function)
    """Run a function that is transformed inside."""

    def __enter__(self) -> None:
        self._token = _depth.set(_depth.get() + 1)
        INSIDE.append(self)

    def __exit__(self, *exc: Any) -> None:
        INSIDE.remove(self)
        _depth.reset(self._token)


def is_transforming() -> bool:
    """Whether the caller runs inside a transform of `torch.func`."""
    return _depth.get() > 0


def refuse_inside(what: str) -> None:
    """Raise if the caller runs inside a transform of `torch.func`."""
    if _depth.get():
        raise RuntimeError(
            f"You are attempting to call {what} inside of a function being transformed by "
            "torch.func, which PyTorch does not support: use torch.func.grad, vjp, jacrev, jacfwd "
            "or hessian there, or call it outside"
        )
