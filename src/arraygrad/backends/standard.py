"""Any array library that follows the Array API standard and has no file of its own here."""

from __future__ import annotations

import sys

from . import Backend


def standard_backend(array_type: type) -> Backend:
    """The backend of a type of array that says itself which namespace it belongs to."""
    module = array_type.__module__.partition(".")[0]
    return Backend(module, sys.modules[module])
