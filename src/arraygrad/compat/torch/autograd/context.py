"""The context of a call of a `Function`, with PyTorch's tensors in it."""

from __future__ import annotations

import weakref
from typing import Any

from ....autograd.context import FunctionCtx as NativeCtx
from ....core.nodes import Leaf, RemovableHandle
from ..handles import Tensor, name_of, unwrap, wrap
from ..wording import reword
from .nodes import Node, on_tensors, shown_edges


class FunctionCtx(NativeCtx):
    """The `ctx` that `forward` and `backward` share, which is also the node of the call."""

    # Set to False, it makes the gradients of results that are not differentiable None.
    _materialize_non_diff_grads = True
    _reads_forward = False  # whether `save_for_forward` was called

    def save_for_backward(self, *tensors: Any) -> None:
        super().save_for_backward(*map(unwrap, tensors))
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
        return tuple(a if a is None else _known(a, r) for a, r in zip(found, own, strict=True))

    @property
    def next_functions(self) -> Any:
        return shown_edges(NativeCtx.next_functions.fget(self))  # type: ignore[attr-defined]

    def register_hook(self, hook: Any) -> RemovableHandle:
        return super().register_hook(on_tensors(hook))

    def register_prehook(self, hook: Any) -> RemovableHandle:
        return super().register_prehook(on_tensors(hook))

    def name(self) -> str:
        return type(self).__name__

    def __call__(self, *grads: Any) -> Any:
        pullback: Any = self.pullback
        function = pullback.function.user
        return function.backward(self, *grads)


Node.register(FunctionCtx)


def _known(array: Any, reference: Any) -> Any:
    """A saved tensor: the object that was saved, if it lives and has not changed since."""
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
