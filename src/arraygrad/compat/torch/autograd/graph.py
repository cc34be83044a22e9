"""`torch.autograd.graph`: nodes, edges, and hooks on the values that the graph saves."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from ....autograd import graph as native
from ....core.memory import owner_of
from ....core.modes import current_modes
from ....core.nodes import Node as NativeNode
from ....core.nodes import RemovableHandle, next_number
from ....core.versions import newest_write
from ..handles import Tensor, unwrap, wrap
from .nodes import GradientEdge, Node, packed, shown, unpacked

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


disable_saved_tensors_hooks = native.disable_saved_tensors_hooks
save_on_cpu = native.save_on_cpu


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place in the graph where the gradient of a tensor arrives."""
    node, number = native.get_gradient_edge(unwrap(tensor))
    return GradientEdge(shown(node), number)


class allow_mutation_on_saved_tensors(native.allow_mutation_on_saved_tensors):  # noqa: N801
    """Allow writes to tensors that a node has saved: the gradient uses the values before."""

    def __init__(self) -> None:
        super().__init__(True)

    def __enter__(self) -> Self:
        if current_modes().keeps_written:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self._start = next_number()
        return super().__enter__()

    def _saved(self) -> Iterator[tuple[Any, Any]]:
        """The nodes that were made inside and live, with each array that they keep."""
        for found in gc.get_objects():
            if issubclass(type(found), NativeNode) and found.number > self._start:
                kept = found.kept()
                for array in kept if isinstance(kept, tuple) else ():
                    if isinstance(array, np.ndarray):
                        yield found, array

    @property
    def tid_to_weakhandle(self) -> dict[int, Any]:
        """The pieces of memory that are saved, by their numbers."""
        return {id(owner_of(array)): array for _, array in self._saved()}

    @property
    def cloned(self) -> dict[tuple[int, int], Any]:
        """The saved arrays that were written since: by memory, and by the first such write."""
        found = {}
        for node, array in self._saved():
            write = newest_write(array, node.number)
            if write is not None:
                numbers = [n for n, *_ in write[0].past.writes if n > node.number]
                found[id(owner_of(array)), min(numbers, default=write[1])] = array
        return found


class saved_tensors_hooks(native.saved_tensors_hooks):  # noqa: N801  (torch's name)
    """Store `pack_hook` of each value that is saved, and get it back by `unpack_hook`."""

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"{name} must be callable, not {type(hook).__name__}")
        super().__init__(
            lambda array: packed(pack_hook, wrap(array)), lambda kept: unpacked(unpack_hook(kept))
        )
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Say that a tensor was written in a way that nobody could see."""
    native.increment_version(
        [unwrap(t) for t in ((tensor,) if isinstance(tensor, Tensor) else tensor)]
    )


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` with the gradients of several tensors, or with the first that arrives."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    register: Any = native.register_multi_grad_hook
    made: RemovableHandle = register(
        [unwrap(t) for t in tensors], lambda found: fn(wrap(found)), mode=mode
    )
    return made
