"""The dual array: a value and its tangent, for forward mode. Its rules are in `ops.forward`."""

from __future__ import annotations

import functools
from typing import Any

from .. import ops
from ..core import upward
from ..core.array import AnyFunction, Array
from ..core.closing import lent
from ..core.levels import stamp_at, type_at_level
from ..core.nodes import record, stage
from ..ops.define.op import Op, once_per_op
from ..ops.define.rules import sums_rules
from ..ops.forward import forward_of, tangent_rules
from .methods import TransformMethods
from .numbers import check_not_in_scipy, check_not_stored
from .writes.transforms import Replaceable, link

new = object.__new__


class Dual(Replaceable, TransformMethods, Array):
    """An array and its tangent."""

    __slots__ = ("tangent",)
    _parts = ("_array", "tangent")

    def __init__(self, array: Any, tangent: Any) -> None:
        self._array = array
        self.tangent = tangent
        self._stamp = stamp_at(self.level)

    @property
    def primal(self) -> Any:
        """The array without its tangent."""
        return self._array

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if stage() is not record and (given := lent(cls.level, arrays)) is not None:
            return op.function(*given, **params)
        primals = tuple(a._array if type(a) is cls else a for a in arrays)
        tangents = [a.tangent if type(a) is cls else None for a in arrays]
        stamp = next(a._stamp for a in arrays if type(a) is cls)
        moves = any(t is not None and op.input_name(i) in op.rules for i, t in enumerate(tangents))
        # Tangents that are batched by themselves have primals that are computed once.
        is_joint = op.own.push is not None and all(
            getattr(t, "level", 0) < cls.level for t in tangents
        )
        if moves and is_joint:
            pairs = zip(*op.own.push(primals, tangents, params), strict=True)  # type: ignore[misc]
            return tuple(cls._fitted(o, t, stamp) for o, t in pairs)
        out = op.function(*primals, **params)
        if not moves:
            return out
        forward = forward_of(op) or functools.partial(_linearized, op)
        tangent = forward(primals, tangents, out, params)
        result: Any
        if op.multiple:
            both = zip(out, tangent, strict=True)
            result = tuple(cls._fitted(o, t, stamp) for o, t in both)
        else:
            result = cls._fitted(out, tangent, stamp)
        if op.view and len(arrays) == 1:
            link(op, arrays[0], params, result)
        return result

    @classmethod
    def caller(cls, op: Op, types: tuple[type, ...]) -> AnyFunction:
        rules = tangent_rules(op) if op.is_bare and sums_rules(op) else {}
        if len(rules) < len(types):
            return super().caller(op, types)
        table, fitted, level = op.table, cls._fitted, cls.level
        if len(types) == 1:
            (rule,) = rules.values()

            def push(x: Dual) -> Any:
                if stage() is not record and (given := lent(level, (x,))) is not None:
                    return op.function(*given)
                array = x._array
                out = table[(type(array),)](array)
                return fitted(out, rule(x.tangent, (array,), out, None), x._stamp)

            return push
        if types[0] is not types[1]:
            is_left = types[0] is cls
            rule = rules[0 if is_left else 1]

            def one(x: Any, y: Any) -> Any:
                if stage() is not record and (given := lent(level, (x, y))) is not None:
                    return op.function(*given)
                a, b = arrays = (x._array, y) if is_left else (x, y._array)
                out = table[type(a), type(b)](a, b)
                dual = x if is_left else y
                return fitted(out, rule(dual.tangent, arrays, out, None), dual._stamp)

            return one
        pushed = _sum_of_both(op)

        def both(x: Dual, y: Dual) -> Any:
            if stage() is not record and (given := lent(level, (x, y))) is not None:
                return op.function(*given)
            a, b = x._array, y._array
            out = table[type(a), type(b)](a, b)
            tangent = pushed(x.tangent, y.tangent, a, b, out)
            if tangent.dtype is not out.dtype:  # the shape fits: both operands are in the sum
                return fitted(out, tangent, x._stamp)
            dual = new(cls)
            dual._array = out
            dual.tangent = tangent
            dual._stamp = x._stamp
            return dual

        return both

    @classmethod
    def _fitted(cls, out: Any, tangent: Any, stamp: Any) -> Dual:
        """A dual array whose tangent has the shape and dtype of the array.

        A rule may give another shape or dtype if a constant input decides the shape or dtype of the
        result.
        """
        if tangent.dtype is not out.dtype and tangent.dtype != out.dtype:
            tangent = ops.astype(tangent, out.dtype)
        if tangent.shape != out.shape:
            tangent = ops.broadcast_to(tangent, out.shape)
        dual = new(cls)
        dual._array = out
        dual.tangent = tangent
        dual._stamp = stamp
        return dual

    def over(self, function: AnyFunction) -> Dual:
        return type(self)(function(self._array), function(self.tangent))

    def detach(self) -> Any:
        array = self._array
        return array.detach() if isinstance(array, Array) else array

    def __bool__(self) -> bool:
        return bool(self._array)

    def item(self) -> Any:
        """Refused: a Python number would lose the tangent silently."""
        check_not_stored(1)
        check_not_in_scipy()
        raise TypeError(
            "a dual array cannot become a Python number without losing its tangent: keep it an "
            "array, or call detach() first if that is meant"
        )

    tolist = __float__ = __int__ = __complex__ = item

    def __format__(self, spec: str) -> str:
        return format(self._array, spec) if spec else repr(self)

    def __repr__(self) -> str:
        return f"Dual({self._array!r}, tangent={self.tangent!r})"


def _linearized(op: Op, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    """The forward rule of an op with reverse rules only: these are linear, so transpose them."""
    moving = [i for i, tangent in enumerate(tangents) if tangent is not None]

    def of_moving(*values: Any) -> Any:
        full = list(primals)
        for i, value in zip(moving, values, strict=True):
            full[i] = value
        return op.function(*full, **params)

    _, push = upward.linearize(of_moving, *(primals[i] for i in moving))
    return push(*(tangents[i] for i in moving))


@once_per_op
def _sum_of_both(op: Op) -> AnyFunction:
    """The rules of an elementwise op on two arrays, as one function of both tangents."""
    is_first, is_second = [op.rules[name].is_identity for name in op.inputs]
    rules = tangent_rules(op)
    first, second = rules[0], rules[1]
    if is_first and is_second:
        return lambda s, t, x, y, out: s + t
    if is_first:
        return lambda s, t, x, y, out: s + second(t, (x, y), out, None)

    def both(s: Any, t: Any, x: Any, y: Any, out: Any) -> Any:
        arrays = x, y
        return first(s, arrays, out, None) + second(t, arrays, out, None)

    return both


def dual_type(level: float) -> type[Dual]:
    """The type of dual arrays at a level."""
    return type_at_level(Dual, level)
