"""The function that runs an op: it looks up the types of its arguments, once for each type."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ...backends.arraylikes import ARRAY_LIKE, operand_values, values_of
from ...core.array import AnyFunction, Array
from ...errors import MixedArraysError
from .adoption import in_one_library
from .dispatch import Table, UnsupportedOperand

if TYPE_CHECKING:
    from .op import Op


def function_of(op: Op, doc: str | None) -> AnyFunction:
    """The function that runs an op, in the fastest form for its inputs and keywords."""
    object.__setattr__(op, "table", Table(op))
    of_count = (_of_one, _of_two)[len(op.inputs) - 1] if op.is_bare else _of_any
    run: Any = of_count(op)
    run.op = op
    run.__doc__ = doc
    run.__name__ = run.__qualname__ = op.name
    run.__module__ = op.module or __name__  # so that it can be pickled by name
    object.__setattr__(op, "function", run)
    return run  # type: ignore[no-any-return]


def _of_one(op: Op) -> Any:
    table = op.table

    def run(x: Any, /) -> Any:
        try:
            found = table[(type(x),)]
        except UnsupportedOperand:
            (x,) = _with_values((x,))
            found = table[(type(x),)]
        return found(x)

    return run


def _of_two(op: Op) -> Any:
    table = op.table

    def run(x: Any, y: Any, /) -> Any:
        try:
            return table[type(x), type(y)](x, y)
        except MixedArraysError as error:
            return run(*in_one_library((x, y), error))
        except UnsupportedOperand:
            return run(*_with_values((x, y)))

    def operator(x: Any, y: Any, /) -> Any:
        try:
            found = table[type(x), type(y)]
        except UnsupportedOperand:
            values = operand_values(y, x)
            return NotImplemented if values is y else operator(x, values)
        try:
            return found(x, y)
        except MixedArraysError as error:
            return run(*in_one_library((x, y), error))

    def reflected(x: Any, y: Any, /) -> Any:
        try:
            found = table[type(y), type(x)]
        except UnsupportedOperand:
            values = operand_values(y, x)
            return NotImplemented if values is y else reflected(x, values)
        try:
            return found(y, x)
        except MixedArraysError as error:
            return run(*in_one_library((y, x), error))

    function: Any = run
    function.operator = operator
    function.reflected = reflected
    return function


def _of_any(op: Op) -> Any:
    table = op.table

    def run(*arrays: Any, **params: Any) -> Any:
        if len(arrays) == 1:
            (x,) = arrays
            try:
                found = table[(type(x),)]
            except UnsupportedOperand:
                (x,) = _with_values(arrays)
                found = table[(type(x),)]
            return found(x, params)
        try:
            if len(arrays) == 2 and not params:
                x, y = arrays
                return table[type(x), type(y)](x, y)
            top: type[Array] | None = None
            for array in arrays:
                if not isinstance(array, Array):
                    if ARRAY_LIKE[type(array)]:
                        return run(*map(values_of, arrays), **params)
                elif top is None or array.level > top.level:
                    top = type(array)
            if top is not None:
                return top.apply(op, arrays, params)
            return op.kernel(tuple(map(type, arrays)))(*arrays, **params)
        except MixedArraysError as error:
            return run(*in_one_library(arrays, error), **params)
        except UnsupportedOperand:
            return run(*_with_values(arrays), **params)

    if op.keywords == ():  # show the names of the inputs
        positional = inspect.Parameter.POSITIONAL_ONLY
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(n, positional) for n in op.inputs], return_annotation="Any"
        )
    return run


def _with_values(arrays: tuple[Any, ...]) -> list[Any]:
    """The operands with NumPy arrays for array-likes. Raises the last error if there are none."""
    values = [values_of(a) for a in arrays]
    if all(v is a for v, a in zip(values, arrays, strict=True)):
        raise
    return values
