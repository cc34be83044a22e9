"""The pattern array: carries, for every element, the set of input elements it depends on.

`func.sparsity` runs a function on pattern arrays. The sets (`arrays.dependence`) say which
derivatives *can* be other than zero. The rules for ops (`arrays.spread`) may give a set that is too
large, never one that is too small. The sets describe the function, not the point: `x ** 2` depends
on `x` also where `x` is zero, and `where` depends on both of its choices. Constants are part of the
function: if `x` is multiplied by a constant matrix, a zero in the matrix cuts the dependence.

A result without any dependence, such as that of a comparison, is still a pattern array. So an
index that was computed from the input can be told from a constant index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.levels import stamp_at, type_at_level
from ..ops.define.op import Op
from ..ops.shape import copy
from .dependence import Dependence, everything, nothing
from .methods import ArrayMethods
from .numbers import check_not_stored
from .spread import Call, spread
from .writes.transforms import Replaceable, link, link_detached


class Pattern(Replaceable, ArrayMethods, Array):
    """An array, and which input elements each of its elements depends on."""

    __slots__ = ("dependence",)
    _parts = ("_array", "dependence")

    def __init__(self, array: Any, dependence: Dependence) -> None:
        self._array = array
        self.dependence = dependence
        self._stamp = stamp_at(self.level)

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        values = tuple(a._array if type(a) is cls else a for a in arrays)
        given = [a.dependence if type(a) is cls else None for a in arrays]
        out = op.function(*values, **params)
        outs = out if op.multiple else (out,)
        shapes = [tuple(np.shape(o)) for o in outs]
        found = spread(Call(op, values, given, params, shapes))
        results = tuple(map(cls, outs, found))
        result = results if op.multiple else results[0]
        if op.view and len(arrays) == 1:
            link(op, arrays[0], params, result)
        return result

    @classmethod
    def on_everything(cls, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        """The results of an unknown function: each depends on all inputs."""
        given = [i.dependence for i in inputs if type(i) is cls]
        return [cls(o, everything(given, tuple(np.shape(o)))) for o in outputs]

    def clone(self) -> Pattern:
        """A copy of the array."""
        copied: Pattern = copy(self)
        return copied

    def over(self, function: Callable[[Any], Any]) -> Pattern:
        return type(self)(function(self._array), self.dependence)

    def detach(self) -> Pattern:
        """The same values, without dependence on anything."""
        constant = type(self)(self._array, nothing(self.dependence, self.shape))
        link_detached(self, constant)
        return constant

    # The values are known, so control flow may depend on them. The pattern is then that of the
    # branch taken. There is no __index__: an index stays an array, so that its dependence is seen.

    def __bool__(self) -> bool:
        return bool(self._array)

    def __int__(self) -> int:
        check_not_stored(1)
        return int(self._array)

    def __float__(self) -> float:
        check_not_stored(1)
        return float(self._array)

    def __complex__(self) -> complex:
        check_not_stored(1)
        return complex(self._array)

    def __repr__(self) -> str:
        return f"Pattern({self._array!r})"


def pattern_type(level: float) -> type[Pattern]:
    """The type of pattern arrays at a level."""
    return type_at_level(Pattern, level)
