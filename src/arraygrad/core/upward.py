"""All calls from a lower layer to a higher one.

A layer imports only from the layers below it. But some methods of tensors need a function of a
layer above. They call it through an `Upward`, which imports the function at its first call.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


class Upward:
    """A function of a higher layer, imported at the first call."""

    __slots__ = ("_function", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name
        self._function: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._function is None:
            package = __package__.partition(".")[0]
            module = importlib.import_module(f"{package}.{self._module}")
            self._function = getattr(module, self._name)
        return self._function(*args, **kwargs)


backward_from = Upward("autograd.differentiate", "backward_from")  # Tensor.backward
linearize = Upward("func.reverse", "linearize")  # for an op without a forward rule
vjp = Upward("func.reverse", "vjp")  # for a Function without a forward rule
namespace = Upward("interop.namespaces", "namespace")  # Tensor.__array_namespace__
compute = Upward("interop.lazy", "compute")  # Tensor.compute
persist = Upward("interop.lazy", "persist")  # Tensor.persist
what_runs = Upward("scipy.finding", "what_runs")  # for an error of Tensor
special_twin = Upward("scipy.finding", "special_twin")  # for SciPy's universal functions
numpy_attribute = Upward("interop.numpy.names", "numpy_attribute")  # for a name of NumPy
numpy_rule = Upward("interop.numpy.names", "numpy_rule")  # for a call with NumPy's arguments
xarray_structure = Upward("interop.xarray", "structure")  # for structures of xarray's arrays
interp1d = Upward("scipy.interpolate", "interp1d")  # for interpolation by xarray
result_html = Upward("show.tables", "result_html")  # in Jupyter
tensor_html = Upward("show.tables", "tensor_html")  # Tensor._repr_html_
shapes_of = Upward("compiler.call.shapes", "shapes_of")  # func.eval_shape
