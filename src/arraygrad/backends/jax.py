"""JAX: what it does in its own way."""

from __future__ import annotations

import jax.numpy as xp

from . import Backend

backend = Backend("jax", xp)
