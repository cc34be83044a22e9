"""arraygrad: PyTorch's `grad` for whatever array you already have.

>>> import arraygrad as ag
>>> x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
>>> ag.grad((x**2).sum(), x)
tensor([2., 4., 6.])
"""

from math import e, inf, nan, pi
from typing import TYPE_CHECKING

# NumPy comes first: imported from deep inside our own modules, it takes half as long again.
import numpy as _numpy  # noqa: F401

from . import autograd, backends, errors, ops
from .arrays import creation
from .arrays.creation import *
from .arrays.tensor import Tensor
from .autograd import enable_grad, grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .backends import dtypes
from .backends.dtypes import *
from .backends.numpy.threads import get_num_threads, set_num_threads
from .core.display import install as _install
from .core.upward import numpy_attribute as _numpy_attribute
from .interop.info import __array_namespace_info__
from .ops.arrangement import *
from .ops.beyond import *
from .ops.contractions import *
from .ops.docs import describe as _describe
from .ops.elementwise import *
from .ops.indexing import *
from .ops.numerics import *
from .ops.quantiles import *
from .ops.reductions import *
from .ops.searching import *
from .ops.shape import *
from .ops.statistics import *

newaxis = None
__array_api_version__ = "2025.12"  # the revision of the standard

__version__ = "0.1.0"

__all__ = [
    "Tensor", "__array_api_version__", "__array_namespace_info__", "autograd", "backends",
    "compat", "compile", "compute", "draw", "e", "enable_grad", "errors", "fft", "func",
    "get_num_threads", "grad", "inf", "inference_mode", "is_grad_enabled", "linalg", "load",
    "nan", "newaxis", "nn", "no_grad", "optim", "optimize", "persist", "pi", "profile", "random",
    "save", "scipy", "set_grad_enabled", "set_num_threads", "special", "testing", "tree",
    *creation.__all__,
    *dtypes.__all__,
    *ops.__all__,
]  # fmt: skip

_describe(map(globals().get, __all__), "ag")
_install()

if TYPE_CHECKING:
    from . import (
        compat,
        fft,
        func,
        linalg,
        nn,
        optim,
        optimize,
        random,
        scipy,
        special,
        testing,
        tree,
    )
    from .compiler.call.compiled import compile
    from .interop.lazy import compute, persist
    from .saving import load, save
    from .show.drawing import draw
    from .show.profiling import profile
else:  # hidden from type checkers, which would otherwise accept every misspelt name
    _MODULES = "compat fft func linalg nn optim optimize random scipy special testing tree".split()
    _ELSEWHERE = {
        "compile": ".compiler.call.compiled",
        "compute": ".interop.lazy",
        "draw": ".show.drawing",
        "load": ".saving",
        "persist": ".interop.lazy",
        "profile": ".show.profiling",
        "save": ".saving",
    }

    def __getattr__(name):
        """Import the modules that not every program needs, when they are first used."""
        import importlib

        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        if name in _ELSEWHERE:
            return getattr(importlib.import_module(_ELSEWHERE[name], __name__), name)
        return _numpy_attribute(__name__, name)


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})
