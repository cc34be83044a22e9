"""Dask: what it does in its own way."""

from __future__ import annotations

from array_api_compat.dask import array as xp

from . import Backend

backend = Backend("dask", xp)
