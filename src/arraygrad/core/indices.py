"""An index as two parts: the arrays in it, and a template with a `HOLE` in the place of each array.

The arrays are inputs of the indexing op like any other input, so they may be of any type and under
any transform.
"""

from __future__ import annotations

from typing import Any


class _Hole:
    """The place of an array in an index."""

    def __repr__(self) -> str:
        return "HOLE"

    def __reduce__(self) -> str:
        return "HOLE"  # unpickling returns the one `HOLE`


HOLE = _Hole()
Template = tuple[Any, ...]


def fill(template: Template, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index: the template with `indices` in its holes."""
    if not indices:
        return template
    rest = iter(indices)
    return tuple(next(rest) if part is HOLE else part for part in template)
