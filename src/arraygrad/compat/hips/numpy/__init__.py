"""`autograd.numpy`: NumPy, with functions that can be differentiated.

>>> from arraygrad.compat.hips import grad
>>> import arraygrad.compat.hips.numpy as np
>>> grad(lambda x: np.sum(np.sin(x)))(np.zeros(2))
array([1., 1.])
"""

from __future__ import annotations

from functools import partial as _partial

import numpy as _np

from . import fft as fft
from . import linalg as linalg
from . import namespace as _namespace
from . import numpy_boxes as numpy_boxes
from . import numpy_jvps as numpy_jvps
from . import numpy_vjps as numpy_vjps
from . import numpy_vspaces as numpy_vspaces
from . import numpy_wrapper as numpy_wrapper
from . import random as random

__version__ = _np.__version__
_FUNCTIONS = {name: f for name, f in vars(_namespace).items() if not name.startswith("_")}
globals().update(_FUNCTIONS)
vars(numpy_wrapper).update(_FUNCTIONS, _astype=_FUNCTIONS["astype"])  # where HIPS has them, too

# NumPy's own value, for names without a function of their own.
__getattr__ = _partial(getattr, _np)
