"""The batched array: hides a leading axis, over which every op runs at once.

`vmap` runs functions on batched arrays, `is_grads_batched` runs the sweep on them. How each op runs
on a batch is in `ops.batching`.
"""

from __future__ import annotations

from typing import Any

from ..core.array import AnyFunction, Array
from ..core.closing import lent
from ..core.kinds import Elementwise
from ..core.levels import stamp_at, type_at_level
from ..core.nodes import record, stage
from ..ops.batching import batching_rule
from ..ops.define.op import Op
from .methods import TransformMethods
from .numbers import check_not_in_scipy, check_not_stored
from .writes.transforms import Replaceable, link, link_detached

new = object.__new__


class BatchedTruthError(TypeError):
    """The truth of a batch was asked for, which is another one for each member."""


class Batched(Replaceable, TransformMethods, Array):
    """An array whose first axis is hidden.

    `shape`, `ndim` and indices refer to one member of the batch.
    """

    __slots__ = ("_given_axis",)
    _given_axis: int  # for an argument of `vmap`: where it had the axis, if not in front

    def __init__(self, array: Any) -> None:
        self._array = array
        self._stamp = stamp_at(self.level)

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
        if stage() is not record and (given := lent(cls.level, arrays)) is not None:
            return op.function(*given, **params)
        batched = tuple(type(a) is cls for a in arrays)
        raw = tuple(a._array if b else a for a, b in zip(arrays, batched, strict=True))
        out = batching_rule(op)(op, raw, batched, params)
        result = tuple(map(cls, out)) if op.multiple else cls(out)
        if op.view and len(arrays) == 1:
            link(op, arrays[0], params, result)
        return result

    @classmethod
    def caller(cls, op: Op, types: tuple[type, ...]) -> AnyFunction:
        rule, table, view, level = batching_rule(op), op.table, op.view, cls.level
        elementwise = op.is_bare and isinstance(op.kind, Elementwise) and op.own.batch is None
        if op.multiple or (view and (len(types) == 2 or op.is_bare)):
            return super().caller(op, types)
        if len(types) == 2:
            in_x, in_y = flags = types[0] is cls, types[1] is cls

            def over_both(x: Any, y: Any) -> Any:
                if stage() is not record and (given := lent(level, (x, y))) is not None:
                    return op.function(*given)
                a = x._array if in_x else x
                b = y._array if in_y else y
                batched = new(cls)
                batched._stamp = x._stamp if in_x else y._stamp
                if elementwise and _aligned(a, b, in_x, in_y):
                    batched._array = table[type(a), type(b)](a, b)
                else:
                    batched._array = rule(op, (a, b), flags, {})
                return batched

            return over_both

        def over_one(x: Batched, params: Any = None) -> Any:
            if stage() is not record and (given := lent(level, (x,))) is not None:
                return op.function(*given, **(params or {}))
            array = x._array
            batched = new(cls)
            batched._stamp = x._stamp
            if elementwise:
                batched._array = table[(type(array),)](array)
            else:
                batched._array = rule(op, (array,), (True,), params or {})
            if view:
                link(op, x, params or {}, batched)
            return batched

        return over_one

    def detach(self) -> Batched:
        if not isinstance(self._array, Array):
            return self
        constant = type(self)(self._array.detach())
        link_detached(self, constant)
        return constant

    def __bool__(self) -> bool:
        raise BatchedTruthError(
            "the truth of a batched array is not one value: use where() instead of if, or take "
            "the decision outside the batch"
        )

    def item(self) -> Any:
        """Refused: there is one number for each member of the batch."""
        check_not_stored(1)
        check_not_in_scipy()
        raise TypeError(
            "a batched array is not one number but one for each member of the batch: keep it an "
            "array, or take it outside vmap"
        )

    tolist = __float__ = __int__ = __complex__ = item

    def __format__(self, spec: str) -> str:
        return self.item() if spec else repr(self)

    def __repr__(self) -> str:
        return f"Batched({self._array!r})"


def _aligned(x: Any, y: Any, in_x: bool, in_y: bool) -> bool:
    """Whether two arrays with the batch axis in front broadcast like their members."""
    if in_x and in_y:
        return bool(x.ndim == y.ndim)
    whole, part = (x, y) if in_x else (y, x)
    return bool(getattr(part, "ndim", 0) < whole.ndim)


def batched_type(level: float) -> type[Batched]:
    """The type of batched arrays at a level."""
    return type_at_level(Batched, level)
