"""`autograd.numpy.numpy_jvps`: the helper of HIPS's forward rules that other packages use."""

from __future__ import annotations

from typing import Any

from . import namespace as anp
from .numpy_wrapper import metadata

__all__ = ["broadcast"]


def broadcast(x: Any, target: Any) -> Any:
    """`x` in the shape of `target`, and complex if the target is."""
    shape, _, _, is_complex = metadata(target)
    x = anp.broadcast_to(x, shape)
    return x + 0j if is_complex and not anp.iscomplexobj(x) else x
