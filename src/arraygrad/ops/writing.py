"""Putting values into an array: the op behind every write to a part of a tensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends import backend_of
from ..core.array import plain
from ..core.versions import owner_of
from .define.op import declare
from .elementwise import declare_choice, imag, real, where
from .indexing import HOLE, Template, _getitem, fill
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
        if indices and not isinstance(plain(x), np.ndarray | np.generic):
            indices = tuple([_like(i, x) for i in indices])
        return _getitem(x, *indices, template=template)

    def shared(self, array: Any) -> Any:
        """The region of a plain NumPy array as a view of it, where basic indices lead there.

        None if there are other steps, which may copy.
        """
        if self.index is not None and self.index[1]:
            return None
        for function, keywords in self.steps:
            if function is not _getitem:
                return None
            array = array[keywords["template"]]
        return array if self.index is None else array[self.index[0]]

    def assign(self, array: Any, value: Any) -> None:
        """Write `value` into the region of a plain NumPy array."""
        views = [array]
        for function, keywords in self.steps:
            views.append(function(views[-1], **keywords))
        views[-1][... if self.index is None else fill(*self.index)] = value
        # Where this array's elements lie in another order than those of the array that the views
        # were of, a reshape gives a copy, which has to be put back.
        for whole, part in zip(views[-2::-1], views[:0:-1], strict=True):
            if owner_of(part) is not owner_of(whole):
                whole[...] = part.reshape(whole.shape)

    def splits_elements(self) -> bool:
        """Whether it is of real or imaginary parts only."""
        return any(function in (real, imag) for function, _ in self.steps)

    def survivors(self) -> Any:
        """Of the values written, which were not overwritten by a later one of the same write."""
        if self.index is None or all(i.dtype.kind == "b" for i in self.index[1]):
            return None
        places = np.full(self.view(np.broadcast_to(False, self.shape)).shape, -1)
        index = fill(*self.index)
        order = np.arange(places[index].size).reshape(places[index].shape)
        places[index] = order
        survive = places[index] == order
        return None if survive.all() else survive

    def batched(self, size: int) -> Region:
        """The region of each member of a batch of arrays, flattened to lines."""
        numbers = np.arange(math.prod(self.shape)).reshape(self.shape)
        places = self.read(numbers)
        return Region((size, math.prod(self.shape)), (), ((slice(None), HOLE), (places,)))


def _put(xp: Any, x: Any, value: Any, region: Region) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        out = np.array(x)
        region.assign(out, value)
        return out
    # By a choice between the old and the new elements, for arrays that may not be writable.
    numbers = np.arange(1, math.prod(region.shape) + 1).reshape(region.shape)
    order = np.zeros(region.shape, np.int64)
    places = np.arange(region.read(numbers).size).reshape(region.read(numbers).shape)
    region.assign(order, places + 1)
    backend = backend_of(x)
    value = xp.astype(xp.asarray(value, device=backend.device(x)), x.dtype)
    wide = xp.reshape(xp.broadcast_to(value, places.shape), (-1,))
    taken = xp.take(wide, backend.integers(x, np.maximum(order - 1, 0).reshape(-1).tolist()))
    mask = xp.asarray(order > 0, device=backend.device(x))
    return xp.where(mask, xp.reshape(taken, region.shape), x)


def _cleared(g: Any, region: Region) -> Any:
    """The cotangent of what was there before: none of it in the region."""
    return put(g, 0, region=region)


def _written(g: Any, region: Region) -> Any:
    """The cotangent of what was written: the region's, for values that survived."""
    part = region.read(g)
    special = backend_of(g).kernels.get("survivors")
    survive = region.survivors() if special is None else special(region)
    return part if survive is None else where(_like(survive, g), part, 0)


def _like(array: Any, g: Any) -> Any:
    """A NumPy array as an array of the library of `g`."""
    backend = backend_of(g)
    return backend.xp.asarray(array, device=backend.device(plain(g)))


def _batched_put(op: Any, arrays: tuple[Any, ...], batched: tuple[bool, ...], params: Any) -> Any:
    from .batching import everywhere, loop, padded, size_of

    (x, value), region = arrays, params["region"]
    if region.splits_elements():  # a part of one has no number
        return loop(op, arrays, batched, params)
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
    holomorphic=False,
    batch=_batched_put,
)


def write_back(sweep: Any, node: Any, g: Any, table: Any, owned: Any, spare: bool) -> None:
    """Clear the region in the cotangent itself, if nobody else has it, rather than in a copy.

    So writing an array element by element costs no more than writing it at once.
    """
    (region,) = node.saved
    edges, positions = node.edges, node.pullback.positions
    arrives = sweep.overwritten.pass_on(node, g, node.saved)
    before = edges[0] if arrives[0] and positions[0] == 0 else None
    value = edges[-1] if arrives[-1] and positions[-1] == 1 else None
    if before is not None and not (spare and g.flags.writeable):
        g = np.array(g)
    part = region.shared(g)
    if value is not None:
        # A copy, because the region is about to be cleared.
        written = np.array(_written(g, region) if part is None else part)
        sweep.add(table, owned, value, written, node)
    if before is not None:
        if part is None:
            region.assign(g, 0)
        else:
            part.fill(0)
        if before in table:
            sweep.add(table, owned, before, g, node)
        else:
            table[before] = g
            owned.add(before)


def _live(mask: Any, pullback: Any, wanted: list[bool], saved: tuple[Any, ...]) -> list[Any]:
    """What is live in what was there before, and in what was written; `mask` may be changed."""
    (region,) = saved
    parts: list[Any] = [None] * len(wanted)
    if region.splits_elements():
        return parts
    if wanted[-1] and pullback.positions[-1] == 1:
        if region.steps or region.index is None or region.index[1]:
            written = np.array(_written(mask, region), np.bool_)
        else:  # as most often, and much cheaper
            written = mask[region.index[0]]
        if not written.all():
            parts[-1] = np.array(written)
    if wanted[0] and pullback.positions[0] == 0:
        region.assign(mask, False)
        parts[0] = mask
    return parts


put.op.direct = write_back  # type: ignore[attr-defined]
put.op.live = _live  # type: ignore[attr-defined]
put.op.overwrites = True  # type: ignore[attr-defined]

choose = declare_choice(
    "choose",
    compute=lambda xp, condition, x, y: xp.where(condition, x, y),
    doc="`where`, for a mask that says which elements count: the others are as good as not there.",
)
choose.op.overwrites = True  # type: ignore[attr-defined]
