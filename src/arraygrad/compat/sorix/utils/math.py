"""`sorix.utils.math`: functions of tensors, or of arrays.

They stay arrays where the input is one.
"""

from typing import Any

from .. import functions

__all__ = """
abs add ceil cos div exp floor log matmul mean mul pow round sign sin sqrt sub sum tan tanh
""".split()


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(functions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
