"""Nodes that are recorded with more care: packed saved values, and the user's line of code."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..errors import RuleError
from ..graph import FREED, Node

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class PackedNode(Node):
    """A node whose saved arrays went through the user's pack hook, and come back by unpack."""

    __slots__ = ("_packed", "_unpack")

    def __init__(
        self,
        hooks: tuple[Callable[[Any], Any], Callable[[Any], Any]],
        pullback: Any,
        edges: tuple[Node, ...],
        saved: tuple[Any, ...],
        shape: Any,
        dtype: Any,
    ) -> None:
        pack, self._unpack = hooks
        packed = []
        for value, source in zip(saved, pullback.sources, strict=True):
            if source is None or not hasattr(value, "dtype"):
                packed.append(value)
            else:
                packed.append(_Packed(_quietly(pack, _as_tensor(value)), tuple(value.shape)))
        super().__init__(pullback, edges, tuple(packed), shape, dtype)

    @property
    def saved(self) -> Any:
        """The saved values, unpacked anew at every reading."""
        if self._packed is FREED:
            return FREED
        return tuple(self._unpacked(v) if isinstance(v, _Packed) else v for v in self._packed)

    @saved.setter
    def saved(self, value: Any) -> None:
        self._packed = value

    def _unpacked(self, packed: _Packed) -> Any:
        from ..tensor import Tensor

        value = _quietly(self._unpack, packed.value)
        if not isinstance(value, Tensor):
            raise TypeError(
                f"the unpack hook of saved_tensors_hooks must return a Tensor, not "
                f"{type(value).__name__}"
            )
        if value.shape != packed.shape:
            raise RuleError(
                f"the unpack hook of saved_tensors_hooks returned a tensor of shape {value.shape} "
                f"for one of shape {packed.shape}"
            )
        return value._array


class _Packed:
    """What a pack hook returned, and the shape of what it was given."""

    __slots__ = ("shape", "value")

    def __init__(self, value: Any, shape: tuple[int, ...]) -> None:
        self.value = value
        self.shape = shape


def _as_tensor(array: Any) -> Any:
    from ..tensor import tensor_type

    return tensor_type(array)(array)


def _quietly(hook: Callable[[Any], Any], value: Any) -> Any:
    """Call a pack or unpack hook without recording what it does."""
    from .modes import no_grad

    with no_grad():
        return hook(value)


def record_with_care(
    hooks: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None,
    anomaly: str | None,
    pullback: Any,
    edges: tuple[Node, ...],
    saved: Any,
    shape: Any,
    dtype: Any,
) -> Node:
    """Record a node under `saved_tensors_hooks` or `detect_anomaly`."""
    if hooks is not None and pullback.keeps_arrays:
        node: Node = PackedNode(hooks, pullback, edges, saved, shape, dtype)
    else:
        node = Node(pullback, edges, saved, shape, dtype)
    if anomaly is not None:
        import traceback

        frames = [f for f in traceback.extract_stack() if not f.filename.startswith(_PACKAGE)]
        node.metadata["traceback"] = "".join(traceback.format_list(frames[-6:]))
    return node
