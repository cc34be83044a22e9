"""All code that depends on CPython: reference counts, bytecode, frames.

The module tests each of them when it is imported. If a test fails, as on another Python, the
feature is switched off, and its callers take a slower way that works everywhere. The environment
variable ``ARRAYGRAD_PORTABLE`` switches all features off.
"""

from __future__ import annotations

import dis
import functools
import os
import sys
import types
from collections.abc import Callable
from typing import Any

PORTABLE = bool(os.environ.get("ARRAYGRAD_PORTABLE"))

# --- reference counts: may we write to an array, because nobody else refers to it? --------------

getrefcount: Callable[[Any], int] = getattr(sys, "getrefcount", lambda _: sys.maxsize)


def _alone() -> int:
    thing = object()
    return getrefcount(thing)


def _popped() -> int:
    held = [object()]
    thing = held.pop()
    return getrefcount(thing)


def _counts_references() -> bool:
    """Whether the count shows that an object has only one reference."""
    first = object()
    alone, held = getrefcount(first), [first]
    shared = getrefcount(first)
    held.pop()
    return not PORTABLE and alone == _alone() and shared == alone + 1 == getrefcount(first) + 1


COUNTS_REFERENCES = _counts_references()
# `getrefcount` of an object that only one local variable refers to. Where Python does not count
# references, a number below every result of `getrefcount`.
ALONE = _alone() if COUNTS_REFERENCES else -1
# `getrefcount` of an object that was popped from the only list that referred to it.
POPPED = _popped() if COUNTS_REFERENCES else -1


# --- bytecode: how is a function written? --------------------------------------------------------


def _code(function: Callable[..., Any]) -> bytes:
    return b"" if PORTABLE else function.__code__.co_code


_IDENTITY = _code(lambda x: x)
_KNOWS_IDENTITY = bool(_IDENTITY) and _IDENTITY not in (_code(lambda x: -x), _code(lambda x: 1))


def is_identity(function: Callable[..., Any]) -> bool:
    """Whether a function is known to be written as ``lambda x: x``, with any name for ``x``."""
    code = function.__code__
    return _KNOWS_IDENTITY and code.co_argcount == 1 and code.co_code == _IDENTITY


@functools.lru_cache(256)
def assigned_from_closure(code: types.CodeType) -> frozenset[str]:
    """The variables of a closure that a function is known to assign to, or one inside of it."""
    if PORTABLE:
        return frozenset()
    names = {i.argval for i in dis.get_instructions(code) if i.opname in _ASSIGNS}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= assigned_from_closure(constant)
    return frozenset(names & set(code.co_freevars))


_ASSIGNS = ("STORE_DEREF", "DELETE_DEREF")


# --- frames: does the caller store a number in an element? --------------------------------------


def _is_stored(depth: int) -> bool:
    frame = sys._getframe(depth + 1)
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == "STORE_SUBSCR"


class _Number:
    """Notes for each conversion to float whether an assignment to an element asked for it."""

    def __init__(self) -> None:
        self.stored: list[bool] = []

    def __float__(self) -> float:
        self.stored.append(_is_stored(1))
        return 0.0


def _knows_stores() -> bool:
    if PORTABLE:
        return False
    import array

    number, place = _Number(), array.array("d", [0.0])
    try:
        place[0] = number  # type: ignore[call-overload]
        float(number)
    except Exception:  # another Python may have neither frames nor bytecode
        return False
    return number.stored == [True, False]


_KNOWS_STORES = _knows_stores()


def is_stored(depth: int) -> bool:
    """Whether the frame `depth` calls up runs ``a[i] = x``; False if not known."""
    return _KNOWS_STORES and _is_stored(depth + 1)


def importing_module() -> str:
    """The name of arraygrad's module that is being imported (the innermost one); "" without."""
    frame = None if PORTABLE or not hasattr(sys, "_getframe") else sys._getframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if frame.f_code.co_name == "<module>" and name.startswith(_PACKAGE):
            return name
        frame = frame.f_back
    return ""


_PACKAGE = __name__.partition(".")[0] + "."


def running() -> list[tuple[str, str, Any, list[Any]]]:
    """The functions that run, from the caller outwards: modules, names, ``self``, and closures."""
    found: list[tuple[str, str, Any, list[Any]]] = []
    frame = None if PORTABLE else getattr(sys, "_getframe", lambda _: None)(1)
    while frame is not None:
        own = frame.f_globals.get("__name__", "")
        names = frame.f_locals
        closure = [names[n] for n in frame.f_code.co_freevars if n in names]
        found.append((str(own), frame.f_code.co_name, names.get("self"), closure))
        frame = frame.f_back
    return found


# How the names of arraygrad's files begin, and the names of texts by `arrays.recording`.
OUR_FILES = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep, "<recording of "


class _Libraries(dict[str, bool]):
    """Whether a file belongs to arraygrad, to Python or to an installed package, by its name."""

    def __missing__(self, filename: str) -> bool:
        import sysconfig

        paths = sysconfig.get_paths()
        folders = [paths[n] + os.sep for n in ("stdlib", "platstdlib", "purelib", "platlib")]
        is_ours = filename.startswith((*OUR_FILES, "<frozen ", *folders))
        found = self[filename] = is_ours or "site-packages" in filename
        return found


is_library_file = _Libraries().__getitem__


def user_frame(depth: int) -> Any:
    """The innermost frame of the user's code, `depth` calls up or more; None if not known."""
    frame = None if _getframe is None else _getframe(depth + 1)
    while frame is not None and is_library_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


_getframe = None if PORTABLE else getattr(sys, "_getframe", None)


def lasting(error: Exception) -> Exception:
    """The error of a conversion to a number, to be raised at once; the user gets to see it.

    For ``a[i] = x`` NumPy calls `float(x)`. If the call fails, NumPy raises an error of its own.
    A trace of the user's frame puts ours back. If another trace runs, as in a debugger, NumPy's
    error stays, and ours is its cause.
    """
    frame, other = user_frame(1), sys.gettrace()
    # NumPy may ask in another way after an error: then the later error is meant.
    if frame is None or (other is not None and getattr(other, "__module__", None) != __name__):
        return error

    handled = sys.exc_info()[1]

    def put_back(_: Any, event: str, arg: Any) -> None:
        if event == "call":  # of a finaliser, perhaps: the collector may run at any time
            return
        sys.settrace(None)  # whatever happens next in the user's frame
        frame.f_trace = None
        # The context of an error that Python code raised for ours would be ours.
        if event == "exception" and arg[1] is not error and arg[1].__context__ is handled:
            raise error.with_traceback(arg[2]) from None

    frame.f_trace = put_back
    sys.settrace(put_back)
    return error
