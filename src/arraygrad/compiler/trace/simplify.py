"""Simplification of a program while it is written. Each rule keeps every bit of the result.

- An elementwise op on arrays that have one value each gives an array that has one value.
- So does an op that only rearranges the elements of such an array.
- A product with one, as in the first step of a derivative, is the other factor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.kinds import Elementwise, Moves
from ...ops.define.op import Op
from ...ops.elementwise import multiply
from .inference import computed
from .program import Full, Node, Program


def simplified(
    program: Program,
    op: Op,
    args: tuple[Any, ...],
    params: dict[str, Any],
    types: Any,
    names: tuple[str, ...] = (),
) -> Any:
    """The node for an op on arguments: of a simpler form, if there is one."""
    if not (op.multiple or names) and op.is_library:
        found = _of_one_value(program, op, args, params, types) or _factor(op, args, types)
        if found is not None:
            return found
    return program.call(op, args, params, types, names)


def _of_one_value(program: Program, op: Op, args: Any, params: Any, types: Any) -> Full | None:
    kind = op.kind
    if not any(isinstance(a, Full) for a in args):
        return None
    if any(isinstance(a, Node) and not isinstance(a, Full) for a in args):
        return None
    shape, dtype = types
    if isinstance(kind, Elementwise) and not kind.whole:
        given = [np.asarray(a.value) if isinstance(a, Full) else a for a in args]
        (value,) = computed(op, given, params)
        return program.full(value[()], shape, dtype)
    if isinstance(kind, Moves) and kind.shares and len(args) == 1 and args[0].dtype == dtype:
        return program.full(args[0].value, shape, dtype)
    return None


def _factor(op: Op, args: tuple[Any, ...], types: Any) -> Node | None:
    """The other factor of a product with one."""
    if op is not multiply.op:  # type: ignore[attr-defined]
        return None
    for one, other in (args, args[::-1]):
        is_one = isinstance(one, Full) and one.value == 1
        if is_one and isinstance(other, Node) and (other.shape, other.dtype) == types:
            return other
    return None
