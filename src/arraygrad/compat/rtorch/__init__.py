"""torch for R: its functions, with R's conventions. The R package in `r/` calls them.

R has no scalars: `torch_tensor(0.5)` has one axis, of length one. Dimensions and places count from
one. A gradient that is undefined in R is None here.

>>> from arraygrad.compat.rtorch import autograd_grad, torch_sum, torch_tensor
>>> w = torch_tensor(0.5, requires_grad=True)
>>> autograd_grad(w**2, [w])
[tensor([1.], dtype=float32)]
>>> torch_sum(torch_tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
tensor([4., 6.], dtype=float32)
"""

from __future__ import annotations

from typing import Any

from ...autograd import detect_anomaly, enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from ..showing import show_public_names as _show_public_names
from . import creation, indexing, optim
from .autograd import apply_function, autograd_backward, autograd_grad
from .creation import runif, torch_tensor
from .functions import FUNCTIONS, NNF, in_place, load, recurrent, save
from .printing import printed, type_name
from .values import from_r, to_r

_CREATED = [name for name in vars(creation) if name.startswith("torch_")]

__all__ = [
    "apply_function", "autograd_backward", "autograd_grad", "detect_anomaly", "enable_grad",
    "from_r", "in_place", "indexing", "is_grad_enabled", "load", "no_grad", "optim", "printed",
    "recurrent", "runif", "save", "set_grad_enabled", "to_r", "torch_is_installed", "torch_tensor",
    "type_name",
]  # fmt: skip
__all__ += [name for name in _CREATED if name != "torch_tensor"]
__all__ += [f"torch_{name}" for name in FUNCTIONS]
__all__ += NNF
_show_public_names(__name__)


def __getattr__(name: str) -> Any:
    if name in _CREATED:
        return getattr(creation, name)
    if name.startswith("torch_") and name[6:] in FUNCTIONS:
        return FUNCTIONS[name[6:]]
    if name in NNF:
        return NNF[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def torch_is_installed() -> bool:
    """True: arraygrad replaces torch here, so it is always there."""
    return True
