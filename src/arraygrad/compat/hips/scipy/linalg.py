"""`autograd.scipy.linalg`: the functions of `scipy.linalg`, with derivatives."""

from __future__ import annotations

from typing import Any

from .twins import twin


def __getattr__(name: str) -> Any:
    """A function, made when it is first asked for."""
    found = globals()[name] = twin("linalg", name)
    return found
