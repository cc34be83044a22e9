"""Results with names, such as `values` and `indices`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def named(name: str, *fields: str) -> Any:
    """A type of tuples whose entries have names, too."""
    return namedtuple(name, fields)
