"""Which results are views of what they were made of: by the op, and by the logical layout.

The logical layout of an array says in which order its elements would lie in NumPy's memory. Arrays
that an op computes, and those that a transform is given, are C-contiguous. Slices, transposes and
broadcasts change the logical strides. A reshape is a view exactly where NumPy would make one of an
array with that layout. The layout of the memory that a library, or a batch, really uses has no say
in it, so a program that writes through views means the same everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..backends import backend_of
from ..core.array import plain
from ..core.indices import is_item
from ..core.kinds import Moves
from ..ops.define.library import declare
from ..ops.define.op import Op
from ..ops.pairs import as_pairs, from_pairs
from ..ops.regions import Step
from ..ops.writing import detached


def _outdated(xp: Any, x: Any) -> Any:
    raise RuntimeError(
        "a Function returned the tensor as a view of its input, which has been written since: what "
        "the view's gradient is now, its backward does not know. Return a clone() from forward"
    )


# The step from an input of a `Function` to an output that shares its memory.
by_function = declare("by_function", "x", compute=_outdated, kind=Moves(shares=True))


class Origin:
    """How a view came about.

    Attributes
    ----------
    base : array
        The array at the root, which is no view itself.
    steps : tuple of (function, keywords)
        The ops that lead from the base to the view.
    is_contiguous : bool
        Whether the elements of the view lie one after the other, by its logical layout.
    is_detached : bool
        Whether one of the steps is `detach`, so that writes change only the values of the base.
    """

    __slots__ = ("base", "is_contiguous", "is_detached", "steps")

    base: Any
    steps: tuple[Step, ...]
    is_contiguous: bool
    is_detached: bool

    def __init__(self, source: Any, origin: Origin | None, step: Step) -> None:
        if origin is None:
            self.base, self.steps = source, (step,)
            contiguous, self.is_detached = getattr(source, "_given", None) is None, False
        else:
            self.base, self.steps = origin.base, (*origin.steps, step)
            contiguous, self.is_detached = origin.is_contiguous, origin.is_detached
        if step[0] is detached:
            self.is_detached = True
        self.is_contiguous = contiguous and step[0].op.view == "reshape"  # type: ignore[attr-defined]


def is_view(op: Op, source: Any, origin: Origin | None, params: dict[str, Any]) -> bool:
    """Whether an op of `source`, which may be a view itself, gives a view of it."""
    if op.view == "index":
        return not is_item(params["template"])
    if op.view == "part":
        is_complex = backend_of(source).kind(source.dtype) == "c"
        return is_complex or op.kind.part == "real"  # type: ignore[attr-defined]
    if op.view != "reshape" or params.get("copy"):
        return op.view == "always"
    base, steps = (source, ()) if origin is None else (origin.base, origin.steps)
    strides = getattr(base, "_given", None)
    if strides is None and (origin is None or origin.is_contiguous):
        return True
    if _has_unknown_length(base, source):
        return True
    if any(function is by_function for function, _ in steps):  # only its memory tells
        return _can_reshape(plain(source), params["shape"])
    return _can_reshape(_without_memory(base, strides, steps), params["shape"])


def is_fresh(x: Any) -> bool:
    """Whether an array is C-contiguous because nothing else is known of it."""
    origin = getattr(x, "_view", None) or getattr(x, "_linked", None)
    return getattr(x, "_given", None) is None if origin is None else bool(origin.is_contiguous)


def logical_strides(x: Any) -> tuple[int, ...] | None:
    """The strides of an array by its logical layout, in elements; None if lengths are not known."""
    origin = getattr(x, "_view", None) or getattr(x, "_linked", None)
    base, steps = (x, ()) if origin is None else (origin.base, origin.steps)
    if _has_unknown_length(base, x):
        return None
    given = getattr(base, "_given", None)
    strides = _without_memory(base, given, steps).strides
    # Where a user's array lies in memory is known in bytes; a complex number has two parts.
    size = 1 if given is None else base.dtype.itemsize
    parts = 2 if any(function.op.view == "part" for function, _ in steps) else 1
    return tuple(parts * s // size for s in strides)


def _without_memory(base: Any, strides: Any, steps: tuple[Step, ...]) -> Any:
    """A NumPy array with the layout of a view, whose elements must not be touched."""
    shape = tuple(base.shape)
    if strides is None:
        strides, unit = np.cumprod((1, *shape[:0:-1]))[::-1] if shape else (), 1
    else:
        unit = base.dtype.itemsize
    array = _laid_out(np.zeros(1, np.int8), shape, tuple(map(int, strides)))
    for function, keywords in steps:
        if function is as_pairs:
            array = _laid_out(array, (*array.shape, 2), (*(2 * s for s in array.strides), unit))
        elif function is from_pairs:
            array = _laid_out(array, array.shape[:-1], [s // 2 for s in array.strides[:-1]])
        elif function.op.view != "part":  # type: ignore[attr-defined]  # which lies as the elements do
            array = function(array, **keywords)
    return array


def _laid_out(array: Any, shape: Any, strides: Any) -> Any:
    return as_strided(array, shape, strides, writeable=False)


def _has_unknown_length(*arrays: Any) -> bool:
    return any(n != n for array in arrays for n in array.shape)


def _can_reshape(array: Any, shape: tuple[int, ...]) -> bool:
    try:
        np.reshape(array, shape, copy=False)
    except ValueError:
        return False
    return True
