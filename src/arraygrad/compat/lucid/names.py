"""Functions of arraygrad's modules on Lucid's tensors, with `dim` for `axis`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .tensors import Tensor

_KEYWORDS = {"dim": "axis", "keepdim": "keepdims"}


def adapted(module: ModuleType, name: str) -> Any:
    """A public function of a module, as Lucid has it."""
    if name not in module.__all__:
        raise AttributeError(f"lucid's {module.__name__.rpartition('.')[2]} has no {name!r}")
    function = getattr(module, name)

    def renamed(*args: Any, **keywords: Any) -> Any:
        return function(*args, **{_KEYWORDS.get(k, k): v for k, v in keywords.items()})

    renamed.__name__, renamed.__doc__ = name, function.__doc__
    return Tensor._lifted(renamed)
