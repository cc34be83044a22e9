"""`arraygrad.special`: special functions, with `scipy.special`'s names.

This module only collects the names; the ops are in `ops.special`.
"""

from .ops.docs import describe as _describe
from .ops.special import bessel as _bessel
from .ops.special import entropies as _entropies
from .ops.special import gamma as _gamma
from .ops.special import incomplete as _incomplete
from .ops.special import normal as _normal
from .ops.special import sigmoids as _sigmoids
from .ops.special import sinc as _sinc
from .ops.special import softmax as _softmax
from .ops.special import zeta as _zeta
from .ops.special.bessel import *
from .ops.special.entropies import *
from .ops.special.gamma import *
from .ops.special.incomplete import *
from .ops.special.normal import *
from .ops.special.sigmoids import *
from .ops.special.sinc import *
from .ops.special.softmax import *
from .ops.special.zeta import *

__all__ = [
    *_bessel.__all__,
    *_entropies.__all__,
    *_gamma.__all__,
    *_incomplete.__all__,
    *_normal.__all__,
    *_sigmoids.__all__,
    *_sinc.__all__,
    *_softmax.__all__,
    *_zeta.__all__,
]

_describe(map(globals().get, __all__), "ag.special")


def __dir__() -> list[str]:
    return __all__
