"""What the functions of `nn` share: checks of arguments, and constants that meet any library.

A check of values is made where values are at hand, in NumPy arrays. Arrays of other libraries stay
where they are: these libraries check indices on their own.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from .. import ops
from ..backends import backend_of, default
from ..backends.dtypes import finfo
from ..core.array import Array, plain
from ..ops.define.adoption import in_library_of
from ..ops.define.signatures import OneArray, TwoArrays, one_array, two_arrays

Ints = tuple[int, ...]


class OptionError(ValueError):
    """An option cannot be what it is, whatever the input; or it does not go with the others."""


class UnsupportedError(ValueError, NotImplementedError):
    """There is no such way to compute a function for an input of this form."""


# --- arrays ---


def kind(x: Any) -> str:
    """The kind of the dtype in one letter: b(ool), i(nteger), f(loat) or c(omplex)."""
    return backend_of(x).kind(x.dtype)


def constant(values: Any, like: Any) -> Any:
    """A NumPy array as a constant in the library, and on the device, of another array."""
    return values if backend_of(like) is default else in_library_of(like, values)


def fixed(x: Any) -> Any:
    """The same values, constant for every derivative."""
    return x.detach() if isinstance(x, Array) else x


def known(x: Any) -> Any:
    """The values, of a batch all at once, if they are in a NumPy array; otherwise None."""
    array = plain(x)
    return array if isinstance(array, np.ndarray | np.generic) else None


def filled(like: Any, shape: Ints, value: Any) -> Any:
    """A constant with one value everywhere, of the dtype of another array."""
    return backend_of(like).full(plain(like), shape, value, like.dtype)


def wide(x: Any) -> Any:
    """Half precision as single precision, in which squares and sums do not overflow."""
    if kind(x) != "f" or finfo(x.dtype).bits > 16:
        return x
    return ops.astype(x, backend_of(x).dtype(np.float32))


def narrow(x: Any, like: Any) -> Any:
    """The result in the dtype of the input, unless that has integers."""
    return x if x.dtype == like.dtype or kind(like) in "bi" else ops.astype(x, like.dtype)


def as_floats(x: Any, like: Any) -> Any:
    """Integers and booleans in the dtype of another array."""
    return ops.astype(x, like.dtype) if kind(x) in "bi" else x


# --- functions ---


def for_axes(
    make: Callable[[int], Callable[..., Any]], name: str, **shown: int
) -> list[OneArray[...]]:
    """Functions for one, two and three axes, from what makes a function for a number of axes.

    In the docstring, ``{count}`` is that number, and each name in `shown` a number for each axis.
    """
    made = []
    for count in (1, 2, 3):
        found = make(count)
        found.__name__ = found.__qualname__ = f"{name}{count}d"
        repeated = {key: ", ".join([str(n)] * count) for key, n in shown.items()}
        found.__doc__ = (found.__doc__ or "").format(count=count, **repeated)
        made.append(one_array(found))
    return made


def with_weight(functions: list[OneArray[...]]) -> list[TwoArrays[...]]:
    """Functions of an array and a weight, of which either can be a tensor."""
    return [two_arrays(cast("Any", function).__wrapped__) for function in functions]


# --- arguments ---


def check_arrays(**arrays: Any) -> None:
    """Raise if something is no array. What may be left out is None then."""
    for name, x in arrays.items():
        if x is not None and not hasattr(x, "dtype"):
            way = "" if isinstance(x, str) else ": make it one by asarray()"
            raise TypeError(f"{name} must be an array, not {type(x).__name__}{way}")


def shape_of(x: Any) -> Ints:
    """The shape, to compare and to show."""
    return tuple(x.shape)


def size(x: Any) -> int:
    """The number of elements; arrays of PyTorch have a method of this name."""
    return math.prod(x.shape)


def each(value: Any, count: int, name: str) -> Ints:
    """One number for each axis."""
    values = value if isinstance(value, tuple | list) else (value,)
    if len(values) not in (1, count):
        raise ValueError(f"{name} must be one int or {count} ints, not {tuple(values)}")
    try:
        found = tuple(map(operator.index, values))
    except TypeError:
        raise TypeError(f"{name} must be one int or {count} ints, not {value!r}") from None
    return found if len(found) == count else found * count


def at_least(low: int, **options: Ints) -> None:
    """Raise if a number is below its bound."""
    for name, values in options.items():
        if any(v < low for v in values):
            raise ValueError(f"{name} must be at least {low}, not {values}")


def one_of(
    name: str, value: Any, choices: Sequence[Any], error: type[ValueError] = ValueError
) -> None:
    """Raise if an option is none of the possible ones."""
    if value not in choices:
        words = ", ".join(map(repr, choices))
        raise error(f"{name} must be one of {words}, not {value!r}")


def check_share(name: str, value: float, error: type[ValueError] = ValueError) -> None:
    """Raise unless a number is between 0 and 1."""
    if not 0 <= value <= 1:
        raise error(f"{name} must be between 0 and 1, not {value}")


def check_same_shape(error: type[ValueError] = ValueError, **arrays: Any) -> None:
    """Raise if the second of two arrays has another shape than the first."""
    (first, x), (second, y) = arrays.items()
    if shape_of(x) != shape_of(y):
        raise error(f"{second} must have the shape of {first} {shape_of(x)}, not {shape_of(y)}")


def check_same_dtype(input: Any, **others: Any) -> None:
    """Raise if an array has another dtype than the input."""
    for name, other in others.items():
        if other is not None and other.dtype != input.dtype:
            raise ValueError(
                f"input is of {input.dtype}, but {name} of {other.dtype}: convert one by astype()"
            )


def batched(x: Any, count: int, name: str = "input") -> tuple[Any, bool]:
    """The signal with an axis of samples, and whether it had none."""
    if x.ndim not in (count + 1, count + 2):
        raise ValueError(
            f"{name} must have {count + 1} or {count + 2} axes, not shape {shape_of(x)}"
        )
    return (x[None], True) if x.ndim == count + 1 else (x, False)


def checked_index(index: Any, count: int, name: str, what: str) -> Any:
    """Indices from 0 to `count - 1`. Where values are not known, others are out of any range."""
    if kind(index) != "i":
        raise ValueError(f"{name} must have an integer dtype, not {index.dtype}")
    values = known(index)
    if values is None:
        return ops.where(index < 0, count, index)
    wrong = values[(values < 0) | (values >= count)]
    if wrong.size:
        number = wrong.reshape(-1)[0]
        raise IndexError(f"{name.capitalize()} {number} is out of bounds: there are {count} {what}")
    return index
