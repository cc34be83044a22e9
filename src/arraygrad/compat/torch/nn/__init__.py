"""`torch.nn`: modules, layers, activations and losses that are compositions of functions."""

from . import (
    containers,
    functional,
    heads,
    init,
    layers,
    lazy,
    module,
    modules,
    norms,
    parameter,
    recurrent,
    transformers,
    utils,
)
from .containers import *
from .heads import *
from .layers import *
from .layers import _ConvNd as _ConvNd
from .lazy import *
from .module import *
from .norms import *
from .norms import _BatchNorm as _BatchNorm
from .norms import _InstanceNorm as _InstanceNorm
from .parameter import *
from .recurrent import *
from .transformers import *

__all__ = ["functional", "init", "modules", "utils"]
__all__ += containers.__all__
__all__ += heads.__all__
__all__ += layers.__all__
__all__ += lazy.__all__
__all__ += module.__all__
__all__ += norms.__all__
__all__ += parameter.__all__
__all__ += recurrent.__all__
__all__ += transformers.__all__
