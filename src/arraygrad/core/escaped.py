"""Arrays that outlive their transform: `leaked.append(x)` inside a function under `jvp` or `vmap`.

Such an array still holds the tangent, or the batch, of a transform that is over. A later transform
of the same level would take it for one of its own. So each transform has a stamp, and all its
arrays refer to the stamp. As long as the stamp of an earlier transform is alive, new transforms
leave out its level.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any


class Stamp:
    """Stands for one run of a transform."""

    __slots__ = ("__weakref__",)


# The stamp at each level that a transform in flight has, or whose arrays have outlived it.
_stamps: dict[float, weakref.ref[Stamp]] = {}


def claim(level: float, stamp: Stamp) -> bool:
    """Take a level for a transform, which keeps the stamp until its end. False if it is taken."""
    made = weakref.ref(stamp, functools.partial(_stamps.pop, level))
    return _stamps.setdefault(level, made) is made  # one step: other threads may claim it, too


def stamp_at(level: float) -> Stamp | None:
    """The stamp for an array at a level; None if no transform has begun there, as in a sweep."""
    found = _stamps.get(level)
    return None if found is None else found()


@functools.cache
def type_at_level(base: type[Any], level: float) -> type[Any]:
    """The type of the arrays of a transform at a level; `base` is their kind."""
    return type(
        base.__name__, (base,), {"__slots__": (), "__module__": base.__module__, "level": level}
    )
