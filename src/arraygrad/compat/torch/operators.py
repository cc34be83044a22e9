"""Python's operators on tensors, and the methods that PyTorch's functions are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from . import random
from .functions import arranging as _arranging  # noqa: F401  (for the methods that it declares)
from .functions import elementwise, products
from .functions import factors as _factors  # noqa: F401
from .functions import indexing as _indexing  # noqa: F401
from .functions import joining as _joining  # noqa: F401
from .functions import lu_factors as _lu_factors  # noqa: F401
from .functions import reductions as _reductions  # noqa: F401
from .functions import shapes as _shapes  # noqa: F401
from .functions import spectra as _spectra  # noqa: F401
from .functions import statistics as _statistics  # noqa: F401
from .functions import turning as _turning  # noqa: F401
from .handles import Tensor, attach
from .publish import METHODS, written


def _reflected(made: Any) -> Any:
    return lambda self, other: made(other, self)


def _or_not_implemented(made: Any) -> Any:
    """An operator that leaves operands it does not know to their own methods."""

    def operator(self: Tensor, other: Any) -> Any:
        if not isinstance(other, Tensor | bool | int | float | complex | np.ndarray | np.generic):
            return NotImplemented
        return made(self, other)

    return operator


# PyTorch's function for an operator, and the op for the one in place.
_TWO = {
    "add": (elementwise.PLAIN_ADD, ops.add),
    "sub": (elementwise.PLAIN_SUB, ops.subtract),
    "mul": (elementwise.mul, ops.multiply),
    "truediv": (elementwise.true_divide, ops.divide),
    "floordiv": (elementwise.floor_divide, elementwise.whole_floor),
    "mod": (elementwise.remainder, elementwise.whole_remainder),
    "pow": (elementwise.pow, ops.pow),
    "and": (elementwise.bitwise_and, ops.bitwise_and),
    "or": (elementwise.bitwise_or, ops.bitwise_or),
    "xor": (elementwise.bitwise_xor, ops.bitwise_xor),
    "lshift": (elementwise.bitwise_left_shift, ops.bitwise_left_shift),
    "rshift": (elementwise.bitwise_right_shift, ops.bitwise_right_shift),
}
for _name, (_made, _native) in _TWO.items():
    setattr(Tensor, f"__{_name}__", _made)
    setattr(Tensor, f"__r{_name}__", _reflected(_made))
    setattr(Tensor, f"__i{_name}__", written(_native, f"__i{_name}__"))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Tensor, f"__{_name}__", METHODS[_name])
for _name in ("eq", "ne"):
    setattr(Tensor, f"__{_name}__", _or_not_implemented(METHODS[_name]))
for _name, _made in {
    "__neg__": elementwise.neg,
    "__pos__": elementwise.positive,
    "__abs__": elementwise.abs,
    "__invert__": elementwise.bitwise_not,
    "__matmul__": products.matmul,
    "__rmatmul__": _reflected(products.matmul),
}.items():
    setattr(Tensor, _name, _made)


def _simple_sum(native_function: Any, scaled: Any) -> Any:
    """`add_` and `sub_`: without `alpha`, the op itself, which keeps fewer values."""
    plain_method, full_method = written(native_function, scaled), METHODS[scaled]

    def method(self: Tensor, other: Any, *last: Any, alpha: Any = 1) -> Tensor:
        if alpha == 1 and not last:
            return plain_method(self, other)  # type: ignore[no-any-return]
        return full_method(self, other, *last, alpha=alpha)  # type: ignore[no-any-return]

    method.__name__ = method.__qualname__ = scaled
    return method


def _plain_division(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode is None:
        return _DIVIDE(self, other)  # type: ignore[no-any-return]
    return _ROUNDED(self, other, rounding_mode=rounding_mode)  # type: ignore[no-any-return]


_DIVIDE, _ROUNDED = written(ops.divide, "div_"), METHODS["div_"]
METHODS["add_"] = _simple_sum(ops.add, "add_")
METHODS["sub_"] = METHODS["subtract_"] = _simple_sum(ops.subtract, "sub_")
METHODS["div_"] = METHODS["divide_"] = METHODS["true_divide_"] = _plain_division
for _name, _made in METHODS.items():
    setattr(Tensor, _name, _made)
for _fill in random.IN_PLACE:
    setattr(Tensor, _fill.__name__, _fill)
attach(
    __rdiv__=_reflected(elementwise.true_divide),
    multinomial=random.multinomial,
    bernoulli=random.bernoulli,
)
