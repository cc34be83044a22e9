"""The backend for array-api-strict, which has exactly the functions of the standard."""

from __future__ import annotations

from typing import Any

import array_api_strict as xp
import numpy as np

from .base import Backend
from .standard import standard_kernels


class StrictBackend(Backend):
    """array-api-strict's arrays, on any of its devices."""

    def to_numpy(self, array: Any) -> Any:
        return np.asarray(array.to_device(xp.Device("CPU_DEVICE")))


backend = StrictBackend("array_api_strict", xp, standard_kernels(xp))
