"""`sorix.utils.math`: functions of tensors, or of arrays.

They stay arrays where the input is one.
"""

from ..functions import (  # type: ignore[attr-defined]
    abs,
    add,
    ceil,
    cos,
    div,
    exp,
    floor,
    log,
    matmul,
    mean,
    mul,
    pow,
    round,
    sign,
    sin,
    sqrt,
    sub,
    sum,
    tan,
    tanh,
)

__all__ = [
    "abs", "add", "ceil", "cos", "div", "exp", "floor", "log", "matmul", "mean", "mul", "pow",
    "round", "sign", "sin", "sqrt", "sub", "sum", "tan", "tanh",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
