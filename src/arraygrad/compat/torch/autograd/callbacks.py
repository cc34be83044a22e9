"""Functions that are called when `backward` has ended: `Variable._execution_engine`."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

Callback = Callable[[], object]


class Engine:
    """Keeps callbacks until the outermost `backward` ends."""

    def __init__(self) -> None:
        self._queued: ContextVar[list[Callback] | None] = ContextVar(
            "arraygrad_callbacks", default=None
        )

    def queue_callback(self, callback: Callback) -> None:
        """Call a function at the end of the `backward` that runs."""
        queued = self._queued.get()
        if queued is None:
            raise RuntimeError("queue_callback() is for hooks that run in backward()")
        queued.append(callback)

    def run(self, function: Callable[..., None], *args: Any) -> None:
        """Run `backward`, and then the callbacks."""
        queued: list[Callback] = []
        token = self._queued.set(queued)
        try:
            function(*args)
            while queued:
                queued.pop(0)()
        finally:
            self._queued.reset(token)


engine = Engine()
