"""`install`: this package in the place of `autograd`, for one process."""

from __future__ import annotations

from ..installing import take_place
from .boxes import ArrayBox, forward_box, reverse_box

__all__ = ["install"]


def install() -> None:
    """Put this package in the place of `autograd`: ``import autograd`` gives it from now on.

    Nothing on disk changes. Call it before anything imports autograd, else it raises RuntimeError.
    """
    take_place(__name__.rpartition(".")[0], "autograd")
    # Programs compare the name of the type.
    ArrayBox.__module__ = "autograd.numpy.numpy_boxes"
    reverse_box.cache_clear()
    forward_box.cache_clear()
