"""Native code for eager mode: entries for ops, rules, lines and programs, by what they are for.

`backends.numpy.native` says when they are used.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arrays import traced as blocks
from ...backends.numpy.native import BY_VALUE, Kind, NotCommon
from ...core.locks import held
from ...ops.define.op import Op
from ..llvm.python import has_entries
from ..lower import scalars
from .open_entry import open_entry
from .open_kernel import NotOpen, NotWorthIt, OpenKernel

__all__ = ["elementwise", "entry", "has_entries", "kept", "lines", "rule", "stretch"]

MOST = 512  # entries that are kept

_entries: OrderedDict[Any, Any] = OrderedDict()  # the last used ones come last
failures: Counter[str] = Counter()  # errors of the compiler, which made NumPy compute instead
_lock = threading.RLock()  # a kernel of NumPy may run while an entry is made
_is_making = False


def entry(
    key: Any, function: Callable[..., Any], kinds: Sequence[Kind], reports: bool, least: int = 1
) -> Any:
    """The entry for a function, which `key` stands for, and kinds of arguments; None if none.

    Parameters
    ----------
    key : hashable
    function : callable
        Takes a traced array for each argument that is not a result, and returns a tuple.
    kinds : sequence of Kind
    reports : bool
        Whether to look for results that NumPy may warn of.
    least : int
        The number of ops from which on the entry is worth it. If there are fewer, it is False.
    """

    def make() -> Any:
        given = [kind for kind in kinds if kind.how != "result"]
        return open_entry(OpenKernel(function, given, reports, least), kinds)

    return kept((key, *kinds), make)


def kept(key: Any, make: Callable[..., Any], *given: Any) -> Any:
    """What a function makes, once for each key; None if it cannot. The last used ones are kept."""
    found = _entries.get(key) if len(_entries) < MOST else None  # no order is needed so far
    return found or held(_lock, _made, key, make, *given)


def _made(key: Any, make: Callable[..., Any], *given: Any) -> Any:
    """What a function makes; what it has made for this key before, if it is still kept."""
    global _is_making
    found = _entries.get(key, _entries)
    if found is not _entries:
        _entries.move_to_end(key)
        return found
    if _is_making:
        return None
    found = None
    try:
        _is_making = True
        found = make(*given)
    except NotCommon:
        return None
    except NotOpen:
        pass
    except NotWorthIt:
        found = False
    except Exception as error:  # whatever the reason is, NumPy computes it
        failures[f"{type(error).__name__}: {error}"] += 1
    finally:
        _is_making = False
    _entries[key] = found
    if len(_entries) > MOST:
        _entries.popitem(last=False)
    return found


def _of_arrays(key: Any, function: Callable[..., Any], kinds: Sequence[Kind], **how: Any) -> Any:
    """The entry for an elementwise function; False if there is none for float64 arrays either."""
    found = entry(key, function, kinds, **how)
    if found is not None or _is_making:  # else it would be asked for never again
        return found
    double = np.dtype(np.float64)
    arrays = [Kind("array", double if k.dtype.kind == "f" else k.dtype) for k in kinds]
    code = kept((key, "code"), lambda: OpenKernel(function, arrays, reports=False))
    return found if code else False


def elementwise(op: Op, kinds: Sequence[Kind]) -> Any:
    """The entry for an op on arrays and numbers."""
    function = lambda *given: (op.function(*given),)  # noqa: E731
    return _of_arrays(op, function, kinds, reports=op not in scalars.QUIET)


def lines(op: Op, kinds: Sequence[Kind], params: dict[str, Any]) -> Any:
    """The entry for an op along the last axis of arrays that have equally many lines."""
    params = params | {"axis": (1,)}
    key = op, tuple(params.items())
    return entry(key, lambda *given: (op.function(*given, **params),), kinds, reports=False)


def rule(function: Callable[..., Any], kinds: Sequence[Kind]) -> Any:
    """The entry for a rule of a cotangent and saved values; False if one op computes it."""
    of_tuple = lambda *given: (function(*given),)  # noqa: E731
    return _of_arrays(function, of_tuple, kinds, reports=False, least=2)


def stretch(program: blocks.Program, values: Sequence[Any], given: list[Any]) -> Any:
    """Values of a program as a function of its arrays, and what stands for the function as a key.

    The numbers in the program are arguments of the function, too. They are added to `given`, which
    has the arrays. Both are None if there is no such function.
    """
    steps: list[tuple[Op, tuple[Any, ...], str]] = []
    places = {number: _Place(i) for i, number in enumerate(program.given)}
    for i, step in enumerate(program.steps):
        if step.op is None:
            return None, None
        arguments: list[Any] = []
        for a in step.arguments:
            if type(a) is blocks.Traced:
                arguments.append(places[a.number])
            elif step.op.name in BY_VALUE:
                arguments.append(a)
            else:
                arguments.append(_Place(len(given)))
                given.append(a)
        steps.append((step.op, tuple(arguments), step.value.dtype.char))
        places[step.value.number] = _Place(-1 - i)
    wanted = [places[value.number] for value in values]

    def function(*arrays: Any) -> tuple[Any, ...]:
        made: list[Any] = []

        def value(a: Any) -> Any:
            if not isinstance(a, _Place):
                return a
            return arrays[a] if a >= 0 else made[-1 - a]

        for op, arguments, char in steps:
            made.append(op.function(*map(value, arguments)))
            if made[-1].dtype.char != char:
                raise NotOpen  # native code has another idea of the dtype
        return tuple(map(value, wanted))

    typed = tuple((op, tuple((type(a), a) for a in arguments), c) for op, arguments, c in steps)
    return (typed, tuple(wanted)), function


class _Place(int):
    """A value of a program: an argument from 0 on, or the result of a step from -1 down."""
