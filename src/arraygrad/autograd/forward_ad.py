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

from contextvars import ContextVar
from typing import Any, NamedTuple

from .. import ops
from ..arrays.dual import Dual, dual_type
from ..arrays.tensor import Tensor, check_differentiable
from ..core.array import Array
from ..core.describing import describe as _describe
from ..core.levels import new_level

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


# The levels that are open, innermost last.
_opened: ContextVar[tuple[new_level, ...]] = ContextVar("arraygrad_dual_levels", default=())
open_levels = _opened.get


class UnpackedDualTensor(NamedTuple):
    """An array and its tangent, or None if the array has no tangent."""

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Open a level of forward mode, and return its number. Levels nest."""
    opened = new_level()
    opened.__enter__()
    _opened.set((*open_levels(), opened))
    return opened.level


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost level, which must be `level` if that is given."""
    if not open_levels():
        raise RuntimeError("no dual level is open: exit_dual_level() has nothing to close")
    *rest, innermost = open_levels()
    if level is not None and level != innermost.level:
        raise RuntimeError(
            f"level {level} is not the innermost dual level, which is {innermost.level}"
        )
    _opened.set(tuple(rest))
    innermost.__exit__()


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
        self._level = enter_dual_level()
        return self._level

    def __exit__(self, *exc: object) -> None:
        if self._level not in (opened.level for opened in open_levels()):
            raise RuntimeError(f"dual level {self._level} has been closed before its block ended")
        while open_levels()[-1].level != self._level:
            exit_dual_level()  # a block further inside, which an interrupt kept from being left
        exit_dual_level()


def _innermost(level: int | None, what: str) -> int:
    levels = [opened.level for opened in open_levels()]
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
