"""MLX: what it does in its own way."""

from __future__ import annotations

import mlx.core as xp

from . import Backend

backend = Backend("mlx", xp)
