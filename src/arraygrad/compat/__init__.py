"""`grad` as four other systems have it, over arraygrad's engine.

=============  =================================================================================
``lucid``      Lucid: plain arrays come back; outputs start from ones
``sorix``      sorix: a tuple comes back; the graph is kept unless told otherwise
``torch``      PyTorch: `torch.autograd.grad` with all of its parameters
``rtorch``     torch for R: `autograd_grad`, a list comes back
=============  =================================================================================

Each module has its system's `grad`, with that system's order of parameters, defaults, form of the
result and types of error, and the few other names that the system's documentation of `grad` uses.
They are for code, examples and lessons written for those systems; `arraygrad.grad` is the one to
write new code with.

>>> from arraygrad.compat import lucid, torch
>>> x = lucid.tensor([1.0, 2.0], requires_grad=True)
>>> lucid.autograd.grad(x * x, x)
array([2., 4.])
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> torch.autograd.grad((x * x).sum(), x)
(tensor([2., 4.], dtype=float32),)
"""

from . import lucid, rtorch, sorix, torch

__all__ = ["lucid", "rtorch", "sorix", "torch"]


def __dir__() -> list[str]:
    return __all__
