"""`lucid.linalg`: arraygrad's linear algebra on Lucid's tensors, with Lucid's keywords."""

from __future__ import annotations

from typing import Any

from ... import linalg
from .names import adapted

__all__ = linalg.__all__


def __getattr__(name: str) -> Any:
    return adapted(linalg, name, __name__)
