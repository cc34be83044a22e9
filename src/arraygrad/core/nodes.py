"""The graph: nodes, the edges between them, and hooks on nodes. `sweep` runs the nodes.

To record an op is to make a node: a node stands for one application of an op. A node refers to the
nodes of its inputs (`edges`) and to the values that its derivative rules need (`saved`), and knows
the shape and dtype of its output. It refers to no tensor, so a graph has no reference cycle and is
freed with its last output.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import GraphFreedError

if TYPE_CHECKING:
    from ..arrays.tensor import Tensor
    from ..ops.define.rules import Pullback

new = object.__new__
next_number = itertools.count(1).__next__

# The number of the last write to any array; see `versions`.
LAST_WRITE = [0]


class Freed:
    """The type of `FREED`, which replaces saved values that a sweep has released."""

    __slots__ = ()


FREED = Freed()
# Replaces saved values that only the node's `load` can return.
UNLOADED = None


class Extras:
    """Attributes that few nodes have: hooks, a tensor that retains its gradient, metadata."""

    __slots__ = ("hooks", "metadata", "post", "pre", "retained")

    def __init__(self) -> None:
        self.hooks: dict[int, Callable[[Any], Any]] = {}
        self.pre: dict[int, Callable[[Any], Any]] = {}
        self.post: dict[int, Callable[[Any, Any], Any]] = {}
        self.metadata: dict[Hashable, Any] = {}
        self.retained: weakref.ref[Tensor] | None = None


class RemovableHandle:
    """The result of every `register_…` function: `remove()` removes the hook.

    As a context manager, it removes the hook at the end of the block.
    """

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks: dict[int, Any], hook: Callable[..., Any]) -> None:
        if not callable(hook):
            raise TypeError(f"hook must be callable, not {type(hook).__name__}")
        self._hooks = hooks
        self._key = next_number()
        hooks[self._key] = hook

    def remove(self) -> None:
        """Remove the hook. A second call does nothing."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Node:
    """One application of an op, as `Tensor.grad_fn` returns it.

    Nodes are numbered in order of creation; an edge always leads to a smaller number. For an op
    with several outputs, `shape` and `dtype` are lists, and `outputs` holds its `Output` nodes.
    `saved` is a tuple, or `FREED`, or anything else if only `load` can return the values.

    Parameters
    ----------
    pullback, edges, saved, shape, dtype
        Ops make nodes; users do not.

    Examples
    --------
    >>> import arraygrad as ag
    >>> y = ag.sin(ag.tensor([1.0, 2.0], requires_grad=True))
    >>> y.grad_fn.name(), y.grad_fn.shape
    ('SinBackward', (2,))
    """

    __slots__ = (
        "__weakref__", "dtype", "edges", "extras", "number", "outputs", "pullback", "saved",
        "shape",
    )  # fmt: skip

    def __init__(
        self,
        pullback: Pullback | None,
        edges: tuple[Node, ...],
        saved: Any,
        shape: tuple[int, ...],
        dtype: Any,
    ) -> None:
        self.pullback = pullback
        self.edges = edges
        self.saved = saved
        self.shape = shape
        self.dtype = dtype
        self.number = next_number()
        self.extras: Extras | None = None
        self.outputs: list[weakref.ref[Output]]

    def name(self) -> str:
        """The node's name: the op's name in the style of PyTorch.

        >>> import arraygrad as ag
        >>> ag.sin(ag.tensor(1.0, requires_grad=True)).grad_fn.name()
        'SinBackward'
        """
        assert self.pullback is not None
        return "".join(w.capitalize() for w in self.pullback.name.split("_")) + "Backward"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes of the op's inputs, each with the number of that node's output."""
        assert self.pullback is not None
        if len(self.edges) != len(self.pullback.positions):  # of a node that only raises
            return tuple(map(public_edge, self.edges))
        found: list[tuple[Node | None, int]] = [(None, 0)] * self.pullback.arity
        for position, edge in zip(self.pullback.positions, self.edges, strict=True):
            found[position] = public_edge(edge)
        return tuple(found)

    @property
    def metadata(self) -> dict[Hashable, Any]:
        """A dictionary for notes about the node; anomaly detection keeps the user's line here."""
        return self.extra().metadata

    @property
    def is_hooked(self) -> bool:
        """Whether it has hooks, which may change its cotangent anywhere."""
        extras = self.extras
        return extras is not None and bool(extras.hooks or extras.pre or extras.post)

    def extra(self) -> Extras:
        """The node's `Extras`, made when first needed."""
        if self.extras is None:
            self.extras = Extras()
        return self.extras

    def register_hook(self, hook: Callable[[Any, Any], Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run.

        If the hook returns a value other than None, the value replaces `grad_inputs`.
        """
        return RemovableHandle(self.extra().post, hook)

    def register_prehook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs; its result replaces `grad_outputs`."""
        return RemovableHandle(self.extra().pre, hook)

    def load(self) -> tuple[Any, ...]:
        """The saved values. A sweep calls it once for each run of the node's rules."""
        if self.saved is FREED:
            raise freed_error(self)
        if type(self.saved) is tuple:
            return self.saved
        return self.saved.load()  # type: ignore[no-any-return]  # hooks have packed some of them

    def as_saved(self, saved: tuple[Any, ...], restored: Callable[[Any, int], Any]) -> Any:
        """The loaded values, with those that have been written since as they were.

        `restored(value, number)` is a value as it was at the time of a number.
        """
        return tuple([restored(value, self.number) for value in saved])

    def kept(self) -> Any:
        """All that the node keeps: arrays that must not change unnoticed are among it."""
        return self.saved

    def release(self) -> None:
        """Drop the saved arrays. A node that saved no arrays stays usable."""
        if self.pullback is not None and self.pullback.keeps_arrays:
            self.saved = FREED

    def __repr__(self) -> str:
        return f"<{self.name()}>"


class Leaf(Node):
    """The node of a leaf tensor: a path through the graph ends here, and the gradient arrives."""

    __slots__ = ("_make", "_tensor", "accumulated", "array")

    def __init__(self, tensor: Tensor, make: Callable[[Any, Node], Tensor]) -> None:
        self.array = tensor.array
        self._make = make  # makes a tensor from an array and a node
        self.accumulated: dict[int, Callable[[Any], Any]] = {}  # hooks
        super().__init__(None, (), None, self.array.shape, self.array.dtype)
        self._tensor = weakref.ref(tensor)

    def name(self) -> str:
        """PyTorch's name for the node of a leaf."""
        return "AccumulateGrad"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Empty: a leaf has no inputs."""
        return ()

    @property
    def tensor(self) -> Tensor | None:
        """The leaf tensor, while it lives."""
        return self._tensor()

    @property
    def has_posthooks(self) -> bool:
        """Whether hooks run after the leaf's gradient has arrived."""
        return self.extras is not None and bool(self.extras.post)

    @property
    def variable(self) -> Tensor:
        """The leaf tensor; if it no longer lives, a new one with the same array and node."""
        tensor = self._tensor()
        if tensor is None:
            tensor = self._make(self.array, self)
            tensor._leaf = self
            self._tensor = weakref.ref(tensor)
        return tensor


class Output(Node):
    """One output of an op with several outputs. Its cotangent goes on to the op's own node."""

    __slots__ = ("index",)

    def __init__(self, node: Node, index: int) -> None:
        self.pullback = node.pullback
        self.edges, self.saved = (node,), ()
        self.shape, self.dtype = node.shape[index], node.dtype[index]  # type: ignore[assignment]
        self.number = next_number()
        self.extras = None
        self.index = index

    def release(self) -> None:
        """Do nothing: an output saves no values."""


def output_node(node: Node, index: int) -> Node:
    """The node for one output of `node`: an `Output`, or `node` itself if it has only one."""
    if node.pullback is None or not node.pullback.multiple or isinstance(node, Output):
        return node
    found = node.outputs[index]()
    if found is None:
        found = Output(node, index)
        node.outputs[index] = weakref.ref(found)
    return found


def make_outputs(node: Node) -> list[Node]:
    """New `Output` nodes for all outputs of a new node."""
    made = [Output(node, i) for i in range(len(node.shape))]
    node.outputs = [weakref.ref(m) for m in made]
    return list(made)


class GradientEdge(NamedTuple):
    """A place in the graph: output `output_nr` of `node`, where a gradient arrives."""

    node: Node
    output_nr: int = 0


def public_edge(node: Node) -> GradientEdge:
    """The op's own node and the output number, given the node of a tensor."""
    if isinstance(node, Output):
        return GradientEdge(node.edges[0], node.index)
    return GradientEdge(node, 0)


def freed_error(node: Node) -> GraphFreedError:
    """The error for a node whose saved values are gone."""
    return GraphFreedError(
        f"the graph has been freed: {node.name()} no longer holds the values it saved, because "
        "an earlier grad() or backward() went through it. Pass retain_graph=True to the earlier "
        "call to differentiate the same graph again."
    )


def record(pullback: Pullback, edges: tuple[Node, ...], saved: Any, shape: Any, dtype: Any) -> Node:
    """Make a node. It does the same as `Node(...)` in half the time, and every op needs it."""
    node = new(Node)
    node.pullback = pullback
    node.edges = edges
    node.saved = saved
    node.shape = shape
    node.dtype = dtype
    node.number = next_number()
    node.extras = None
    return node


# The function that records a node: `record`, a slower one under saved_tensors_hooks or
# detect_anomaly, or None under no_grad. Each thread and asynchronous task has its own.
RECORDER: ContextVar[Callable[..., Node] | None] = ContextVar("arraygrad_recorder", default=record)
recorder = RECORDER.get

# Ops read this: the recorder, or a `Staged` with the recorder while a closing is open.
STAGE: ContextVar[Any] = ContextVar("arraygrad_stage", default=record)
stage = STAGE.get
