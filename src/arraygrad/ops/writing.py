"""The op `put`: an array with new values in a region. Every write to a part of a tensor uses it.

Regions are in `regions`; the methods of tensors that write are in `arrays.writes`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..backends import backend_of
from ..backends.standard import put_by_choice
from ..core.array import Array
from ..core.kinds import Elementwise, Moves
from .define.library import declare
from .define.op import Own
from .define.rules import Partial
from .elementwise import where
from .padding import everywhere, loop, padded, size_of
from .regions import Region, in_library
from .shape import _reshape


def _written(g: Any, region: Region) -> Any:
    """The cotangent of the new values: that of the region, and zero for values that did not stay.

    If an index names a place several times, only the last value for this place stays.
    """
    part = region.read(g)
    survive = backend_of(g).survivors(region)
    return part if survive is None else where(in_library(survive, g), part, 0)


def _batched_put(op: Any, arrays: tuple[Any, ...], flags: tuple[bool, ...], params: Any) -> Any:
    (x, value), region = arrays, params["region"]
    if region.splits_elements():  # `Region.batched` cannot express a part of an element
        return loop(op, arrays, flags, params)
    size = size_of(arrays, flags)
    ndim = len(region.read(np.broadcast_to(False, region.shape)).shape)
    x = everywhere(x, flags[0], size)
    lines = _reshape(x, shape=(size, math.prod(region.shape)))
    value = padded(value, flags[1], ndim) if flags[1] else value
    return _reshape(put(lines, value, region=region.batched(size)), shape=x.shape)


def _parts(
    g: Any, pullback: Any, wanted: list[bool], saved: Any, spare: bool
) -> list[Partial | None]:
    """Both cotangents. The region is cleared in `g` itself, not in a copy, if it is spare.

    This way the gradient of a loop that writes single elements takes linear time.
    """
    (region,) = saved
    parts: list[Partial | None] = [None] * len(wanted)
    clears = wanted[0] and pullback.positions[0] == 0
    if clears and not (spare and g.flags.writeable):
        g = np.array(g)
    part = region.shared(g)
    if wanted[-1] and pullback.positions[-1] == 1:
        # Copy it, because the region is cleared next.
        parts[-1] = np.array(_written(g, region) if part is None else part), None
    if clears:
        if part is None:
            region.assign(g, 0)
        else:
            part.fill(0)
        parts[0] = g, None
    return parts


def _live(mask: Any, pullback: Any, wanted: list[bool], saved: tuple[Any, ...]) -> list[Any]:
    """Which elements of the array before the write, and of the new values, are live.

    It may change `mask`: a new mask for each write would cost more.
    """
    (region,) = saved
    parts: list[Any] = [None] * len(wanted)
    if region.splits_elements():
        return parts
    if wanted[-1] and pullback.positions[-1] == 1:
        if region.steps or region.index is None or region.index[1]:
            written = np.array(_written(mask, region), np.bool_)
        else:  # the usual case, and much cheaper
            written = mask[region.index[0]]
        if not written.all():
            parts[-1] = np.array(written)
    if wanted[0] and pullback.positions[0] == 0:
        region.assign(mask, False)
        parts[0] = mask
    return parts


put = declare(
    "put",
    "x",
    "value",
    compute=put_by_choice,
    vjp_x=lambda g, region: put(g, 0, region=region),
    vjp_value=lambda g, region: _written(g, region),
    kind=Moves(puts=True),
    own=Own(batch=_batched_put, partial=_parts, live=_live),
)


# The step from an array to the same values as constants: a write through it changes the values.
detached = declare("detached", "x", compute=lambda xp, x: x, kind=Moves(shares=True))
# The values of one array with the derivatives of another.
_revalued = declare(
    "revalued",
    "x",
    "value",
    compute=lambda xp, x, value: value,
    vjp_x=lambda g: g,
    jvp=lambda t_x: t_x,
    kind=Elementwise(),
    holomorphic=False,
)


def put_detached(x: Any, value: Any, region: Region) -> Any:
    """`put` through a detached view: the values change, and no derivative knows of it."""
    for array in _layers(value):
        if getattr(array, "_node", None) is not None or hasattr(array, "tangent"):
            raise RuntimeError(
                "a value that carries derivatives cannot be written through detach(), where they "
                "would be lost: write to the tensor itself, or to a clone() of what detach() gives"
            )
    constant = x.detach() if isinstance(x, Array) else x
    return _revalued(x, put(constant, value, region=region))


def _layers(value: Any) -> Iterator[Any]:
    while isinstance(value, Array):
        yield value
        value = value._array
