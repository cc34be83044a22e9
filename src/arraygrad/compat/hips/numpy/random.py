"""`autograd.numpy.random`: NumPy's, as it is. Its functions have no derivatives."""

from __future__ import annotations

from functools import partial as _partial

import numpy.random as _random
from numpy.random import *

# NumPy's own value, for names without a function of their own.
__getattr__ = _partial(getattr, _random)
