"""`torch.autograd.forward_ad`: dual tensors. Levels nest here, as they do not in PyTorch."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, NamedTuple

from .... import ops
from ....arrays.creation import asarray
from ....arrays.dual import dual_type
from ....autograd import forward_ad as native
from ..handles import Tensor, as_torch_raises, name_of, remember, unwrap, wrap

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]  # fmt: skip


class dual_level(native.dual_level):  # noqa: N801  (torch's name)
    """A context manager inside which tensors can have tangents."""

    def __enter__(self) -> int:
        super().__enter__()
        return len(native.open_levels()) - 1

    def __exit__(self, *exc: object) -> None:
        _end(self._level)
        super().__exit__(*exc)


# The tensors that `make_dual` has made at each open level: they lose their tangents with it.
_duals: dict[int, list[weakref.ref[Tensor]]] = {}


def _end(level: int) -> None:
    for reference in _duals.pop(level, ()):
        tensor = reference()
        if tensor is not None and isinstance(tensor._t, dual_type(level)):
            tensor._t = asarray(tensor._t.primal)


def enter_dual_level() -> int:
    """Open a level."""
    native.enter_dual_level()
    return len(native.open_levels()) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost level."""
    if native.open_levels() and _own(level) in (None, native.open_levels()[-1].level):
        _end(native.open_levels()[-1].level)
    native.exit_dual_level(level=_own(level))


def _own(level: int | None) -> int | None:
    """The number that arraygrad has for a level. Here, they are counted from zero."""
    opened = native.open_levels()
    if level is None:
        return None
    if not 0 <= level < len(opened):
        raise RuntimeError(f"level {level} is not open: there are {len(opened)}")
    return opened[level].level


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
            what = "primal" if name == "tensor" else name
            raise ValueError(
                f"Expected {what} to be floating point or complex, but got: {value.dtype}"
            )
    array, direction = unwrap(tensor), unwrap(tangent)
    if tensor.dtype.is_complex and not tangent.dtype.is_complex:
        direction = ops.astype(direction, array.dtype)
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor: {tuple(tangent.shape)} and {tuple(tensor.shape)}"
        )
    opened = native.open_levels()
    number = opened[-1].level if level is None and opened else _own(level)
    for value in (array, direction):
        if number is not None and isinstance(value, dual_type(number)):
            raise RuntimeError("the tensor or its tangent has a forward gradient at the same level")
    with as_torch_raises():
        made: Tensor = wrap(native.make_dual(array, direction, level=number))
    if number is not None:
        _duals.setdefault(number, []).append(weakref.ref(made))
    made._of = tensor
    made.__dict__["_pair"] = tensor, tangent  # `unpack_dual` returns the same object
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
            return len(native.open_levels()) - 1
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
