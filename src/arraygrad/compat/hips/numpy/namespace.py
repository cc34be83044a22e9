"""All functions of `autograd.numpy`, in one module."""

from __future__ import annotations

from functools import partial as _partial

import numpy as _np

from . import functions as _functions
from .numpy_wrapper import wrap_namespace

wrap_namespace(vars(_np), globals())
globals().update({name: getattr(_functions, name) for name in _functions.__all__})

# NumPy's own value, for names without a function of their own.
__getattr__ = _partial(getattr, _np)
