"""`lucid._C.engine`: the errors by which Lucid says that a gradient does not fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ....errors import GraphFreedError, WrittenError

__all__ = [
    "DtypeMismatch", "ShapeMismatch", "VersionMismatch", "check_alike", "in_lucids_words",
    "is_mutation_on_saved_allowed", "mutation_was_allowed",
]  # fmt: skip

# A value that a gradient needs was written. This is rarely raised: arraygrad restores the values.
VersionMismatch = WrittenError


class ShapeMismatch(RuntimeError, ValueError):
    """A gradient has another shape than its tensor."""


class DtypeMismatch(RuntimeError):
    """A gradient has another dtype than its tensor."""


def check_alike(gradient: Any, like: Any, name: str) -> None:
    """Refuse a gradient that does not have the shape and dtype of a tensor."""
    if tuple(gradient.shape) != tuple(like.shape):
        raise ShapeMismatch(
            f"mismatch in shape: {name} has shape {tuple(gradient.shape)}, but must have "
            f"{tuple(like.shape)}"
        )
    if gradient.dtype != like.dtype:
        raise DtypeMismatch(
            f"mismatch in dtype: {name} has dtype {gradient.dtype}, but must have {like.dtype}"
        )


@contextmanager
def in_lucids_words() -> Iterator[None]:
    """Say of a graph that was freed what Lucid says."""
    try:
        yield
    except GraphFreedError as error:
        message = f"a differentiation went through the graph a second time: {error}"
        raise GraphFreedError(message) from None


mutation_was_allowed: ContextVar[bool] = ContextVar("lucid_mutation_was_allowed", default=False)


def is_mutation_on_saved_allowed() -> bool:
    """Whether the program runs in `allow_mutation_on_saved_tensors`.

    Outside of it, saved tensors may be written, too: their old values are kept for the gradient.
    """
    return mutation_was_allowed.get()
