"""Putting values into an array: the op behind every write to a part of a tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backends import backend_of
from ..backends.standard import put_by_choice
from .define.op import declare
from .elementwise import declare_choice, where
from .regions import Region, in_library
from .shape import _reshape


def _put(xp: Any, x: Any, value: Any, region: Region) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        out = np.array(x)
        region.assign(out, value)
        return out
    return put_by_choice(xp, x, value, region)


def _cleared(g: Any, region: Region) -> Any:
    """The cotangent of what was there before: none of it in the region."""
    return put(g, 0, region=region)


def _written(g: Any, region: Region) -> Any:
    """The cotangent of what was written: the region's, for values that survived."""
    part = region.read(g)
    special = backend_of(g).kernels.get("survivors")
    survive = region.survivors() if special is None else special(region)
    return part if survive is None else where(in_library(survive, g), part, 0)


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
