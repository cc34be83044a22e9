"""Nodes of the graph, as PyTorch shows them: `grad_fn`, `next_functions`, hooks, saved values.

A node of arraygrad refers to arrays and calls hooks with its own tensors. Here is a name for such a
node that does the same with PyTorch's tensors.
"""

from __future__ import annotations

import functools
import weakref
from abc import ABCMeta
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....core import nodes as native
from ....core.array import Array
from ....core.nodes import GradientEdge as NativeEdge
from ....core.nodes import Leaf, RemovableHandle
from ....core.saved import pack_later
from ....errors import GraphFreedError
from ..handles import Tensor, name_of, unwrap, wrap
from ..node_names import node_name
from ..wording import reword


class Node(metaclass=ABCMeta):  # noqa: B024  (all kinds of nodes are registered)
    """An application of a function, through which gradients go."""

    if TYPE_CHECKING:  # what all nodes have

        def name(self) -> str: ...
        @property
        def next_functions(self) -> tuple[tuple[Node | None, int], ...]: ...
        @property
        def metadata(self) -> dict[Any, Any]: ...
        def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle: ...
        def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle: ...


@Node.register
class Shown:
    """A node of arraygrad, as PyTorch shows it."""

    __slots__ = ("__weakref__", "_node")
    _node: Any

    def name(self) -> str:
        """The name of the function, followed by `Backward0`."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes that the gradients of the inputs go to."""
        return shown_edges(self._node.next_functions)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for notes."""
        found: dict[Any, Any] = self._node.metadata
        if "traceback" in found:
            found.setdefault("traceback_", found["traceback"])
        return found

    def _sequence_nr(self) -> int:
        return int(self._node.number)

    @property
    def _input_metadata(self) -> list[Any]:
        from types import SimpleNamespace

        from ..dtypes import Size, of_numpy

        many = self._node.pullback is not None and self._node.pullback.multiple
        shapes = self._node.shape if many else [self._node.shape]
        types = self._node.dtype if many else [self._node.dtype]
        return [
            SimpleNamespace(shape=Size(s), dtype=of_numpy(d), is_nested_tensor=False)
            for s, d in zip(shapes, types, strict=True)
        ]

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node has run."""
        return self._node.register_hook(on_tensors(fn))  # type: ignore[no-any-return]

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs."""
        return self._node.register_prehook(on_tensors(fn))  # type: ignore[no-any-return]

    def __call__(self, *grads: Any) -> Any:
        """The gradients of the inputs, from those of the outputs."""
        from ....autograd import grad

        pullback = self._node.pullback
        count = len(self._node.shape) if pullback is not None and pullback.multiple else 1
        if len(grads) != count:
            raise TypeError(f"{self.name()} expected {count} arguments, got {len(grads)} instead")
        edges = list(self._node.edges)
        outputs = [NativeEdge(self._node, i) for i in range(len(grads))]
        found = grad(
            outputs,
            [native.public_edge(e) for e in edges],
            [unwrap(g) for g in grads],
            retain_graph=True,
            allow_unused=True,
        )
        return wrap(found[0] if len(found) == 1 else found)

    def __getattr__(self, name: str) -> Any:
        if name == "variable" and isinstance(self._node, Leaf):
            return name_of(self._node.variable)
        if name.startswith(("_saved_", "_raw_saved_")):
            return _saved(self._node, name)
        raise AttributeError(f"{self.name()} has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<{self.name()} object>"


# The names of nodes that are in use, by the number of the node.
_shown: weakref.WeakValueDictionary[int, Shown] = weakref.WeakValueDictionary()


@functools.cache
def kind_of_node(name: str) -> type[Shown]:
    """The type of the nodes of a name."""
    return type(name, (Shown,), {"__slots__": ()})


def shown(node: Any) -> Any:
    """A node as PyTorch shows it: always the same object, while somebody has it."""
    if node is None or isinstance(node, Node):
        return node
    key = id(node)
    found = _shown.get(key)
    if found is None or found._node is not node:
        found = object.__new__(kind_of_node(node_name(node)))
        found._node = node
        _shown[key] = found
    return found


def shown_edges(edges: Any) -> tuple[tuple[Any, int], ...]:
    """The nodes that a node leads to."""
    return tuple((shown(n), i) for n, i in edges)


def own_node(value: Any) -> Any:
    """The node of arraygrad behind one that was shown."""
    return getattr(value, "_node", value)


def on_tensors(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A hook that takes and returns PyTorch's tensors, for arraygrad."""
    if not callable(fn):
        raise TypeError(f"a hook must be callable, not {type(fn).__name__}")

    @functools.wraps(fn, updated=())
    def hook(*args: Any) -> Any:
        return unwrap(fn(*map(wrap, args)))

    if not hasattr(fn, "__name__"):
        hook.__name__ = type(fn).__name__
    return hook


def _saved(node: Any, name: str) -> Any:
    """A value that a node saved, by the name that PyTorch gives it."""
    raw = name.startswith("_raw_saved_")
    wanted = name.removeprefix("_raw_saved_").removeprefix("_saved_")
    pullback = node.pullback
    try:
        values = node.load() if not raw else ()
    except RuntimeError as error:
        reword(error)
        raise
    names = [_saved_name(pullback, kept) for kept in pullback.kept]
    if wanted not in names:
        raise AttributeError(f"{node_name(node)} has not saved {wanted!r}, but {names}")
    position = names.index(wanted)
    if raw:
        return SavedTensor(node, position)
    value = values[position]
    if not isinstance(value, Array) and not hasattr(value, "dtype"):
        return wrap(value)
    source = pullback.sources[position] if position < len(pullback.sources) else None
    places = dict(zip(pullback.positions, node.edges, strict=True))
    if source == -1:
        return wrap(_tensor(value, node))
    edge = places.get(source)
    if isinstance(edge, Leaf) and edge.variable._array is value:
        return name_of(edge.variable)
    return wrap(_tensor(value, edge))


def _tensor(array: Any, node: Any) -> Any:
    from ....arrays.tensor import tensor_type

    return tensor_type(array)(array, node)


def _saved_name(pullback: Any, kept: str) -> str:
    """PyTorch's name for a saved value: `self`, `other` or `result`."""
    inputs = (
        [pullback.input_name(i) for i in range(pullback.arity)]
        if hasattr(pullback, "input_name")
        else []
    )
    if kept == "out":
        return "result"
    if kept in ("x", inputs[0] if inputs else "x"):
        return "self"
    if kept == "y":
        return "other"
    return kept


class SavedTensor:
    """A value that a node saved, before it is unpacked."""

    def __init__(self, node: Any = None, position: int = 0) -> None:
        if node is None:
            raise RuntimeError(
                "Trying to create a SavedTensor object from Python is forbidden: the graph makes it"
            )
        self._node, self._position = node, position

    def register_hooks(self, pack_hook: Any = None, unpack_hook: Any = None) -> None:
        """Store `pack_hook` of the value, and get it back by `unpack_hook`."""
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("incompatible function arguments: register_hooks takes two functions")
        saved = self._node.saved
        if type(saved) is tuple and saved[self._position] is None:
            raise RuntimeError("a hook on a saved value that is None is forbidden")

        def pack(array: Any) -> Any:
            return packed(pack_hook, wrap(_tensor(array, None)))

        def unpack(kept: Any) -> Any:
            return unpacked(unpack_hook(kept))._array

        try:
            pack_later(self._node, self._position, (pack, unpack))
        except GraphFreedError as error:
            raise RuntimeError(
                f"hooks on a saved value after it has been freed: {error}"
            ) from error


def packed(hook: Callable[[Any], Any], value: Tensor) -> Any:
    """What a pack hook makes of a tensor, which it must not write."""
    before = value._version
    found = hook(value)
    if value._version != before:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Work on a clone() of it"
        )
    return found


def unpacked(value: Any) -> Any:
    """What an unpack hook returned, as an array; raise if it is no tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
            f"{type(value).__name__}"
        )
    return value._t


def edge_of(value: Any) -> Any:
    """A gradient edge of PyTorch as one of arraygrad; anything else as its array."""
    if isinstance(value, GradientEdge):
        return NativeEdge(own_node(value.node), value.output_nr)
    return unwrap(value) if isinstance(value, Tensor) else value


class GradientEdge(NativeEdge):
    """A place in the graph: an output of a node, where a gradient arrives."""

    __slots__ = ()
