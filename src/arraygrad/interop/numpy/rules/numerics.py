"""NumPy's products and differences, and its functions that search, sort and select elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import linalg, ops
from ....arrays import creation
from ....arrays.writes.methods import check_partition
from ....backends import backend_of
from ....core.array import AnyFunction, plain
from ....ops.elementwise import choose
from ..values import plain_values, written
from .common import (
    RULES,
    array_of,
    arrays_of,
    flag,
    in_dtype,
    refuse,
    rule_for,
    with_arguments_of,
)

# --- products ------------------------------------------------------------------------------------


@rule_for(np.dot)  # of which older versions do not tell the parameters
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    return written(out, ops.dot(array_of(a), array_of(b)), "numpy.dot")


@rule_for(np.einsum)
def _einsum(
    *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, **given: Any
) -> Any:
    for argument in given:
        raise TypeError(f"numpy.einsum: {argument}= is not supported for arrays of arraygrad")
    # Arrays are all but a string in front, or each second with its list of subscripts.
    first, step = (1, 1) if isinstance(operands[0], str) else (0, 2)
    count = len(operands) - len(operands) % step
    arguments = list(operands)
    arguments[first:count:step] = arrays_of(operands[first:count:step])
    result = in_dtype(ops.einsum(*arguments), dtype)
    return written(out, result, "numpy.einsum")


@rule_for(np.cross)
def _cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    first, second, third = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a, b = ops.moveaxis(array_of(a), first, -1), ops.moveaxis(array_of(b), second, -1)
    return ops.moveaxis(linalg.cross(a, b), -1, third)


# --- differences, searching, ordering ------------------------------------------------------------


@rule_for(np.ediff1d)
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    refuse("ediff1d", to_end=to_end, to_begin=to_begin)
    return ops.diff(ops.ravel(ary))


def _in_order(function: AnyFunction) -> AnyFunction:
    def own(x: Any, /, axis: Any = -1, stable: Any = None, descending: Any = False) -> Any:
        x, axis = (ops.ravel(x), 0) if axis is None else (x, axis)
        return function(x, axis=axis, descending=flag(descending))

    return own


RULES[np.sort] = with_arguments_of(np.sort, _in_order(ops.sort), 1)
RULES[np.argsort] = with_arguments_of(np.argsort, _in_order(ops.argsort), 1)


@rule_for(np.partition)
def _partition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    a, axis = (ops.ravel(array_of(a)), -1) if axis is None else (array_of(a), axis)
    return ops.sort(a, axis=check_partition(a, plain_values(kth), axis, kind, order))


@rule_for(np.argpartition)
def _argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
) -> Any:
    return array_of(a).argpartition(plain_values(kth), axis, kind, order)


RULES[np.flatnonzero] = lambda a: ops.nonzero(ops.ravel(a))[0]
RULES[np.argwhere] = lambda a: ops.stack(ops.nonzero(a), axis=1)


@rule_for(np.unique)
def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    refuse("unique", axis=axis)
    found: tuple[Any, ...] = ops.unique_all(ar)
    values, places, inverse, counts = found
    has_values = backend_of(values).has_values(plain(values))
    nans = int(np.isnan(plain_values(values)).sum()) if has_values else 0
    if equal_nan and nans > 1:  # the standard has each apart, at the end
        n = values.shape[0] - nans
        counts = ops.concat([counts[:n], ops.sum(counts[n:], axis=0, keepdims=True)])
        found = values[: n + 1], places[: n + 1], ops.minimum(inverse, n), counts
    chosen = [True, return_index, return_inverse, return_counts]
    results = tuple(part for part, wanted in zip(found, chosen, strict=True) if wanted)
    return results[0] if len(results) == 1 else results


@rule_for(np.take_along_axis)
def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        arr, indices, axis = ops.ravel(arr), ops.ravel(indices), 0
    return ops.take_along_axis(arr, indices, axis=axis)


@rule_for(np.compress)
def _compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    chosen = np.asarray(plain_values(array_of(condition)))
    return written(out, creation.asarray(array_of(a)).compress(chosen, axis), "numpy.compress")


RULES[np.extract] = lambda condition, arr: ops.take(
    arr, np.nonzero(np.ravel(plain_values(condition)))[0]
)


@rule_for(np.copyto)
def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    value = src if where is True else choose(array_of(where), src, dst)
    written(dst, value, "numpy.copyto")
