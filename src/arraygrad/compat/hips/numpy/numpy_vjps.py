"""`autograd.numpy.numpy_vjps`: the helpers of HIPS's rules that other packages use in theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import namespace as anp
from .numpy_wrapper import metadata

__all__ = [
    "balanced_eq", "match_complex", "repeat_to_match_shape", "replace_zero", "unbroadcast",
    "unbroadcast_f",
]  # fmt: skip


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function `f` of a cotangent, summed over the axes along which `target` was broadcast."""
    meta = metadata(target)
    return lambda g: unbroadcast(f(g), meta)


def unbroadcast(x: Any, target_meta: Any, broadcast_idx: int = 0) -> Any:
    """`x`, summed to the shape in `target_meta`, and real if the target is."""
    shape, ndim, _, is_complex = target_meta
    for _ in range(anp.ndim(x) - ndim):
        x = anp.sum(x, axis=broadcast_idx)
    ones = tuple(i for i, n in enumerate(shape) if n == 1 and anp.shape(x)[i] != 1)
    if ones:
        x = anp.sum(x, axis=ones, keepdims=True)
    if not is_complex and anp.iscomplexobj(x):
        x = anp.real(x)
    return x


def match_complex(target: Any, x: Any) -> Any:
    """`x` as a complex array if `target` is one, else as a real one."""
    if anp.iscomplexobj(x) == anp.iscomplexobj(target):
        return x
    return anp.real(x) if anp.iscomplexobj(x) else x + 0j


def repeat_to_match_shape(
    g: Any, shape: tuple[int, ...], dtype: Any, axis: Any, keepdims: bool
) -> tuple[Any, int]:
    """The cotangent of a reduction, repeated along the axes, and the number of repetitions."""
    if shape == ():
        return g, 1
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis)
    kept = list(shape)
    for i in axes:
        kept[i] = 1
    count = int(np.prod(np.array(shape)[list(axes)]))
    return anp.reshape(g, kept) + np.zeros(shape, dtype), count


def balanced_eq(x: Any, z: Any, y: Any) -> Any:
    """Where `x` equals `z`: one, or a half where `y` does, too."""
    return (x == z) / (1.0 + (x == y))


def replace_zero(x: Any, val: Any) -> Any:
    """`x`, with `val` in place of zeros."""
    return anp.where(x, x, val)
