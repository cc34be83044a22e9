"""Which results are views of what they were made of.

In NumPy, a `reshape` that merges axes is a view if the elements lie in the right order in memory,
and else a copy. The views of a C-contiguous NumPy array lie in memory here as they do in NumPy. In
a batch, in another library, and in a result that is not C-contiguous, the elements may lie in
another order than in NumPy. A reshape that merges axes there is *unsure*: its result can be read,
but neither the result nor its base can be written while that would make a difference. So a program
means the same everywhere, or it is refused.
"""

from __future__ import annotations

from typing import Any

from numpy import generic, ndarray

from ..backends import backend_of
from ..core.array import is_over
from ..core.indices import is_item
from ..core.kinds import Moves
from ..core.memory import owner_of
from ..ops.define.library import declare
from ..ops.define.op import Op
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
    is_detached : bool
        Whether one of the steps is `detach`, so that writes change only the values of the base.
    is_unsure : bool
        Whether one of the steps may have copied.
    """

    __slots__ = ("base", "is_detached", "is_unsure", "steps")

    base: Any
    steps: tuple[Step, ...]
    is_detached: bool
    is_unsure: bool

    def __init__(self, source: Any, origin: Origin | None, step: Step) -> None:
        if origin is None:
            self.base, self.steps = source, (step,)
            self.is_detached = self.is_unsure = False
        else:
            self.base, self.steps = origin.base, (*origin.steps, step)
            self.is_detached, self.is_unsure = origin.is_detached, origin.is_unsure
        if step[0] is detached:
            self.is_detached = True


def is_view(op: Op, source: Any, params: dict[str, Any], result: Any) -> bool | None:
    """Whether the result of an op shares its elements with the only input; None if unsure."""
    if op.view == "index":
        return not is_item(params["template"])
    if op.view == "part":
        is_complex = backend_of(source).kind(source.dtype) == "c"
        return is_complex or op.kind.part == "real"  # type: ignore[attr-defined]
    if op.view != "reshape" or params.get("copy"):
        return op.view == "always"
    if _merges_nothing(source.shape, params["shape"]):
        return True
    if not is_ordered(source):
        return None
    return is_shared(memory_of(source), memory_of(result))


def is_ordered(x: Any) -> bool:
    """Whether the elements are known to lie in memory as they would in NumPy."""
    origin = getattr(x, "_view", None) or getattr(x, "_linked", None)
    base = memory_of(x if origin is None else origin.base)
    return base is not None and bool(base.flags.c_contiguous)


def is_shared(source: Any, array: Any) -> bool:
    """Whether what a step made of an array shares its memory, if it is NumPy's."""
    if isinstance(array, ndarray):
        owner = array.base
        if owner is None:
            return array is source
        return owner is source or owner is source.base or owner_of(owner) is owner_of(source)
    return not isinstance(array, generic)


def memory_of(x: Any) -> Any:
    """The NumPy array under all transforms; None in a batch, and in another library."""
    while is_over(x):
        if x.ndim != x._array.ndim:
            return None
        x = x._array
    return x if isinstance(x, ndarray) else None


def _merges_nothing(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a reshape keeps each axis, or cuts it into several: then it never has to copy."""
    rest = [n for n in reversed(wanted) if n != 1]
    for n in shape:
        part = 1
        while part < n and rest:
            part *= rest.pop()
        if part != n:
            return False
    return True


def refuse_unsure(what: str) -> None:
    """Raise the error for a write that is clear only if it is known what `reshape` has done."""
    raise RuntimeError(
        f"{what}: the result of reshape() or ravel() may be a view or a copy. NumPy decides it by "
        "the order of the elements in memory, which may differ here: in a batch, in another "
        "library, or because the array was computed from a transposed one. Make a copy of the "
        "result, by copy(), and write to that; or make the array that is reshaped by zeros()"
    )
