"""Declaring arraygrad's own ops: backends have kernels for these by name, so names are unique."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from . import op

if TYPE_CHECKING:  # they have the types of the others
    from .op import binary, constant, declare, unary
else:
    declare = functools.partial(op.declare, is_library=True)
    unary = functools.partial(op.unary, is_library=True)
    binary = functools.partial(op.binary, is_library=True)
    constant = functools.partial(op.constant, is_library=True)

__all__ = ["binary", "constant", "declare", "unary"]
