"""Views that PyTorch does not let be written: what they are, and the errors.

A view remembers how it was made only if that matters: under `no_grad` or `inference_mode`, as one
of several results of a function, or by a user's `Function`.
"""

from __future__ import annotations

import weakref
from typing import Any

from ...arrays.dual import Dual
from ...arrays.tensor import Tensor as Native
from ...core.modes import current_modes
from ...core.nodes import Leaf, recorder
from ...errors import OuterWriteError
from .handles import Tensor, is_recorded

_MODES = {"no_grad": "no_grad mode", "inference": "inference mode"}
_WHY = {
    "several": "This view is the output of a function that returns multiple views. Such functions "
    "do not allow the output views to be modified inplace: use the operation that makes a new "
    "tensor",
    "function": "This view was created inside a custom Function (or because an input was returned "
    "as-is), whose backward knows nothing of the write: return a clone() from the Function",
    "no_grad": "It is not clear whether the write should be recorded: take the view and write to "
    "it either both inside the no_grad block or both outside",
    "inference": "Take the view and write to it either both inside the inference_mode block or "
    "both outside",
}


def note_view(made: Tensor, source: Tensor, how: str | None = None) -> None:
    """Remember that one tensor is a view of another, and how it was made if that matters."""
    made._of = source
    taken = source._taken
    if taken is None:
        source._taken = [weakref.ref(made)]
    else:
        if len(taken) >= 64 and not len(taken) & (len(taken) - 1):  # of many, most are gone
            taken[:] = [reference for reference in taken if reference() is not None]
        taken.append(weakref.ref(made))
    how = source._how or how_now(how)
    if how is not None:
        made._how = how


def how_now(how: str | None) -> str | None:
    """How a view is made here: by the mode, or else as it says."""
    if recorder() is None:
        return "inference" if current_modes().inference else "no_grad"
    return how


def write_through(tensor: Tensor) -> None:
    """Write the parts of a dual tensor to the tensors that `make_dual` made it of."""
    pair, array = tensor.__dict__.get("_pair"), tensor._t
    if pair is not None and isinstance(array, Dual):
        for target, part in zip(pair, (array.primal, array.tangent), strict=True):
            if isinstance(target._t, Native) and part is not target._t:
                target._t.copy_(part)


def check_written(tensor: Tensor, *values: Any) -> None:
    """Raise if a write to a view could not be differentiated as PyTorch has it."""
    how = tensor._how
    if how is None or recorder() is None:
        return
    base = tensor
    while getattr(base, "_of", None) is not None:
        base = base._of
    if not any(map(is_recorded, (tensor._t, base._t, *values))):
        return
    if how in _MODES:
        source, block = tensor._of, f"{how}{'_mode' if how == 'inference' else ''} block"
        if source.is_leaf and source.requires_grad:
            text = (
                f"a view of a view that was created in {_MODES[how]} is being modified inplace, "
                f"and only one of both was inside the {block}. "
            )
        else:
            text = f"A view was created in {_MODES[how]} and is being modified inplace. "
    elif tensor.grad_fn is not None:
        text = (
            f"Output {tensor.output_nr} of {tensor.grad_fn.name()} is a view and is being modified "
            "inplace. "
        )
    else:
        text = "A view is being modified inplace. "
    raise RuntimeError(text + _WHY[how])


def may_be_changed(array: Native) -> bool:
    """Whether a tensor may be given other elements, or another shape."""
    if array.is_inference and not current_modes().inference:
        return False
    return recorder() is None or not (array.is_leaf and array.requires_grad)


def not_written(tensor: Tensor, name: str, error: Exception) -> RuntimeError:
    """The error for a write that is not possible, with PyTorch's words for the reason."""
    array, words = tensor._t, ""
    if isinstance(error, OuterWriteError):
        words = (
            f"vmap: aten::{name}(self, *extra_args) is not possible because there exists a Tensor "
            "`other` in extra_args that has more elements than `self`, which the inplace "
            "operation cannot hold. "
        )
    if isinstance(array, Native):
        base = array if array._view is None else array._view.base
        if array.is_inference and not current_modes().inference:
            words = "Inplace update to inference tensor outside InferenceMode is not allowed. "
        elif isinstance(base._node, Leaf) and recorder() is not None:
            what = "a leaf" if base is array else "a view of a leaf"
            words = f"{what} Variable that requires grad is being used in an in-place operation. "
    return RuntimeError(f"{words}{name}(): {error}")
