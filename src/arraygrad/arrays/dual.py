"""The dual array: carries a tangent along with every value. Forward mode."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from ..ops.op import Array, Op
from .methods import ArrayMethods


class Dual(ArrayMethods, Array):
    """An array and its tangent."""

    __slots__ = ("_array", "tangent")
    level: ClassVar[float] = 0

    def __init__(self, array: Any, tangent: Any) -> None:
        self._array = array
        self.tangent = tangent

    @property
    def primal(self) -> Any:
        """The array without its tangent."""
        return self._array

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        primals = tuple(a._array if type(a) is cls else a for a in arrays)
        tangents = [a.tangent if type(a) is cls else None for a in arrays]
        out = op.function(*primals, **params)
        if op.forward is None:
            return out
        tangent = op.forward(primals, tangents, out, params)
        if tangent is None:
            return out
        if op.multiple:
            return tuple(map(cls, out, tangent))
        return cls(out, tangent)

    def __repr__(self) -> str:
        return f"Dual({self._array!r}, tangent={self.tangent!r})"


@functools.cache
def dual_type(level: float) -> type[Dual]:
    """The type of dual arrays at a level."""
    return type("Dual", (Dual,), {"__slots__": (), "level": level})
