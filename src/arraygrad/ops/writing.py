"""Putting values into an array: the op behind every write to a part of a tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .elementwise import where
from .indexing import HOLE, Template, _getitem, fill
from .op import declare, plain
from .shape import _reshape

# A function that gives a view, and its keywords.
Step = tuple[Callable[..., Any], dict[str, Any]]


class Region:
    """A part of an array: what a chain of views, and then perhaps an index, leads to.

    Parameters
    ----------
    shape : tuple of int
        Of the whole array.
    steps : tuple of (function, keywords)
        The views, from the whole array on.
    index : (template, arrays), optional
        What part of the last view; all of it, if None.
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
        """The region's elements of an array `x` of any type."""
        x = self.view(x)
        if self.index is None:
            return x
        template, indices = self.index
        return _getitem(x, *indices, template=template)

    def assign(self, array: Any, value: Any) -> None:
        """Write `value` into the region of a plain NumPy array."""
        view = self.view(array)
        view[... if self.index is None else fill(*self.index)] = value

    def mask(self) -> Any:
        """Where the region is."""
        found = np.zeros(self.shape, bool)
        self.assign(found, True)
        return found

    def survivors(self) -> Any:
        """Of the values written, which were not overwritten by a later one of the same write."""
        if self.index is None or all(plain(i).dtype.kind == "b" for i in self.index[1]):
            return None
        places = np.full(self.shape, -1)
        order = np.arange(self.read(places).size).reshape(self.read(places).shape)
        self.assign(places, order)
        survive = self.read(places) == order
        return None if survive.all() else survive

    def batched(self, size: int) -> Region:
        """The region of each member of a batch of arrays, flattened to lines."""
        numbers = np.arange(math.prod(self.shape)).reshape(self.shape)
        places = self.read(numbers)
        return Region((size, math.prod(self.shape)), (), ((slice(None), HOLE), (places,)))


def _put(xp: Any, x: Any, value: Any, region: Region) -> Any:
    out = np.array(x)
    region.assign(out, value)
    return out


def _cleared(g: Any, region: Region) -> Any:
    """The cotangent of what was there before: none of it in the region."""
    if type(g) is np.ndarray:
        cleared = np.array(g)
        region.assign(cleared, 0)
        return cleared
    return where(region.mask(), 0, g)


def _written(g: Any, region: Region) -> Any:
    """The cotangent of what was written: the region's, for values that survived."""
    part = region.read(g)
    survive = region.survivors()
    return part if survive is None else where(survive, part, 0)


def _batched_put(op: Any, arrays: tuple[Any, ...], batched: tuple[bool, ...], params: Any) -> Any:
    from .batching import everywhere, padded, size_of

    (x, value), region = arrays, params["region"]
    size = size_of(arrays, batched)
    ndim = len(region.read(np.broadcast_to(False, region.shape)).shape)
    x = everywhere(x, batched[0], size)
    lines = _reshape(x, shape=(size, math.prod(region.shape)))
    value = padded(value, batched[1], ndim) if batched[1] else value
    return _reshape(put(lines, value, region=region.batched(size)), shape=x.shape)


put = declare(
    "put",
    "x",
    "value",
    compute=_put,
    vjp_x=lambda g, region: _cleared(g, region),
    vjp_value=lambda g, region: _written(g, region),
    linear=True,
    batch=_batched_put,
)
