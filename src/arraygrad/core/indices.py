"""Indices, split into the arrays in them and a template in which `HOLE` stands for each of these.

So indices may be arrays of any type and under any transform: they are inputs of an op like any
other.
"""

from __future__ import annotations

from typing import Any


class _Hole:
    """The place of an array in an index."""

    def __repr__(self) -> str:
        return "HOLE"

    def __reduce__(self) -> str:
        return "HOLE"  # there is only one, also after pickling


HOLE = _Hole()
Template = tuple[Any, ...]


def fill(template: Template, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index: a template with arrays in its holes."""
    if not indices:
        return template
    rest = iter(indices)
    return tuple(next(rest) if part is HOLE else part for part in template)
