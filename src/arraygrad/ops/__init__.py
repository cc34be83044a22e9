"""All ops, by their public names.

Each family of ops has its own module. The module's `__all__` says which of its names are public,
and this package collects them. `define` contains the class `Op` and the functions that declare ops;
`forward` has the forward rules and `batching` the batching rules of all kinds. The array types that
ops run on are in `arrays`, the kernels in `backends`.
"""

from ..backends.filled import ones_like as ones_like
from ..backends.filled import zeros_like as zeros_like
from ..core.array import Array as Array
from ..core.array import plain as plain
from . import (
    arrangement,
    beyond,
    contractions,
    elementwise,
    indexing,
    numerics,
    quantiles,
    reductions,
    searching,
    shape,
    statistics,
)
from .arrangement import *
from .beyond import *
from .contractions import *
from .define.op import Op as Op
from .elementwise import *
from .elementwise import is_complex as is_complex
from .elementwise import is_inexact as is_inexact
from .indexing import *
from .indexing import getitem as getitem
from .indexing import iterate as iterate
from .numerics import *
from .quantiles import *
from .reductions import *
from .searching import *
from .shape import *
from .statistics import *

__all__ = [
    *arrangement.__all__,
    *beyond.__all__,
    *contractions.__all__,
    *elementwise.__all__,
    *indexing.__all__,
    *numerics.__all__,
    *quantiles.__all__,
    *reductions.__all__,
    *searching.__all__,
    *shape.__all__,
    *statistics.__all__,
]
