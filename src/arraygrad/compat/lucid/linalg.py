"""`lucid.linalg`: arraygrad's linear algebra on Lucid's tensors."""

from __future__ import annotations

from typing import Any

from ... import linalg
from .tensor import Tensor


def __dir__() -> list[str]:
    return linalg.__all__


def __getattr__(name: str) -> Any:
    if name not in linalg.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Tensor._lifted(getattr(linalg, name))
