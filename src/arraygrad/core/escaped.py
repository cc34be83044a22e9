"""Arrays that outlive their transform: `leaked.append(x)` inside a function under `jvp` or `vmap`.

Such an array still holds the tangent, or the batch, of a transform that is over. A later transform
of the same level would take it for one of its own. So a level is left out while arrays of its types
are alive.

They are found by counting: each instance refers to its type. The other references to a type are
those of the tables that dispatch ops, whose number is noted when these are filled. Where Python
does not count references, escaped arrays are not noticed.
"""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Iterator
from typing import Any

from .cpython import COUNTS_INSTANCES, getrefcount

# The types at each level. A list is not changed but replaced.
_types: dict[float, list[type]] = {}
# The references to each type that are not those of its instances.
_others: dict[type, int] = {}
# The references to a type when arrays of it were last found alive.
_alive: dict[type, int] = {}


@functools.cache
def type_at_level(base: type[Any], level: float) -> type[Any]:
    """The type of the arrays of a transform at a level; `base` is their kind."""
    members = {"__slots__": (), "__module__": base.__module__, "level": level}
    made = [type(base.__name__, (base,), members)]
    if COUNTS_INSTANCES:
        _others[made[0]] = 0
        _types[level] = _types.get(level, []) + made
        for kind in made:
            _others[kind] = getrefcount(kind)  # the cache will refer to it instead of the list
    return made[0]


def has_escaped(level: float) -> bool:
    """Whether arrays of a transform at this level are alive."""
    for kind in _types.get(level, ()):
        count = getrefcount(kind)
        if count > _others[kind]:
            if _alive.get(kind) == count or _has_instances(kind):
                _alive[kind] = count
                return True
            _others[kind] = count  # something new refers to the type itself
    return False


def _has_instances(kind: type) -> bool:
    return any(type(thing) is kind for thing in gc.get_referrers(kind))


@contextlib.contextmanager
def noting_references(*kinds: type) -> Iterator[None]:
    """Note that the references to types that the block makes are not those of arrays."""
    watched = [kind for kind in {*kinds} if kind in _others]
    noted = [_others[kind] for kind in watched]
    before = list(map(getrefcount, watched))
    yield
    after = list(map(getrefcount, watched))
    _others.update(zip(watched, map(lambda n, b, a: n + a - b, noted, before, after), strict=True))
