"""`autograd.numpy.random`: NumPy's, as it is. Its functions have no derivatives."""

from __future__ import annotations

from typing import Any

import numpy.random as _random
from numpy.random import *


def __getattr__(name: str) -> Any:
    return getattr(_random, name)
