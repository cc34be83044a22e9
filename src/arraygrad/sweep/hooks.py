"""How a sweep calls the user's code: hooks, and `Function.backward`.

Cotangents are turned into tensors for the user, and the results of hooks are checked. Hooks are
registered on nodes (`core.nodes`).
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from ..arrays.tensor import Tensor
from ..core.array import Array
from ..core.levels import in_flight
from ..core.modes import without_grad
from ..core.nodes import Leaf, Node
from ..core.versions import read_only
from ..errors import RuleError


class CallsUsers:
    """The part of a sweep that calls the user's code."""

    __slots__ = ()
    create_graph: bool
    tensor_type: type[Tensor]

    def call(self, function: Any, *args: Any) -> Any:
        """Call user code: under `no_grad`, unless the sweep creates a graph or is a transform's."""
        if self.create_graph or self.tensor_type is not Tensor:
            return function(*args)
        return without_grad(function, *args)

    def as_tensor(self, g: Any) -> Any:
        """A cotangent as a tensor, for user code."""
        if g is None or self.create_graph:
            return g
        if type(g) is ndarray:
            return self.tensor_type(read_only(g))
        return wrapped(self.tensor_type, read_only(self.bare(g)), in_flight())

    def bare(self, g: Any) -> Any:
        """A cotangent without tensors that a rule made, as by `ag.eye`, and that record nothing."""
        while isinstance(g, Tensor) and g.level >= self.tensor_type.level and g._node is None:
            g = g.array
        return g.over(self.bare) if isinstance(g, Array) and not isinstance(g, Tensor) else g

    def as_cotangent(self, value: Any) -> Any:
        """A gradient that user code returned, as the sweep needs it: a plain array or a tensor."""
        if self.create_graph:
            return value if isinstance(value, Array) else self.tensor_type(value)
        ours = isinstance(value, Tensor) and value.level == self.tensor_type.level
        return value._array if ours else value

    def call_hooks(self, node: Node, g: Any) -> Any:
        """The cotangent of a tensor, after its hooks may have replaced it."""
        assert node.extras is not None
        for hook in list(node.extras.hooks.values()):
            result = self.call(hook, self.as_tensor(g))
            if result is not None:
                g = self._checked(result, node.shape, node.dtype, f"hook {_name(hook)}")
        return g

    def call_prehooks(self, node: Node, g: Any) -> Any:
        """The cotangent of a node, after the node's prehooks may have replaced it."""
        if node.extras is None or not node.extras.pre:
            return g
        many = node.pullback is not None and node.pullback.multiple
        gs = list(g) if many else [g]
        shapes, dtypes = (node.shape, node.dtype) if many else ([node.shape], [node.dtype])
        for hook in list(node.extras.pre.values()):
            result = self.call(hook, tuple(map(self.as_tensor, gs)))
            gs = self._replaced(gs, result, shapes, dtypes, f"prehook {_name(hook)}")
        return gs if many else gs[0]

    def call_posthooks(self, node: Node, parts: list[Any], g: Any) -> list[Any]:
        """The cotangents of a node's inputs, after the node's hooks may have replaced them."""
        assert node.extras is not None and node.pullback is not None
        positions = node.pullback.positions
        outs = tuple(map(self.as_tensor, g if node.pullback.multiple else [g]))
        shapes, dtypes = [e.shape for e in node.edges], [e.dtype for e in node.edges]
        for hook in list(node.extras.post.values()):
            all_parts: list[Any] = [None] * node.pullback.arity
            for position, part in zip(positions, parts, strict=True):
                all_parts[position] = self.as_tensor(part)
            result = self.call(hook, tuple(all_parts), outs)
            if result is not None:
                result = result if isinstance(result, tuple | list) else (result,)
                if len(result) != len(all_parts):
                    raise RuleError(
                        f"hook {_name(hook)} on {node.name()} returned {len(result)} gradients "
                        f"for {len(all_parts)} inputs"
                    )
                result = [result[p] for p in positions]
            parts = self._replaced(parts, result, shapes, dtypes, f"hook {_name(hook)}")
        return parts

    def call_leaf_posthooks(self, leaf: Leaf, g: Any) -> None:
        """Call the hooks of a leaf whose gradient has been accumulated."""
        assert leaf.extras is not None
        for hook in list(leaf.extras.post.values()):
            if self.call(hook, (), (self.as_tensor(g),)):
                raise RuleError(
                    f"hook {_name(hook)} on {leaf.name()} returned gradients, but a leaf has no "
                    "inputs to pass them to: return None"
                )

    def _replaced(
        self, old: list[Any], result: Any, shapes: Any, dtypes: Any, what: str
    ) -> list[Any]:
        if result is None:
            return old
        new = list(result) if isinstance(result, tuple | list) else [result]
        if len(new) != len(old):
            raise RuleError(f"{what} returned {len(new)} gradients in place of {len(old)}")
        return [
            None if n is None else self._checked(n, shape, dtype, what)
            for n, shape, dtype in zip(new, shapes, dtypes, strict=True)
        ]

    def _checked(self, value: Any, shape: Any, dtype: Any, what: str) -> Any:
        """The result of a hook as a cotangent; raise if shape or dtype are wrong."""
        if not hasattr(value, "shape") or not hasattr(value, "dtype"):
            raise TypeError(f"{what} must return a Tensor or None, not {type(value).__name__}")
        same_library = type(value.dtype) is type(dtype)  # only then can dtypes be compared
        if not same_library or value.dtype != dtype or tuple(value.shape) != tuple(shape):
            raise RuleError(
                f"{what} was given a gradient of shape {tuple(shape)} and dtype {dtype} and "
                f"returned one of shape {tuple(value.shape)} and dtype {value.dtype}: return one "
                "like it, or None to leave it as it is"
            )
        return self.as_cotangent(value)


def wrapped(make: type[Tensor], value: Any, innermost: float) -> Any:
    """A cotangent as a tensor of the type `make`.

    Arrays of transforms further inside, with levels up to `innermost`, stay around the tensor.
    Higher levels are the sweep's own.
    """
    if isinstance(value, Array) and make.level < value.level <= innermost:
        return value.over(lambda inner: wrapped(make, inner, innermost))
    return make(value)


def _name(hook: Any) -> str:
    return repr(getattr(hook, "__name__", type(hook).__name__))
