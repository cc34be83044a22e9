"""`autograd.numpy.numpy_wrapper`: NumPy's functions, for boxes too.

Without boxes among its arguments, a function here is NumPy's. With boxes, it is the function of
arraygrad that does the same. `defvjp` can give any of them another rule.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import chain
from types import GeneratorType
from typing import Any

import numpy as _np

from ....arrays.tensor import Tensor
from ....core.array import Array
from ....interop.numpy.rules import RULES
from ....interop.numpy.ufuncs import CALLS, array_ufunc
from ....ops.define.dispatch import UnsupportedOperand
from ..boxes import as_box
from ..primitives import apply, notrace_primitive, primitive_vjps
from ..structures import SEQUENCES, holds_boxes

__all__ = ["metadata", "wrap_namespace", "wrapped"]

AnyFunction = Callable[..., Any]
# What is not a sequence, and has items that may be boxes.
_ITERATORS: tuple[Any, ...] = (map, filter, zip, reversed, chain, GeneratorType, type({}.values()))


def wrap_namespace(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Put all functions of a namespace, wrapped, and its other public values into another one."""
    made: dict[int, Any] = {}
    for name, value in old.items():
        if name.startswith("_"):
            continue
        if callable(value) and not isinstance(value, type):
            new[name] = made.setdefault(id(value), None) or wrapped(value)
            made[id(value)] = new[name]
        elif not isinstance(value, type(_np)):  # modules are wrapped one by one
            new[name] = value


def wrapped(raw: AnyFunction, native: AnyFunction | None = None) -> AnyFunction:
    """A function of NumPy or SciPy for boxes, too, where `native` does the same.

    By default, `native` is the function of arraygrad that NumPy's function has.
    """
    native = native or _native(raw)

    def f(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if isinstance(arg, Array) or (isinstance(arg, SEQUENCES) and holds_boxes(arg)):
                break
        else:
            if args and isinstance(args[0], _ITERATORS):  # which NumPy's own do not take
                return f(list(args[0]), *args[1:], **kwargs)
            if not kwargs or not any(map(holds_boxes, kwargs.values())):
                return raw(*args, **kwargs)
        if native is None or f in primitive_vjps:
            return apply(f, raw, args, kwargs)
        result = native(*args, **kwargs)
        return _result(result)

    functools.update_wrapper(f, raw, updated=())
    f.fun = raw  # type: ignore[attr-defined]
    f._is_autograd_primitive = True  # type: ignore[attr-defined]
    return f


def _native(raw: AnyFunction) -> AnyFunction | None:
    """The function of arraygrad that does for boxes what `raw` does; None without."""
    if isinstance(raw, _np.ufunc):
        if raw not in CALLS:
            return None
        direct = CALLS[raw]

        def of_ufunc(*args: Any, **kwargs: Any) -> Any:
            if not kwargs:
                try:
                    return direct(*args)
                except UnsupportedOperand:  # such as a list
                    pass
            return array_ufunc(None, raw, "__call__", *args, **kwargs)

        return of_ufunc
    return RULES.get(raw)


def _result(value: Any) -> Any:
    """A result without tensors other than boxes, which rules make of plain values."""
    if isinstance(value, Tensor):
        return as_box(value)
    if isinstance(value, SEQUENCES):
        items = map(_result, value)
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


@notrace_primitive
def metadata(value: Any) -> tuple[Any, int, Any, bool]:
    """The shape, the number of axes, the dtype of a value, and whether it is complex."""
    return _np.shape(value), _np.ndim(value), _np.result_type(value), _np.iscomplexobj(value)
