"""An index as two parts: the arrays in it, and a template with a `HOLE` in the place of each array.

The arrays are inputs of the indexing op like any other input, so they may be of any type and under
any transform.

As in NumPy, an index of integers for all axes reads a number, not a view. With `...` it is a view.
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
_INTEGERS = {int}


def is_item(template: Template) -> bool:
    """Whether a template, for all axes of an array, consists of integers: NumPy reads a number."""
    return _INTEGERS.issuperset(map(type, template))


def as_view(template: Template) -> Template:
    """The template with which NumPy gives a view also of a single element."""
    return (*template, Ellipsis) if _INTEGERS.issuperset(map(type, template)) else template


def at(i: int, axis: int, ndim: int) -> Template:
    """The index of slice `i` along an axis: of an item, if there is no other axis."""
    lead = (slice(None),) * axis
    return (*lead, i, Ellipsis) if ndim > 1 else (i,)


def fill(template: Template, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index: the template with `indices` in its holes."""
    if not indices:
        return template
    rest = iter(indices)
    return tuple(next(rest) if part is HOLE else part for part in template)
