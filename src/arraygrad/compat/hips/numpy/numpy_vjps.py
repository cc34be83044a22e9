"""`autograd.numpy.numpy_vjps`: the helpers of HIPS's rules that other packages use in theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import namespace as anp
from .numpy_wrapper import metadata

__all__ = ["match_complex", "replace_zero", "unbroadcast", "unbroadcast_f"]


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


def replace_zero(x: Any, val: Any) -> Any:
    """`x`, with `val` in place of zeros."""
    return anp.where(x, x, val)
