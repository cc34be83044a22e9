"""An index as two parts: the arrays in it, and a template with a `HOLE` in the place of each array.

The arrays are inputs of the indexing op like any other input, so they may be of any type and under
any transform. `Index` is the normal form of both for an array of some shape.

As in NumPy, an index of integers for all axes reads a number, not a view. With `...` it is a view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


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


def is_apart(template: Template) -> bool:
    """Whether something separates index arrays: NumPy puts their axes in front of all others.

    Integers count as index arrays here, and `...` separates also if it stands for no axis.
    """
    where = [k for k, part in enumerate(template) if part is HOLE or isinstance(part, int)]
    return bool(where) and where[-1] - where[0] + 1 != len(where)


class Part(NamedTuple):
    """The part of an index for one axis: an integer, a slice or an array. The axis may be new."""

    value: Any
    new: bool = False

    @property
    def is_array(self) -> bool:
        """Whether the part is an array of integers."""
        return not isinstance(self.value, int | slice)


class Index:
    """An index in normal form: one part for each axis, no `...`, no masks, slices inside bounds.

    Parameters
    ----------
    template, indices
        The template of the index, and the arrays for its holes.
    shape : tuple of int
        The shape of the array. A length that is not known is not a number.
    positions : function
        Takes an array of the index; returns a list of arrays of integers for a mask, else None.

    Attributes
    ----------
    parts : list of Part
        One for each axis of the array, and for each new axis.
    is_apart : bool
        Whether the axes of index arrays come in front of all others.

    Examples
    --------
    >>> [part.value for part in Index((0, Ellipsis, slice(-9, 9)), (), (2, 3, 4)).parts]
    [0, slice(None, None, None), slice(None, None, None)]
    """

    __slots__ = ("is_apart", "parts")

    def __init__(
        self,
        template: Template,
        indices: Sequence[Any],
        shape: tuple[int, ...],
        positions: Callable[[Any], Sequence[Any] | None] = lambda index: None,
    ) -> None:
        rest, masks = iter(indices), []
        parts: list[Part] = []
        gap = None
        for part in template:
            if part is Ellipsis:
                gap = len(parts)
            elif part is None:
                parts.append(Part(slice(None), new=True))
            elif part is not HOLE:
                parts.append(Part(part))
            else:
                index = next(rest)
                found = positions(index)
                if found is None:
                    parts.append(Part(index))
                elif index.ndim:
                    masks.append((index, Part(found[0])))
                    parts += [masks[-1][1], *map(Part, found[1:])]
                else:  # a 0-d mask takes all or nothing of a new axis
                    parts.append(Part(found[0], new=True))
        missing = len(shape) - sum(not p.new for p in parts)
        if missing < 0:
            raise IndexError(f"too many indices for an array of {len(shape)} dimensions")
        gap = len(parts) if gap is None else gap
        parts[gap:gap] = [Part(slice(None))] * missing
        for mask, first in masks:
            _check_mask(mask, shape, next(k for k, p in enumerate(parts) if p is first), parts)
        lengths = iter(shape)
        self.parts = [p if p.new else Part(_inside(p.value, next(lengths))) for p in parts]
        self.is_apart = is_apart(template)

    @property
    def lead(self) -> int:
        """How many axes of the result come before the axes of the index arrays, as in NumPy."""
        if self.is_apart:
            return 0
        return next(k for k, p in enumerate(self.parts) if not isinstance(p.value, slice))


def _check_mask(mask: Any, shape: tuple[int, ...], at: int, parts: list[Part]) -> None:
    axis = sum(not p.new for p in parts[:at])
    wanted = shape[axis : axis + mask.ndim]
    if any(n == n and n != m for n, m in zip(wanted, mask.shape, strict=True)):
        raise IndexError(
            f"a mask of shape {tuple(mask.shape)} does not fit axes of lengths {wanted}"
        )


def _inside(part: Any, n: int) -> Any:
    """A part of an index for an axis of length `n`; the ends of a slice are moved into the axis."""
    if not isinstance(part, slice) or n != n:
        return part
    taken = range(n)[part]
    if taken == range(n):
        return slice(None)
    if not taken:
        return slice(0, 0, 1)
    return slice(taken.start, None if taken.stop < 0 else taken.stop, taken.step)
