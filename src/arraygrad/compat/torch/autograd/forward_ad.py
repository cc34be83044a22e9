"""`torch.autograd.forward_ad`: dual tensors. Levels nest here, as they do not in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .... import ops
from ....autograd import forward_ad as native
from ..handles import Tensor, as_torch_raises, name_of, remember, unwrap, wrap

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


class dual_level(native.dual_level):  # noqa: N801  (torch's name)
    """A context manager inside which tensors can have tangents."""

    def __enter__(self) -> int:
        super().__enter__()
        return len(native._open()) - 1


def enter_dual_level() -> int:
    """Open a level."""
    native.enter_dual_level()
    return len(native._open()) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost level."""
    native.exit_dual_level(level=_own(level))


def _own(level: int | None) -> int | None:
    """The number that arraygrad has for a level. Here, they are counted from zero."""
    opened = native._open()
    if level is None:
        return None
    if not 0 <= level < len(opened):
        raise RuntimeError(f"level {level} is not open: there are {len(opened)}")
    return opened[level].number


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent, or None."""

    primal: Tensor
    tangent: Tensor | None


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with a tangent."""
    for name, value in (("tensor", tensor), ("tangent", tangent)):
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} must be a Tensor, not {type(value).__name__}")
        if value.dtype.kind not in "fc":
            raise ValueError(f"{name} must be of floating-point numbers, not {value.dtype}")
    array, direction = unwrap(tensor), unwrap(tangent)
    if tensor.dtype.is_complex and not tangent.dtype.is_complex:
        direction = ops.astype(direction, array.dtype)
    with as_torch_raises():
        made: Tensor = wrap(native.make_dual(array, direction, level=_own(level)))
    made._of = tensor
    made.__dict__["_tangent"] = tangent  # so that `unpack_dual` returns the same object
    remember(tangent)
    return made


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A tensor without its tangent, and the tangent."""
    try:
        primal, tangent = native.unpack_dual(unwrap(tensor), level=_own(level))
    except RuntimeError:
        if level is not None:
            raise
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(wrap(primal), None if tangent is None else name_of(tangent))


if not TYPE_CHECKING:

    def __getattr__(name):
        """The innermost level that is open, as libraries ask for it; -1 outside of all."""
        if name == "_current_level":
            return len(native._open()) - 1
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
