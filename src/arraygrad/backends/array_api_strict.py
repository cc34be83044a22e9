"""array-api-strict: what it does in its own way, which is as little as the standard allows."""

from __future__ import annotations

import array_api_strict as xp

from . import Backend
from .standard import standard_kernels

backend = Backend("array_api_strict", xp, standard_kernels(xp))
