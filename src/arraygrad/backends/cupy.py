"""CuPy: what it does in its own way."""

from __future__ import annotations

from array_api_compat import cupy as xp

from . import Backend

backend = Backend("cupy", xp)
