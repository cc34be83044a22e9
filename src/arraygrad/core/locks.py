"""Locks that no interrupt leaves locked."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def held(lock: Any, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function while a lock is held.

    In Python 3.14, an interrupt can come just before the block of ``with lock:`` begins. Then the
    lock is never released.
    """
    locked: list[bool] = []
    try:
        # One call acquires the lock and notes it: Python looks for interrupts after it.
        locked.extend(map(lock.acquire, (True,)))
        return function(*args, **kwargs)
    finally:
        if locked:
            lock.release()


def once(function: Callable[[], R]) -> Callable[[], R]:
    """A function without arguments that runs once in the process, also if threads call it at once.

    With `functools.cache`, each thread may run the function, and one result stays. If a result owns
    native code, its address must not outlive it: so all threads must have the same result.
    """
    made: list[R] = []
    lock = threading.RLock()

    def make() -> None:
        if not made:
            made.append(function())

    @functools.wraps(function)
    def get() -> R:
        if not made:
            held(lock, make)
        return made[0]

    return get
