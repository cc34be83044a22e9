"""Random numbers for `nn`: the one place where they are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from .common import Ints, constant


def _source(key: Any, name: str) -> Any:
    if key is None:
        raise TypeError(
            f"{name} draws random numbers: pass key=, a seed or a generator such as "
            "numpy.random.default_rng(0)"
        )
    return key if hasattr(key, "random") else np.random.default_rng(key)


def _in(drawn: Any, like: Any) -> Any:
    return ops.astype(constant(drawn, like), ops.real(like).dtype)


def uniform(key: Any, shape: Ints, like: Any, name: str) -> Any:
    """Numbers from 0 to 1, in the library and of the dtype of an array; for a function's name."""
    return _in(_source(key, name).random(shape), like)


def normal(key: Any, shape: Ints, like: Any, name: str) -> Any:
    """Normal numbers, in the library and of the dtype of an array; for a function's name."""
    return _in(_source(key, name).standard_normal(shape), like)
