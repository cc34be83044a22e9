"""`Region`: a part of an array, given by views and an index. The op that writes is in `writing`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends import backend_of
from ..core.array import plain
from ..core.indices import HOLE, Template, fill
from ..core.kinds import Kind
from ..core.memory import owner_of
from .elementwise import imag, real
from .indexing import _getitem
from .pairs import as_pairs, from_pairs

# A function that returns a view, and its keywords.
Step = tuple[Callable[..., Any], dict[str, Any]]


class Region:
    """A part of an array, given by a chain of views and an optional index.

    Parameters
    ----------
    shape : tuple of int
        The shape of the whole array.
    steps : tuple of (function, keywords)
        The chain of views. The first is a view of the whole array.
    index : (template, arrays), optional
        The index of the part in the last view; None for the whole view.
    """

    __slots__ = ("index", "shape", "steps")

    def __init__(
        self,
        shape: tuple[int, ...],
        steps: tuple[Step, ...] = (),
        index: tuple[Template, tuple[Any, ...]] | None = None,
    ) -> None:
        self.shape = shape
        self.steps = steps
        self.index = index

    def view(self, x: Any) -> Any:
        """The last view of an array `x` of any type."""
        for function, keywords in self.steps:
            x = function(x, **keywords)
        return x

    def read(self, x: Any) -> Any:
        """The elements of an array `x`, of any type, in the region."""
        x = self.view(x)
        if self.index is None:
            return x
        template, indices = self.index
        if indices and not isinstance(plain(x), np.ndarray | np.generic):
            indices = tuple([in_library(i, x) for i in indices])
        return _getitem(x, *indices, template=template)

    def shared(self, array: Any) -> Any:
        """The region of a plain NumPy array as a view of this array, if all steps are slices.

        None if there are other steps, because these may copy.
        """
        if self.index is not None and self.index[1]:
            return None
        for function, keywords in self.steps:
            if function is not _getitem:
                return None
            array = array[keywords["template"]]
        return array if self.index is None else array[self.index[0]]

    def is_view(self) -> bool:
        """Whether the region of an array of any layout is a view of it, of whole elements."""
        if self.index is not None and self.index[1]:
            return False
        return all(_kind_of(function).view in ("always", "index") for function, _ in self.steps)

    def mask(self) -> Any:
        """The array of bools that is the index, if there is nothing else; or None."""
        if self.steps or self.index is None or self.index[0] != (HOLE,):
            return None
        (mask,) = self.index[1]
        is_mask = isinstance(mask, np.ndarray) and mask.dtype == np.bool_
        return mask if is_mask and mask.shape == self.shape else None

    def assign(self, array: Any, value: Any) -> None:
        """Write `value` into the region of a plain NumPy array."""
        views = [array]
        for function, keywords in self.steps:
            views.append(function(views[-1], **keywords))
        views[-1][... if self.index is None else fill(*self.index)] = value
        # This array's order in memory may differ from the order of the array whose views the steps
        # describe. Then `reshape` or `from_pairs` returns a copy, which has to be written back.
        steps = reversed(self.steps)
        for whole, part, step in zip(views[-2::-1], views[:0:-1], steps, strict=True):
            if owner_of(part) is not owner_of(whole):
                part = as_pairs(part) if step[0] is from_pairs else part
                whole[...] = part.reshape(whole.shape)

    def splits_elements(self) -> bool:
        """Whether elements of the region are parts, or pairs, of elements of the array."""
        return any(function in (real, imag, as_pairs, from_pairs) for function, _ in self.steps)

    def survivors(self) -> Any:
        """Which values of a write stay; None if all do.

        If an index names a place several times, only the last value for this place stays.
        """
        if self.index is None or all(i.dtype.kind == "b" for i in self.index[1]):
            return None
        places = np.full(self.view(np.broadcast_to(False, self.shape)).shape, -1)
        index = fill(*self.index)
        order = np.arange(places[index].size).reshape(places[index].shape)
        places[index] = order
        survive = places[index] == order
        return None if survive.all() else survive

    def batched(self, size: int) -> Region:
        """The same region in each member of a batch of `size` arrays, each flattened to a line."""
        numbers = np.arange(math.prod(self.shape)).reshape(self.shape)
        places = self.read(numbers)
        return Region((size, math.prod(self.shape)), (), ((slice(None), HOLE), (places,)))


def _kind_of(function: Any) -> Kind:
    """The kind of the op behind a function of a step."""
    op = getattr(function, "op", None)
    return op.kind if op is not None else Kind()


def in_library(array: Any, g: Any) -> Any:
    """A NumPy array as an array of the library of `g`."""
    backend = backend_of(g)
    return backend.xp.asarray(array, device=backend.device(plain(g)))
