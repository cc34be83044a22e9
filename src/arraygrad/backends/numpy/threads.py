"""The threads that share the work on large NumPy arrays, and their number.

NumPy releases Python's lock while it computes, so several threads can compute pieces of one array
at the same time. The first shared work starts the threads; an import never does. A forked process
starts its own threads.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...core.locks import held

if TYPE_CHECKING:
    from queue import SimpleQueue

Task = tuple[contextvars.Context, Callable[[], None]]

# More threads do not help: they would wait for Python's lock, or for memory.
_MOST = 4


def _usable_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))  # may be fewer than the machine has
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _from_environment() -> int:
    text = os.environ.get("ARRAYGRAD_NUM_THREADS", "")
    if not text:
        return min(_usable_cores(), _MOST)
    if not text.isdecimal() or not int(text):
        raise ValueError(f"ARRAYGRAD_NUM_THREADS must be a positive integer, not {text!r}")
    return int(text)


class _Pool:
    """Threads that wait for tasks. A task that needs more threads than there are starts more."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[Task]  # made with the first thread
        self.lock = threading.Lock()
        self.started = 0

    def put(self, task: Callable[[], None], copies: int) -> None:
        """Let `copies` threads run `task`, each in a copy of the caller's context.

        The context contains, for example, NumPy's error state.
        """
        if self.started < copies:
            held(self.lock, self._start, copies)
        for _ in range(min(copies, self.started)):
            self.tasks.put((contextvars.copy_context(), task))

    def _start(self, wanted: int) -> None:
        from queue import SimpleQueue  # imported late, because it would slow down our own import

        if not self.started:
            self.tasks = SimpleQueue()
        while self.started < wanted:
            name = f"arraygrad-{self.started + 1}"
            thread = threading.Thread(target=_serve, args=(self.tasks,), name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # there are too many threads, or the interpreter is exiting
                return
            self.started += 1


def _serve(tasks: SimpleQueue[Task]) -> None:
    while True:
        context, task = tasks.get()
        context.run(task)
        del context, task  # do not keep their arrays alive while waiting


class _Work:
    """Pieces of work. Each thread takes the next piece when it has finished one."""

    def __init__(self, piece: Callable[[int], None], count: int) -> None:
        self.piece: Callable[[int], None] | None = piece
        self.count = count
        self.taken = 0
        self.open = 0  # pieces that are being worked on
        self.error: BaseException | None = None
        self.lock = threading.Lock()
        self.finished = threading.Lock()
        self.finished.acquire()

    def take(self) -> None:
        """Work on pieces until none is left, or one has failed."""
        while (taken := held(self.lock, self._next)) is not None:
            error: BaseException | None = None
            try:
                taken[0](taken[1])
            except BaseException as raised:
                error = raised
            del taken  # do not keep the arrays alive
            held(self.lock, self._end, error)

    def _next(self) -> tuple[Callable[[int], None], int] | None:
        if self.taken == self.count:
            return None
        assert self.piece is not None
        self.taken += 1
        self.open += 1
        return self.piece, self.taken - 1

    def _end(self, error: BaseException | None) -> None:
        self.open -= 1
        if error is not None:
            self.error = self.error or error
            self.taken = self.count
        if self.taken == self.count and not self.open:
            self.finished.release()

    def finish(self) -> None:
        """Wait for the pieces that other threads are working on. They take no more pieces now."""
        self.finished.acquire()
        self.piece = None  # a thread that comes late must not keep the arrays alive
        if self.error is not None:
            raise self.error


# Native code reads it, too.
is_alone_here: contextvars.ContextVar[bool] = contextvars.ContextVar(
    "arraygrad_alone", default=False
)
_pool = _Pool()
_number = _from_environment()
when_set: list[Callable[[], None]] = []  # called after the number was set


def _forget_threads() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def share(piece: Callable[[int], None], count: int) -> None:
    """Run ``piece(0)`` to ``piece(count - 1)`` in no particular order, on all threads at once.

    The calling thread works, too. So it never waits for a busy thread to begin, and a piece may
    itself share work. The first error stops the remaining pieces, and is raised.
    """
    helpers = 0 if is_alone_here.get() else min(_number, count) - 1
    if helpers < 1:
        for index in range(count):
            piece(index)
        return
    work = _Work(piece, count)
    _pool.put(work.take, helpers)
    work.take()
    work.finish()


@contextmanager
def alone() -> Iterator[None]:
    """Share no work inside: for a caller that is one of several threads with work of their own."""
    before = is_alone_here.get()
    try:
        is_alone_here.set(True)
        yield
    finally:
        is_alone_here.set(before)


def is_alone() -> bool:
    """Whether no work is to be shared: there is one thread only, or the caller has said so."""
    return _number == 1 or is_alone_here.get()


def get_num_threads() -> int:
    """How many threads may share the work on a large NumPy array.

    >>> ag.get_num_threads() >= 1
    True
    """
    return _number


def set_num_threads(number: int) -> None:
    """Set how many threads share the work on large NumPy arrays; with 1, only the caller's works.

    The default is the number of usable processor cores, but at most four. The environment variable
    ``ARRAYGRAD_NUM_THREADS`` changes the default. Results do not depend on the number.

    Matrix products use the threads of NumPy's BLAS library. If threadpoolctl is installed, it gets
    the same number from this call on, and rounding errors of products may change. If not, its own
    settings count, such as ``OPENBLAS_NUM_THREADS`` in the environment.

    Parameters
    ----------
    number : int

    Examples
    --------
    >>> import arraygrad as ag
    >>> before = ag.get_num_threads()
    >>> ag.set_num_threads(1)
    >>> ag.get_num_threads()
    1
    >>> ag.set_num_threads(before)
    """
    global _number
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"number must be a positive integer, not {number!r}")
    _number = number
    for follow in when_set:
        follow()
    _limit_products(number)


def _limit_products(number: int) -> None:
    """Let NumPy's BLAS library use so many threads, if we can tell it."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return
    threadpool_limits(number, user_api="blas")
