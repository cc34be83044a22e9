"""Rules that cannot take batched arrays: they are called once for each member of a batch."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..arrays.batched import Batched
from ..core.array import AnyFunction
from ..ops.define.rules import Rule, parameters


def one_by_one(rule: AnyFunction) -> Rule:
    """The rule, with the same parameters, for batches too."""

    def each(*values: Any) -> Any:
        kind = _kind(values)
        if kind is None:
            return rule(*values)
        count = _count(values, kind)
        # An empty batch has the shapes of any other.
        found = [rule(*_member(values, kind, i if count else None)) for i in range(max(count, 1))]
        return _joined(found, kind, count)

    return Rule(parameters(rule), each)


def _kind(values: Any) -> type[Batched] | None:
    """The type of the batched arrays of the innermost batch in a structure; None without."""
    found: type[Batched] | None = None
    for value in values:
        kind: type[Batched] | None = None
        if isinstance(value, Batched):
            kind = type(value)
        elif isinstance(value, list | tuple):
            kind = _kind(value)
        if kind is not None and (found is None or kind.level > found.level):
            found = kind
    return found


def _count(values: Any, kind: type[Batched]) -> int:
    if type(values) is kind:
        return int(values._array.shape[0])
    if not isinstance(values, list | tuple):
        return 0
    return max((_count(value, kind) for value in values), default=0)


def _member(values: Any, kind: type[Batched], index: int | None) -> Any:
    """The structure for one member of the batch; with zeros for None."""
    if type(values) is kind:
        array = values._array
        if index is None:
            return ops.zeros_like(ops.sum(array, axis=0))
        return array[index]
    if isinstance(values, list | tuple):
        return type(values)(_member(value, kind, index) for value in values)
    return values


def _joined(found: list[Any], kind: type[Batched], count: int) -> Any:
    """One result for a batch, from those of its members."""
    if isinstance(found[0], list | tuple):
        return tuple(_joined(list(parts), kind, count) for parts in zip(*found, strict=True))
    if found[0] is None:
        return None
    return kind(ops.stack(found)[:count])
