"""Random numbers for `nn`: the one place where they are drawn.

A key is one of `arraygrad.random`, or a seed. A generator, with the methods of NumPy's, works too:
each call changes its state.
"""

from __future__ import annotations

import functools
from typing import Any

from .. import ops, random
from .common import Ints, constant, kind


def is_generator(key: Any) -> bool:
    """Whether each call gives other numbers."""
    return hasattr(key, "random")


def key_of(key: Any, name: str) -> Any:
    """The key that was given to a function of a name."""
    if key is None:
        raise TypeError(f"{name} draws random numbers: pass key=, such as arraygrad.random.key(0)")
    return random.key(key) if isinstance(key, int) else key


def part_of(key: Any, number: int, name: str) -> Any:
    """A key for one of several draws."""
    key = key_of(key, name)
    return key if is_generator(key) else random.fold_in(key, number)


def _drawn(law: str, key: Any, shape: Ints, like: Any, name: str) -> Any:
    key = key_of(key, name)
    if is_generator(key):
        drawn = getattr(key, {"uniform": "random", "normal": "standard_normal"}[law])(shape)
    else:
        drawn = getattr(random, law)(key, shape)
    drawn = constant(drawn, like)
    return drawn if kind(like) in "bi" else ops.astype(drawn, ops.real(like).dtype)


# Numbers from 0 to 1, and normal ones: of a key, a shape, an array whose library and dtype they
# get, and the name of the function that asks for them.
uniform, normal = (functools.partial(_drawn, law) for law in ("uniform", "normal"))
