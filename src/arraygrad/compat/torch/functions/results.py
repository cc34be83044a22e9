"""Results with names, such as `values` and `indices`."""

from __future__ import annotations

from collections import namedtuple
from types import SimpleNamespace
from typing import Any

return_types = SimpleNamespace()


def named(name: str, *fields: str) -> Any:
    """A type of tuples whose entries have names, too. `torch.return_types` has all of them."""
    base: Any = namedtuple(name, fields)  # type: ignore[misc]
    made = type(name, (base,), {"__repr__": _shown, "__slots__": ()})
    setattr(return_types, name, made)
    return made


def _shown(self: Any) -> str:
    lines = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"torch.return_types.{type(self).__name__}(\n{lines})"
