"""All functions of `autograd.numpy`, in one module."""

from __future__ import annotations

from typing import Any

import numpy as _np

from . import functions as _functions
from .numpy_wrapper import wrap_namespace

wrap_namespace(vars(_np), globals())
globals().update({name: getattr(_functions, name) for name in _functions.__all__})


def __getattr__(name: str) -> Any:
    """NumPy's own value, for names without a function of their own."""
    return getattr(_np, name)
