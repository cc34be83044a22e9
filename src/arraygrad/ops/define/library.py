"""The functions that declare arraygrad's own ops. Users' ops are declared by those in `op`.

Backends have kernels for arraygrad's own ops by name, so these names are unique.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from . import op

if TYPE_CHECKING:  # the types are the same
    from .op import binary, constant, declare, unary
else:
    declare = functools.partial(op.declare, is_library=True)
    unary = functools.partial(op.unary, is_library=True)
    binary = functools.partial(op.binary, is_library=True)
    constant = functools.partial(op.constant, is_library=True)

__all__ = ["binary", "constant", "declare", "unary"]
