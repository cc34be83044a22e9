"""The context of a call of a `Function`, with PyTorch's tensors in it."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from ....autograd.context import FunctionCtx as NativeCtx
from ....core.nodes import FREED, Leaf, RemovableHandle, freed_error
from ..handles import Tensor, name_of, unwrap, wrap
from ..wording import reword
from .nodes import Node, SavedTensor, on_tensors, shown_edges


class FunctionCtx(NativeCtx):
    """The `ctx` that `forward` and `backward` share, which is also the node of the call."""

    # Set to False, it makes the gradients of results that are not differentiable None.
    _materialize_non_diff_grads = True
    _reads_forward = False  # whether `save_for_forward` was called

    def save_for_backward(self, *tensors: Any) -> None:
        super().save_for_backward(*[t._t if type(t) is Tensor else unwrap(t) for t in tensors])
        self._own = [weakref.ref(t) if isinstance(t, Tensor) else None for t in tensors]

    def save_for_forward(self, *tensors: Any) -> None:
        super().save_for_forward(*map(unwrap, tensors))
        self._reads_forward = True

    def mark_dirty(self, *tensors: Any) -> None:
        super().mark_dirty(*map(unwrap, tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        super().mark_non_differentiable(*map(unwrap, tensors))

    def in_forward_mode(self) -> NativeCtx:
        """The context for `jvp`, which reads only what was saved by `save_for_forward`."""
        self._pending = self._for_forward or () if self._reads_forward else ()
        self.saved = self._places = ()
        self._own = []
        return self

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        try:
            found = super().saved_tensors
        except RuntimeError as error:
            reword(error)
            raise
        own = self.__dict__.get("_own", ())
        if len(own) != len(found):
            return tuple(map(wrap, found))
        return tuple(map(_known, found, own))

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        if self.saved is FREED:
            error = freed_error(self)
            reword(error)
            raise error
        return tuple(SavedTensor(self, i) for i in range(len(self.saved)))

    @property
    def to_save(self) -> tuple[Any, ...]:
        """What is to be saved, while `forward` runs."""
        return tuple(map(wrap, self._pending))

    @property
    def dirty_tensors(self) -> tuple[Any, ...]:
        """What was marked as changed in place, while `forward` runs."""
        return tuple(map(wrap, self._dirty))

    @property
    def next_functions(self) -> Any:
        return shown_edges(NativeCtx.next_functions.fget(self))  # type: ignore[attr-defined]

    def register_hook(self, hook: Any) -> RemovableHandle:
        return super().register_hook(on_tensors(hook))

    def register_prehook(self, hook: Any) -> RemovableHandle:
        return super().register_prehook(on_tensors(hook))

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn(
            "saved_variables is deprecated: use saved_tensors", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def name(self) -> str:
        return type(self).__name__

    def _sequence_nr(self) -> int:
        return int(self.number)

    def __call__(self, *grads: Any) -> Any:
        pullback: Any = self.pullback
        function = pullback.function.user
        return function.backward(self, *grads)


Node.register(FunctionCtx)


def _known(array: Any, reference: Any) -> Any:
    """A saved tensor: the object that was saved, if it lives and has not changed since; or None."""
    if array is None:
        return None
    saved = None if reference is None else reference()
    if saved is not None:
        mine = saved._t
        same = getattr(mine, "_array", None) is getattr(array, "_array", mine)
        if same and getattr(mine, "_node", None) is getattr(array, "_node", None):
            return saved
    node = getattr(array, "_node", None)
    if isinstance(node, Leaf) and node.variable._array is array._array:
        return name_of(node.variable)
    return wrap(array)
