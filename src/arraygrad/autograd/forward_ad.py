"""Forward mode by hand, in PyTorch's vocabulary: dual arrays inside a `dual_level`.

`func.jvp` is forward mode as a transform of functions.

>>> import arraygrad as ag
>>> from arraygrad.autograd import forward_ad as fwAD
>>> with fwAD.dual_level():
...     x = fwAD.make_dual(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 0.0]))
...     fwAD.unpack_dual(x**3).tangent
tensor([3., 0.])
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

from .. import ops
from ..arrays.dual import Dual, dual_type
from ..arrays.tensor import Tensor, check_differentiable
from ..core.array import Array
from ..core.describing import describe as _describe
from ..core.levels import new_level

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


def __dir__() -> list[str]:
    return __all__


class _Level(NamedTuple):
    """A dual level that was opened.

    `context` gives what entered it. A block keeps that itself, so that it ends at the latest when
    the block goes, and gives None from then on.
    """

    number: int
    context: Callable[[], new_level | None]


_opened: ContextVar[tuple[_Level, ...]] = ContextVar("arraygrad_dual_levels", default=())


def _open() -> tuple[_Level, ...]:
    return tuple([opened for opened in _opened.get() if opened.context() is not None])


class UnpackedDualTensor(NamedTuple):
    """An array and its tangent, or None if the array has no tangent."""

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Open a level of forward mode, and return its number. Levels nest."""
    context = new_level()
    return _enter(context, lambda: context)


def _enter(context: new_level, found: Callable[[], new_level | None]) -> int:
    level = context.__enter__()
    _opened.set((*_open(), _Level(level, found)))
    return level


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost level, which must be `level` if that is given."""
    if not _open():
        raise RuntimeError("no dual level is open: exit_dual_level() has nothing to close")
    *rest, innermost = _open()
    if level is not None and level != innermost.number:
        raise RuntimeError(
            f"level {level} is not the innermost dual level, which is {innermost.number}"
        )
    context = innermost.context()
    assert context is not None
    _opened.set(tuple(rest))
    context.__exit__(None, None, None)


class dual_level:  # noqa: N801  (torch's name)
    """A context manager inside which dual arrays can be made. Levels nest.

    Examples
    --------
    >>> import arraygrad as ag
    >>> from arraygrad.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(ag.tensor(2.0), ag.tensor(1.0))
    ...     forward_ad.unpack_dual(x**3)
    UnpackedDualTensor(primal=tensor(8.), tangent=tensor(12.))
    """

    def __enter__(self) -> int:
        self._context = new_level()
        self._level = _enter(self._context, weakref.ref(self._context))
        return self._level

    def __exit__(self, *exc: object) -> None:
        # Blocks further inside that were interrupted before they could be left end here, too.
        found = [k for k, opened in enumerate(_open()) if opened.context() is self._context]
        if not found:
            raise RuntimeError(f"dual level {self._level} has been closed before its block ended")
        _opened.set(_open()[: found[0]])
        self._context.__exit__()


def _innermost(level: int | None, what: str) -> int:
    levels = [opened.number for opened in _open()]
    if level is None and levels:
        return levels[-1]
    if level not in levels:
        raise RuntimeError(f"{what} needs an open level: use it inside `with dual_level():`")
    return level


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """A dual array of `tensor` and `tangent`, at the given dual level or at the innermost one."""
    number = _innermost(level, "make_dual()")
    for name, value in (("tensor", tensor), ("tangent", tangent)):
        if not hasattr(value, "dtype"):
            raise TypeError(f"{name} must be a Tensor or an array, not {type(value).__name__}")
    check_differentiable(tensor)
    if tuple(tensor.shape) != tuple(tangent.shape):
        raise ValueError(
            f"tangent has shape {tuple(tangent.shape)}, its tensor has {tuple(tensor.shape)}"
        )
    if tensor.dtype != tangent.dtype:
        raise ValueError(f"tangent has dtype {tangent.dtype}, its tensor has {tensor.dtype}")
    for name, value in (("tensor", tensor), ("tangent", tangent)):
        if isinstance(value, Array) and value.level >= number:
            raise ValueError(
                f"{name} belongs to a transform inside dual level {number}: make it dual at a "
                "level further inside"
            )
    return dual_type(number)(tensor, tangent)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The array and the tangent of a dual array of a level.

    Arrays of transforms further inside that are around the dual array stay around both results.
    """
    number = _innermost(level, "unpack_dual()")
    if isinstance(tensor, dual_type(number)):
        return UnpackedDualTensor(tensor.primal, tensor.tangent)
    if not isinstance(tensor, Array) or tensor.level < number:
        return UnpackedDualTensor(tensor, None)
    if isinstance(tensor, Tensor):  # a tensor over a dual array: its graph is left behind here
        return unpack_dual(tensor.array, level=number)
    primal = tensor.over(lambda inner: unpack_dual(inner, level=number).primal)
    if not _carries(tensor, number):
        return UnpackedDualTensor(primal, None)
    return UnpackedDualTensor(primal, tensor.over(lambda inner: _tangent(inner, number)))


def _carries(value: Any, number: int) -> bool:
    """Whether an array has a tangent of a level: its own, or that of an array inside it."""
    if isinstance(value, dual_type(number)):
        return True
    if isinstance(value, Dual) and _carries(value.tangent, number):
        return True
    return isinstance(value, Array) and value.level > number and _carries(value._array, number)


def _tangent(value: Any, number: int) -> Any:
    found = unpack_dual(value, level=number).tangent
    return ops.zeros_like(value) if found is None else found


_describe(
    (enter_dual_level, exit_dual_level, make_dual, unpack_dual),
    {
        "level": "int | The number of an open level; by default, the innermost.",
        "tangent": "array | The direction, of the shape of `tensor`.",
        "tensor": "array | The value.",
    },
    {"Any": "array | The dual array."},
    dict.fromkeys(
        ("enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"),
        """
>>> import arraygrad as ag
>>> from arraygrad.autograd import forward_ad
>>> level = forward_ad.enter_dual_level()
>>> x = forward_ad.make_dual(ag.tensor(2.0), ag.tensor(1.0))
>>> forward_ad.unpack_dual(x**3).tangent
tensor(12.)
>>> forward_ad.exit_dual_level(level=level)
""",
    ),
)
