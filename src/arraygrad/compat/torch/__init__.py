"""PyTorch, as far as tensors and their gradients go, on arraygrad: change the import, and go on.

Errors are of the types that PyTorch raises. Some things stay better than in PyTorch: gradients
share no memory, a constant gradient can be differentiated under `create_graph`, forward mode nests.
What only PyTorch can mean, such as CUDA and storages, raises by name.

>>> import arraygrad.compat.torch as torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> torch.autograd.grad((x**3).sum(), x)
(tensor([ 3., 12.]),)
"""

from math import e, inf, nan, pi
from typing import TYPE_CHECKING

from ...backends.numpy.threads import get_num_threads, set_num_threads
from ..showing import show_public_names as _show_public_names
from . import (
    amp,
    autograd,
    cuda,
    distributions,
    fft,
    func,
    linalg,
    nn,
    optim,
    signal,
    special,
    testing,
    types,
    utils,
)
from . import compiled as _C  # noqa: F401, N812
from . import creation as _creation
from . import dtypes as _dtypes
from . import machine as _machine
from . import methods as _methods  # noqa: F401  (gives tensors their methods)
from . import predicates as _predicates
from . import random as _random
from . import serialization as _serialization
from .amp import GradScaler, autocast
from .autograd import grad_mode as _grad_mode
from .autograd.grad_mode import *
from .creation import *
from .dtypes import *
from .func import vmap
from .functions import arranging as _arranging
from .functions import elementwise as _elementwise
from .functions import factors as _factors
from .functions import indexing as _indexing
from .functions import joining as _joining
from .functions import products as _products
from .functions import reductions as _reductions
from .functions import shapes as _shapes
from .functions import statistics as _statistics
from .functions import turning as _turning
from .functions.arranging import *
from .functions.elementwise import *
from .functions.factors import *
from .functions.indexing import *
from .functions.joining import *
from .functions.lu_factors import lu_unpack
from .functions.products import *
from .functions.reductions import *
from .functions.results import return_types
from .functions.shapes import *
from .functions.spectra import istft, stft
from .functions.statistics import *
from .functions.turning import *
from .handles import Tensor
from .installing import install
from .machine import *
from .nn import top_level as _top_level
from .nn.top_level import *
from .predicates import *
from .random import *
from .serialization import *
from .signal.windows import (
    bartlett_window,
    blackman_window,
    hamming_window,
    hann_window,
    kaiser_window,
)

# Aliases, among them those with the names of Python's types.
bool, float, int = _dtypes.bool_, _dtypes.float32, _dtypes.int32
newaxis = None
__version__ = "2.13.0+arraygrad"  # the version whose meanings the names have

__all__ = [
    "GradScaler", "Tensor", "amp", "autocast", "autograd", "bartlett_window", "blackman_window",
    "bool", "compile", "cuda", "distributions", "e", "fft", "float", "func", "get_num_threads",
    "hamming_window", "hann_window", "inf", "install", "int", "istft", "kaiser_window", "linalg",
    "lu_unpack", "nan", "newaxis", "nn", "optim", "pi", "return_types", "set_num_threads", "signal",
    "special", "stft", "testing", "types", "utils", "vmap",
]  # fmt: skip
__all__ += _dtypes.__all__
__all__ += _grad_mode.__all__
__all__ += _creation.__all__
__all__ += _arranging.__all__
__all__ += _elementwise.__all__
__all__ += _factors.__all__
__all__ += _indexing.__all__
__all__ += _joining.__all__
__all__ += _products.__all__
__all__ += _reductions.__all__
__all__ += _shapes.__all__
__all__ += _statistics.__all__
__all__ += _top_level.__all__
__all__ += _turning.__all__
__all__ += _predicates.__all__
__all__ += _random.__all__
__all__ += _machine.__all__
__all__ += _serialization.__all__
_show_public_names(__name__)


if TYPE_CHECKING:
    from .compiling import compile
else:  # hidden from type checkers, which would otherwise accept every misspelt name

    def __getattr__(name):
        """The functions in place, such as `torch.exp_`; what is PyTorch's alone raises by name."""
        if name == "compile":  # with the compiler, which few programs need
            from .compiling import compile

            return compile
        if name.endswith("_") and not name.startswith("_") and hasattr(Tensor, name):
            return getattr(Tensor, name)
        raise AttributeError(
            f"torch.{name} is not in {__name__}: see docs/coming-from-pytorch.md for what is"
        )
