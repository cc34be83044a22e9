"""Results with names, such as `values` and `indices`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

KINDS: dict[str, Any] = {}


def named(name: str, *fields: str) -> Any:
    """A type of tuples whose entries have names, too. `torch.return_types` has all of them."""
    made = KINDS[name] = namedtuple(name, fields)
    return made
