"""`lucid.autograd.graph`: what is kept for the gradient, and where."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ....autograd.graph import save_on_cpu, saved_tensors_hooks
from .._C.engine import mutation_was_allowed

__all__ = ["allow_mutation_on_saved_tensors", "save_on_cpu", "saved_tensors_hooks"]


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[None]:
    """Say that tensors that are kept for the gradient may be written.

    They may be outside, too. The gradient needs their old values, and gets them.
    """
    before = mutation_was_allowed.set(True)
    try:
        yield
    finally:
        mutation_was_allowed.reset(before)
