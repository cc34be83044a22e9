"""Locks that no interrupt leaves locked."""

from __future__ import annotations

from typing import Any


def acquire(lock: Any, locked: list[bool]) -> None:
    """Acquire a lock and fill an empty list, so that no interrupt can come in between.

    In Python 3.14, an interrupt can come just before the block of ``with lock:`` begins. Then the
    lock is never released. Instead, write::

        locked = []
        try:
            acquire(lock, locked)
            ...
        finally:
            if locked:
                lock.release()
    """
    locked.extend(map(lock.acquire, (True,)))  # one call: Python looks for interrupts after it
