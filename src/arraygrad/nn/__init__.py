"""`arraygrad.nn`: the functions that neural networks are made of, with PyTorch's names.

There are no classes: parameters are arrays in any structure, and a network is a function of them.
Where PyTorch has `dim` and `keepdim`, the functions have `axis` and `keepdims`. Functions with
random numbers take a `key`.

>>> import arraygrad as ag
>>> weights = ag.nn.init.xavier_uniform((4, 2), key=0), ag.zeros(4)
>>> ag.nn.relu(ag.nn.linear(ag.ones((3, 2)), *weights)).shape
(3, 4)
"""

from typing import TYPE_CHECKING

from ..core.describing import describe as _describe
from . import (
    activations,
    attention,
    classifying,
    convolutions,
    ctc,
    distances,
    dropping,
    init,
    losses,
    normalizing,
    padding,
    pooling,
    rearranging,
    recurrent,
    resizing,
    sampling,
    tables,
)
from .activations import *
from .attention import *
from .classifying import *
from .convolutions import *
from .ctc import *
from .distances import *
from .docs import PARAMETERS as _PARAMETERS
from .docs import RETURNS as _RETURNS
from .dropping import *
from .losses import *
from .normalizing import *
from .padding import *
from .pooling import *
from .rearranging import *
from .recurrent import *
from .resizing import *
from .sampling import *
from .tables import *

__all__ = [
    "init",
    *activations.__all__,
    *attention.__all__,
    *classifying.__all__,
    *convolutions.__all__,
    *ctc.__all__,
    *distances.__all__,
    *dropping.__all__,
    *losses.__all__,
    *normalizing.__all__,
    *padding.__all__,
    *pooling.__all__,
    *rearranging.__all__,
    *recurrent.__all__,
    *resizing.__all__,
    *sampling.__all__,
    *tables.__all__,
]

_describe(map(globals().get, __all__), _PARAMETERS, _RETURNS, {})


if not TYPE_CHECKING:  # which would otherwise accept every misspelt name

    def __getattr__(name):
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}: it has functions; PyTorch's classes "
            "are in arraygrad.compat.torch.nn"
        )


def __dir__() -> list[str]:
    return __all__
