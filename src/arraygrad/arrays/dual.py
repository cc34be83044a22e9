"""The dual array: carries a tangent along with every value. Forward mode."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from .. import ops
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
        if not any(t is not None and op.input_name(i) in op.rules for i, t in enumerate(tangents)):
            return out
        if op.forward is None:
            raise NotImplementedError(
                f"{op.name} has no forward rule: give it one by jvp=, or use reverse mode"
            )
        # Infinities and NaN in a tangent are results like any other.
        with np.errstate(all="ignore"):
            tangent = op.forward(primals, tangents, out, params)
        if op.multiple:
            return tuple(map(cls._fitted, out, tangent))
        return cls._fitted(out, tangent)

    @classmethod
    def _fitted(cls, out: Any, tangent: Any) -> Dual:
        """A dual array whose tangent has the shape and dtype of the array.

        A rule's tangent may have neither, where the other inputs alone decide on them.
        """
        if tangent.dtype != out.dtype:
            tangent = ops.astype(tangent, out.dtype)
        if tangent.shape != out.shape:
            tangent = ops.broadcast_to(tangent, out.shape)
        return cls(out, tangent)

    def __repr__(self) -> str:
        return f"Dual({self._array!r}, tangent={self.tangent!r})"


@functools.cache
def dual_type(level: float) -> type[Dual]:
    """The type of dual arrays at a level."""
    return type("Dual", (Dual,), {"__slots__": (), "level": level})
