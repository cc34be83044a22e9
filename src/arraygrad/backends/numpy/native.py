"""Native code for NumPy arrays in eager mode, if the compiler can make it; else NumPy computes.

The compiler is a layer above this one. It is imported with the first array of `SMALL` elements, if
llvmlite is installed and the environment variable ``ARRAYGRAD_COMPILE`` is not 0. This takes about
a tenth of a second, and the first call of each function takes a few milliseconds, once; the first
one of all processes, a few tens. Whether native code is used depends on the arguments of a call
alone, so a function called twice gives the same result twice.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.cpython import PORTABLE

SMALL = 1024  # elements from which on native code computes
FEW = 128  # elements from which on a program computes in the place of several ops
# Arrays with at least this many elements are large: blocks save more time than their calls cost.
LARGE = 3 << 18
# Ops that are computed in different ways for different numbers, by their names.
BY_VALUE = frozenset({"pow"})


@functools.cache
def compiler() -> Any:
    """The module that makes native code for eager mode; None if there is none."""
    is_off = PORTABLE or os.environ.get("ARRAYGRAD_COMPILE") == "0"
    if is_off or not importlib.util.find_spec("llvmlite"):
        return None
    made = importlib.import_module("arraygrad.compiler.run.eager")
    return made if made.has_entries() else None


def can_replace(kernel: Any) -> bool:
    """Whether native code can be faster than a kernel: not than one of NumPy's simple functions.

    These have code for integers, as they take one instruction.
    """
    return not isinstance(kernel, np.ufunc) or not any("l" in one for one in kernel.types)


# --- NumPy's error state -------------------------------------------------------------------------


def _asks_for_underflow() -> bool:
    """Whether NumPy has to compute, as native code does not notice what is rounded to zero.

    It does notice results that are not finite. Then NumPy computes, and warns or raises.
    """
    return np.geterr()["under"] != "ignore"


def is_common(shape: tuple[int, ...]) -> bool:
    """Whether to make native code for arrays of one shape: as images, layers and batches have.

    Otherwise it would be made for each length that the sequences of a text have.
    """
    return all(n <= 32 or not n % 8 or not n % 10 for n in shape) or math.prod(shape) >= LARGE


class NotCommon(Exception):
    """Arrays have shapes for which no native code is made."""


# NumPy has a new object for each error state that is set: mostly, it is the one at the start.
_umath = importlib.import_module("numpy._core.umath")
_state = getattr(getattr(_umath, "_extobj_contextvar", None), "get", object)
_first_state = None if _asks_for_underflow() else _state()


class NotFinite(Exception):
    """There is an infinity or NaN in the result of a program: NumPy may warn of it, or raise."""


def can_compute() -> bool:
    """Whether NumPy's error state allows for native code."""
    return _state() is _first_state or not _asks_for_underflow()


# --- entries -------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """What an argument of native code is.

    `how` is "array"; "one" for an array whose strides are all zero, so that it has one value;
    "number" for an int or float of Python; or "result" for an array that a result is written to.
    `last` is the length of the last axis, if lines along this axis are computed.
    """

    how: str
    dtype: Any
    last: int | None = None


def kinds_of(arguments: Sequence[Any]) -> list[Kind] | None:
    """The kinds of the arguments of an elementwise function; None if NumPy has to compute it."""
    shape: Any = None
    dtype: Any = None
    for a in arguments:
        if isinstance(a, np.ndarray | np.generic) and a.dtype != np.bool_:
            dtype = a.dtype if dtype is None else dtype
            if a.dtype != dtype or dtype.char not in "fd":
                return None
        if type(a) is np.ndarray and any(a.strides):
            shape = a.shape if shape is None else shape
            if a.shape != shape:
                return None
    if shape is None or dtype is None:
        return None
    found = []
    for a in arguments:
        if type(a) in (int, float) or (isinstance(a, np.generic) and a.dtype == dtype):
            found.append(Kind("number", dtype))
        elif type(a) is not np.ndarray:
            return None
        elif not any(a.strides):
            if a.ndim and a.shape != shape:
                return None
            found.append(Kind("one", a.dtype))
        elif a.flags.c_contiguous or a.flags.f_contiguous:
            found.append(Kind("array", a.dtype))
        else:
            return None
    return found


def _refuse(*arguments: Any) -> Any:
    return NotImplemented


class Entries:
    """Native functions that compute the same for different kinds of arguments.

    A call returns NotImplemented if NumPy has to compute the result.

    Parameters
    ----------
    find : callable
        ``find(compiler, kinds)`` returns the native function for kinds of arguments; None if there
        is none; or False if there is none for any arguments.
    is_quiet : bool
        Whether NumPy would neither warn nor raise.

    Attributes
    ----------
    gains : bool
        Whether there may be any native function.
    """

    __slots__ = ("_find", "_is_quiet", "_last", "gains")

    def __init__(self, find: Callable[[Any, list[Kind]], Any], is_quiet: bool = False) -> None:
        self._find, self._is_quiet = find, is_quiet
        self._last: Any = _refuse  # the function that was used last: it checks its arguments
        self.gains = True

    def __call__(self, *arguments: Any) -> Any:
        if not (self._is_quiet or can_compute()):
            return NotImplemented
        out = self._last(*arguments)
        if out is not NotImplemented:
            return out
        kinds = kinds_of(arguments)
        if kinds is None:
            return NotImplemented
        made = compiler()
        found: Any = False if made is None else self._find(made, kinds)
        if not found:
            self.gains = found is not False
            return NotImplemented
        numbers = [isinstance(a, np.generic) for a in arguments]
        if found is self._last and not any(numbers):  # a result is not finite
            return NotImplemented
        self._last = found
        both = zip(arguments, numbers, strict=True)
        return found(*[a.item() if is_number else a for a, is_number in both])


def stretch(program: Any, values: Sequence[Any], results: Sequence[Any]) -> bool:
    """Write values of a program, as in a sweep, to arrays. False if NumPy has to do it."""
    run, numbers = piece(program, values, results)
    return bool(run) and run(*program.inputs, *numbers, *results) is not NotImplemented


def piece(program: Any, values: Sequence[Any], results: Sequence[Any]) -> tuple[Any, list[Any]]:
    """A native function that writes values of a program to arrays like `results`; None if none.

    It takes arrays like the inputs of the program, then the numbers that are returned with it, then
    the arrays to write to. These can be inputs.
    """
    made = compiler()
    given = list(program.inputs)
    key, function = (None, None) if made is None else made.stretch(program, values, given)
    kinds = None if function is None else kinds_of([*given, *results])
    if kinds is None:
        return None, []
    kinds[-len(results) :] = [Kind("result", r.dtype) for r in results]
    numbers = given[len(program.inputs) :]
    return made.entry(key, function, kinds, reports=False), [
        a.item() if isinstance(a, np.generic) else a for a in numbers
    ]


def _has_lines(x: Any) -> bool:
    """Whether there is native code for lines of one length."""
    length = x.shape[-1]
    return length <= 64 or not length % 16 or x.size >= LARGE


class Lines:
    """An op on the lines along the last axis of contiguous arrays, in native code.

    A call with the arrays and the op's keywords returns NotImplemented if NumPy has to compute it.
    Native code is made for one length of lines. So that this does not happen for each length that
    the sequences of a text have, most lengths are left to NumPy, unless arrays are large.
    """

    __slots__ = ("_last", "_op")

    def __init__(self, op: Any) -> None:
        self._op = op
        self._last: tuple[Any, Any] = None, None  # keywords, and the function that was used last

    def again(self, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        """The result for arrays like those of the last call: native code checks all of them."""
        known, run = self._last
        is_same = known == params and _has_lines(arrays[0]) and can_compute()
        return run(*arrays) if is_same else NotImplemented

    def __call__(self, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        made = compiler() if _has_lines(arrays[0]) and can_compute() else None
        if made is None:
            return NotImplemented
        kinds = [Kind("array", a.dtype, a.shape[-1]) for a in arrays]
        asked = params | {"keepdims": False} if "keepdims" in params else params
        run = made.lines(self._op, kinds, asked)
        if run:
            self._last = params, run
        return run(*arrays) if run else NotImplemented
