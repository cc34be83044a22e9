"""`autograd.misc.flatten`: structures of arrays as one vector."""

from __future__ import annotations

from typing import Any

from .. import numpy as np
from ..builtins import dict, list, tuple, type
from ..derivatives import make_vjp

__all__ = ["flatten", "flatten_func"]


def flatten(value: Any) -> Any:
    """All numbers of a structure as one vector, and the function that makes it a structure again.

    >>> from arraygrad.compat.hips.misc import flatten
    >>> vector, unflatten = flatten({"a": 1.0, "b": [2.0, 3.0]})
    >>> vector
    array([1., 2., 3.])
    """
    unflatten, flat = make_vjp(_flat, value)
    return flat, unflatten


def _flat(value: Any) -> Any:
    kind = type(value)
    if kind in (list, tuple):
        return _joined([_flat(item) for item in value])
    if kind is dict:
        return _joined([_flat(value[key]) for key in sorted(value)])
    return np.ravel(value)


def _joined(parts: Any) -> Any:
    return np.concatenate(parts) if parts else np.array([])


def flatten_func(func: Any, example: Any) -> Any:
    """A function of a structure as a function of a vector; `unflatten`; the example as a vector."""
    start, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, start
