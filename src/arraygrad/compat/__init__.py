"""The tensors and the `grad` of five other systems, on arraygrad's engine.

=============  =================================================================================
``lucid``      Lucid: returns plain arrays; the cotangents of outputs default to ones
``sorix``      sorix: returns a tuple; keeps the graph by default
``torch``      PyTorch: `torch.autograd.grad` with all of its parameters
``rtorch``     torch for R: `autograd_grad`, returns a list
``hips``       HIPS autograd: gradients of functions, and all around them; it can be installed in
               the place of `autograd`
=============  =================================================================================

Each module has the `grad` of its system: with the order of parameters, the defaults, the form of
the result and the types of errors of that system. It also has the tensors, functions and small
parts around it that programs use. The modules are for code, examples and lessons that were written
for those systems. New code should use `arraygrad.grad`.

>>> from arraygrad.compat import lucid, torch
>>> x = lucid.tensor([1.0, 2.0], requires_grad=True)
>>> lucid.autograd.grad(x * x, x)
array([2., 4.], dtype=float32)
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> torch.autograd.grad((x * x).sum(), x)
(tensor([2., 4.]),)
"""

import importlib
from typing import TYPE_CHECKING

__all__ = ["hips", "lucid", "rtorch", "sorix", "torch"]


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from . import hips, lucid, rtorch, sorix, torch
else:  # hidden from type checkers, which would otherwise accept every misspelt name

    def __getattr__(name):
        """A module, imported when it is first asked for."""
        if name in __all__:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
