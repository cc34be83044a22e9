"""The operators of SciPy's own sparse arrays, with tensors as the other operand.

SciPy would turn a tensor into a NumPy array, which has no derivatives. So each operator is given a
first look at its operand. For operands of all other types, nothing changes.
"""

from __future__ import annotations

import functools
from typing import Any

from ...core.array import AnyFunction, Array
from .arrays import SparseTensor, as_sparse
from .pattern import SCIPY

_METHODS = ("dot", "multiply")
_OPERATORS = ("add", "sub", "mul", "matmul", "truediv")
_REFLECTED = ("radd", "rsub", "rmul", "rmatmul")


def _taught(own: AnyFunction) -> AnyFunction:
    name = own.__name__

    @functools.wraps(own)
    def run(self: Any, other: Any, *more: Any, **keywords: Any) -> Any:
        if isinstance(other, Array):
            return getattr(as_sparse(self), name)(other)
        if isinstance(other, SparseTensor):
            return getattr(as_sparse(self), name)(other) if name in _METHODS else NotImplemented
        return own(self, other, *more, **keywords)

    run.knows_tensors = True  # type: ignore[attr-defined]
    return run


def teach() -> None:
    """Teach the classes of SciPy's sparse arrays to compute with tensors."""
    names = *_METHODS, *(f"__{name}__" for name in (*_OPERATORS, *_REFLECTED))
    known = (getattr(SCIPY, f"{f}_{kind}") for f in _FORMATS for kind in ("array", "matrix"))
    for place in {base for cls in known for base in cls.__mro__}:
        for name in names:
            own = vars(place).get(name)
            if callable(own) and place.__module__.startswith("scipy.sparse"):
                if not hasattr(own, "knows_tensors"):
                    setattr(place, name, _taught(own))


_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
