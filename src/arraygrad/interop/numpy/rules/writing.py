"""NumPy's functions that write to parts of their first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import ops
from ....core.array import AnyFunction
from ..values import holds_gradients, plain_values
from .common import array_of, rule_for


def _writing(function: AnyFunction) -> Callable[[AnyFunction], AnyFunction]:
    """A decorator for the rule of a function that writes. NumPy arrays need no rule."""
    name = f"numpy.{function.__name__}"

    def register(rule: AnyFunction) -> AnyFunction:
        def checked(target: Any, *args: Any, **kwargs: Any) -> None:
            if hasattr(target, "copy_"):
                rule(target, *args, **kwargs)
                return
            if holds_gradients(args) or holds_gradients(kwargs):
                raise TypeError(
                    f"{name}: the values take part in differentiation, and would lose that in the "
                    "NumPy array they are to be written to: make it a tensor first"
                )
            function(target, *plain_values(args), **plain_values(kwargs))

        rule_for(function)(checked)
        return rule

    return register


def _numbers(x: Any) -> Any:
    """Places, or a mask, as a NumPy array."""
    return np.asarray(plain_values(x))


def _cycled(values: Any, size: int) -> Any:
    """The first `size` values; if there are fewer, they are repeated."""
    flat = ops.ravel(array_of(values))
    if not size:
        return flat[:0]
    if not flat.shape[0]:
        raise ValueError("there are places to write to, but no values")
    return ops.take(flat, np.arange(size) % flat.shape[0])


@_writing(np.put)
def _put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    places = np.ravel(_numbers(ind))
    if mode != "raise":
        places = places % a.size if mode == "wrap" else np.clip(places, 0, a.size - 1)
    elif places.size and not ((places >= -a.size) & (places < a.size)).all():
        raise IndexError(f"numpy.put: ind must be within {a.size} elements")
    a[np.unravel_index(places % a.size if a.size else places, a.shape)] = _cycled(v, places.size)


@_writing(np.putmask)
def _putmask(a: Any, mask: Any, values: Any) -> None:
    chosen = _numbers(mask)
    a[chosen] = ops.reshape(_cycled(values, a.size), a.shape)[chosen]


@_writing(np.place)
def _place(arr: Any, mask: Any, vals: Any) -> None:
    chosen = _numbers(mask)
    arr[chosen] = _cycled(vals, int(chosen.sum()))


@_writing(np.put_along_axis)
def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    places = _numbers(indices)
    if axis is None:
        _put(arr, places, values)
        return
    axis = axis % arr.ndim
    lines = [
        places if i == axis else np.arange(n).reshape((-1,) + (1,) * (arr.ndim - i - 1))
        for i, n in enumerate(arr.shape)
    ]
    arr[tuple(lines)] = values
