"""The batched array: hides a leading axis, over which every op runs at once.

This is what `is_grads_batched` runs the sweep on.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from ..ops import batching
from ..ops.op import Array, Op
from .methods import TransformMethods
from .writing import Replaceable, link


class Batched(Replaceable, TransformMethods, Array):
    """An array whose first axis is hidden.

    `shape`, `ndim` and indices speak of one member of the batch.
    """

    __slots__ = ("__weakref__", "_array", "_linked", "_views")
    level: ClassVar[float] = 0

    def __init__(self, array: Any) -> None:
        self._array = array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one member of the batch."""
        return tuple(self._array.shape[1:])

    @property
    def ndim(self) -> int:
        """The number of axes of one member of the batch."""
        return self._array.ndim - 1  # type: ignore[no-any-return]

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        batched = tuple(type(a) is cls for a in arrays)
        raw = tuple(a._array if b else a for a, b in zip(arrays, batched, strict=True))
        rule = op.batch if callable(op.batch) else batching.RULES[op.batch]
        out = rule(op, raw, batched, params)
        result = tuple(map(cls, out)) if op.multiple else cls(out)
        if op.view and len(arrays) == 1:
            link(op, arrays[0], params, result)
        return result

    def _take_over(self, other: Batched) -> None:
        self._array = other._array

    def detach(self) -> Batched:
        array = self._array
        return type(self)(array.detach()) if isinstance(array, Array) else self

    def __bool__(self) -> bool:
        raise TypeError(
            "the truth of a batched array is not one value: use where() instead of if, or take "
            "the decision outside the batch"
        )

    def item(self) -> Any:
        """Refused: there is one number for each member of the batch."""
        raise TypeError(
            "a batched array is not one number but one for each member of the batch: keep it an "
            "array, or take it outside vmap"
        )

    __float__ = __int__ = __complex__ = item

    def __repr__(self) -> str:
        return f"Batched({self._array!r})"


@functools.cache
def batched_type(level: float) -> type[Batched]:
    """The type of batched arrays at a level."""
    return type("Batched", (Batched,), {"__slots__": (), "level": level})
