"""Functions that are called when `backward` has ended: `Variable._execution_engine`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Callback = Callable[[], object]


class Engine:
    """Keeps callbacks until the outermost `backward` ends, and knows which leaves get gradients."""

    def __init__(self) -> None:
        self._queued: ContextVar[list[Callback] | None] = ContextVar(
            "arraygrad_callbacks", default=None
        )
        self.partial: ContextVar[bool] = ContextVar("arraygrad_partial", default=False)

    @property
    def is_partial(self) -> bool:
        """Whether only some tensors get gradients, so that `backward` inside would be wrong."""
        return self.partial.get()

    def queue_callback(self, callback: Callback) -> None:
        """Call a function at the end of the `backward` that runs."""
        queued = self._queued.get()
        if queued is None:
            raise RuntimeError("queue_callback() is for hooks that run in backward()")
        queued.append(callback)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run `backward` inside, and then the callbacks."""
        queued: list[Callback] = []
        token = self._queued.set(queued)
        try:
            yield
            while queued:
                queued.pop(0)()
        finally:
            self._queued.reset(token)


engine = Engine()
