"""Large NumPy arrays in native code, if the compiler can make it; `blocks` computes all others.

The compiler is a layer above this one. It is imported with the first large array, if llvmlite is
installed and the environment variable ``ARRAYGRAD_COMPILE`` is not 0. This, and the first call of
each function, takes a few tens of milliseconds, once. Whether native code is used depends on the
size of the arrays alone, so a function called twice gives the same result twice.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from typing import Any

import numpy as np

# Arrays with at least this many elements are large: blocks save more time than their calls cost.
LARGE = 3 << 18


@functools.cache
def compiler() -> Any:
    """The module that makes kernels for eager mode; None if there is none."""
    if os.environ.get("ARRAYGRAD_COMPILE") == "0" or not importlib.util.find_spec("llvmlite"):
        return None
    return importlib.import_module("arraygrad.compiler.run.eager")


_WARNS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def is_silent() -> bool:
    """Whether NumPy's error state is one in which a kernel without warnings may take its place."""
    return all(how in ("ignore", _WARNS[what]) for what, how in np.geterr().items())


def elementwise(op: Any, flat: list[Any], length: int) -> Any:
    """A call of an op on flat arrays of some length, and numbers; None if NumPy has to compute it.

    Its method ``run(out)`` fills an array of its `dtype`, and returns whether NumPy warns of none
    of the results.
    """
    if length < LARGE or not is_silent():
        return None
    made = compiler()
    return None if made is None else made.elementwise(op, flat)


def stretch(program: Any, results: list[Any], flat: list[Any], length: int) -> Any:
    """A call of a program on flat arrays, as in a sweep; None if NumPy has to compute it."""
    if length < LARGE or not is_silent():
        return None
    made = compiler()
    return None if made is None else made.stretch(program, results, flat)


def lines(op: Any, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """A call of an op on matrices, each line of which is one by itself; None if NumPy has to."""
    if max(a.size for a in arrays) < LARGE or not is_silent():
        return None
    made = compiler()
    return None if made is None else made.lines(op, arrays, params)


def can_replace(kernel: Any) -> bool:
    """Whether native code can be faster than a kernel: not than one of NumPy's simple functions.

    These have code for integers, as they take one instruction.
    """
    return not isinstance(kernel, np.ufunc) or not any("l" in one for one in kernel.types)
