"""Counting calls of Python functions, which is the same on every machine, as times are not."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import array_api_compat
import numpy as np

_OTHERS = tuple(str(Path(m.__file__).parent) for m in (np, array_api_compat))


def frames(function: Callable[[], Any]) -> tuple[int, Any]:
    """How many Python functions are called by `function`, and what it returns."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        if event == "call" and not frame.f_code.co_filename.startswith(_OTHERS):
            count += 1

    before = sys.getprofile()
    gc.disable()  # it might call functions of what other tests left behind
    sys.setprofile(note)
    try:
        result = function()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count, result
