"""Nodes recorded under `saved_tensors_hooks` or `detect_anomaly`. Other nodes are in `nodes`.

They keep packed values in the place of arrays, or the user's lines of code.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import RuleError
from .cpython import OUR_FILES
from .memory import owner_of
from .nodes import FREED, UNLOADED, Node, freed_error
from .versions import version

# A function that packs a saved array, and a function that unpacks it.
Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]


class NodeHooks(tuple[Callable[[Any], Any], Callable[[Any], Any]]):
    """Hooks that record whole nodes instead of packing the saved arrays one by one.

    `record` takes the same arguments as `Node`.
    """

    record: Callable[..., Node]

    def __new__(cls, hooks: Hooks, record: Callable[..., Node]) -> NodeHooks:
        made = super().__new__(cls, hooks)
        made.record = record
        return made


class PackedNode(Node):
    """A node whose saved arrays the user's hooks pack and unpack."""

    __slots__ = ("packed",)
    packed: Any

    def load(self) -> tuple[Any, ...]:
        if self.saved is FREED:
            raise freed_error(self)
        return tuple([unpack(value) for value in self.packed])

    def release(self) -> None:
        self.saved, self.packed = FREED, ()

    def as_saved(self, saved: tuple[Any, ...], restored: Callable[[Any, int], Any]) -> Any:
        """As of any node; but new arrays that the hooks return may have been written."""
        return tuple(
            restored(value, self.number)
            if not isinstance(packed, _Packed) or packed.owner() is owner_of(value)
            else value
            for value, packed in zip(saved, self.packed, strict=True)
        )

    def kept(self) -> Any:
        return [p.owner() if isinstance(p, _Packed) else p for p in self.packed]


class _Packed:
    """The result of a pack hook, how to unpack it, and the shape and memory of the array."""

    __slots__ = ("owner", "shape", "unpack", "value")

    def __init__(self, value: Any, array: Any, unpack: Callable[[Any], Any]) -> None:
        self.value = value
        self.unpack = unpack
        self.shape = tuple(array.shape)
        owner = owner_of(array)
        self.owner: Any = weakref.ref(owner) if isinstance(owner, np.ndarray) else lambda: None


def pack(value: Any, hooks: Hooks) -> Any:
    """A saved array, or a tuple of arrays, packed by the hook."""
    if isinstance(value, tuple):
        return tuple(pack(part, hooks) for part in value)
    if not hasattr(value, "dtype") or getattr(value, "is_private", False):
        return value
    before = version(value)
    packed = hooks[0](value)
    if version(value) != before:
        raise RuntimeError(
            "the pack hook of saved_tensors_hooks wrote to the tensor it was given, which is in "
            "use: work on a clone() of it"
        )
    return _Packed(packed, value, hooks[1])


def unpack(value: Any) -> Any:
    """The array, or tuple of arrays, that `pack` packed; any other value as it is."""
    if isinstance(value, tuple):
        return tuple(map(unpack, value))
    if not isinstance(value, _Packed):
        return value
    array = value.unpack(value.value)
    if tuple(array.shape) != value.shape:
        raise RuleError(
            "the unpack hook of saved_tensors_hooks returned a tensor of shape "
            f"{tuple(array.shape)} for one of shape {value.shape}"
        )
    return array


class Hooked:
    """The saved values of a node, one of which was packed after the node had been recorded."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def load(self) -> tuple[Any, ...]:
        """The values, unpacked."""
        return tuple(map(unpack, self.values))


def pack_later(node: Node, position: int, hooks: Hooks) -> None:
    """Have hooks pack one of the values that a node has saved already."""
    if node.saved is FREED:
        raise freed_error(node)
    holder = node.packed if isinstance(node, PackedNode) else node.saved
    values = list(holder.values if isinstance(holder, Hooked) else holder)
    if isinstance(values[position], _Packed):
        raise RuntimeError("hooks on this saved value have already been set")
    values[position] = pack(values[position], hooks)
    if isinstance(node, PackedNode):
        node.packed = tuple(values)
    elif type(node) is Node:
        node.saved = Hooked(tuple(values))
    else:  # one that unpacks its values itself
        node.saved = tuple(values)


def record_with_care(
    hooks: Hooks | None,
    anomaly: str | None,
    pullback: Any,
    edges: tuple[Node, ...],
    saved: Any,
    shape: Any,
    dtype: Any,
) -> Node:
    """Record a node under `saved_tensors_hooks` or `detect_anomaly`."""
    node: Node
    if isinstance(hooks, NodeHooks):
        node = hooks.record(pullback, edges, saved, shape, dtype)
    elif hooks is not None and pullback.keeps_arrays:
        packed = tuple(
            value if source is None else pack(value, hooks)
            for value, source in zip(saved, pullback.sources, strict=True)
        )
        node = PackedNode(pullback, edges, UNLOADED, shape, dtype)
        node.packed = packed
    else:
        node = Node(pullback, edges, saved, shape, dtype)
    if anomaly is not None:
        remember_lines(node)
    return node


def remember_lines(node: Node) -> None:
    """Keep the user's lines that made a node: anomaly detection shows them."""
    node.metadata["traceback"] = user_lines()


def user_lines() -> str:
    """The innermost lines of the user's code on the stack."""
    import traceback

    return "".join(traceback.format_list(user_frames()[-6:]))


def user_frames() -> list[Any]:
    """The frames on the stack outside of arraygrad, as `traceback` has them, innermost last."""
    import traceback

    return [f for f in traceback.extract_stack() if not f.filename.startswith(OUR_FILES)]
