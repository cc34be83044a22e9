"""Results with names, such as `values` and `indices`."""

from __future__ import annotations

from collections import namedtuple
from types import SimpleNamespace
from typing import Any

return_types = SimpleNamespace()


def named(name: str, *fields: str) -> Any:
    """A type of tuples whose entries have names, too. `torch.return_types` has all of them."""
    made: Any = namedtuple(name, fields)  # type: ignore[misc]
    setattr(return_types, name, made)
    return made
