"""Graph tools: gradient edges, hooks on several tensors, hooks on saved tensors.

Nodes themselves are in `core.nodes`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, overload

from ..arrays.tensor import Tensor, tensor_type
from ..arrays.writes.tensors import holder_of
from ..backends import backend_of
from ..core.describing import describe as _describe
from ..core.modes import ModeContext, Modes, no_grad
from ..core.nodes import GradientEdge, Node, RemovableHandle, public_edge
from ..core.versions import mark_written
from ..errors import NoGradientError
from ..sweep.engine import current_sweep

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place in the graph where `tensor`'s gradient arrives.

    The edge can replace the tensor in `grad` and `backward`, and does not keep its values alive.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * x
    >>> edge = ag.autograd.graph.get_gradient_edge(y)
    >>> ag.grad((3 * y).sum(), edge)
    tensor([3., 3.])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensor must be a Tensor, not {type(tensor).__name__}")
    if tensor._node is None:
        raise NoGradientError(
            "a tensor that does not require gradients has no gradient edge: set requires_grad=True"
        )
    return public_edge(tensor._node)


class saved_tensors_hooks(ModeContext):  # noqa: N801  (torch's name)
    """Decide how values that are saved for the gradient are stored.

    Inside, the graph stores the result of `pack_hook` instead of each saved tensor. When the
    gradient needs the tensor, `unpack_hook` gives it back.

    Parameters
    ----------
    pack_hook : callable
        From a tensor, anything.
    unpack_hook : callable
        From what `pack_hook` returned, the tensor.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> with ag.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), ag.tensor):
    ...     y = (x * x).sum()
    >>> ag.grad(y, x)
    tensor([2., 4.])
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"{name} must be callable, not {type(hook).__name__}")

        def pack(array: Any) -> Any:
            with no_grad():
                return pack_hook(tensor_type(array)(array))

        def unpack(packed: Any) -> Any:
            with no_grad():
                tensor = unpack_hook(packed)
            if not isinstance(tensor, Tensor):
                raise TypeError(
                    "the unpack hook of saved_tensors_hooks must return a Tensor, not "
                    f"{type(tensor).__name__}"
                )
            return tensor._array

        super().__init__(saved_hooks=(pack, unpack))

    def _changed(self, modes: Modes) -> Modes:
        if modes.hooks_forbidden is not None:
            raise RuntimeError(modes.hooks_forbidden)
        return super()._changed(modes)


class save_on_cpu(saved_tensors_hooks):  # noqa: N801  (torch's name)
    """Keep saved tensors in host memory, and bring them back to their device when needed.

    Parameters
    ----------
    pin_memory : bool, default False
        Accepted as in PyTorch; whether memory is pinned is up to the array library.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> with ag.autograd.graph.save_on_cpu():
    ...     y = (x * x).sum()
    >>> ag.grad(y, x)
    tensor([2., 4.])
    """

    def __init__(self, pin_memory: bool = False) -> None:
        def pack(tensor: Tensor) -> Any:
            backend = backend_of(tensor)
            return backend, tensor.device, backend.to_numpy(tensor.array)

        def unpack(packed: Any) -> Tensor:
            backend, device, array = packed
            return Tensor(backend.xp.asarray(array, device=device))

        super().__init__(pack, unpack)


class allow_mutation_on_saved_tensors(ModeContext):  # noqa: N801  (torch's name)
    """Whether tensors that a node has saved may be written inside.

    They may by default: a write keeps the values that it replaces, as long as a node needs them.
    With ``allow=False``, nothing is kept or restored, and a gradient that needs the old values
    raises, as in PyTorch.

    Parameters
    ----------
    allow : bool, default True
        Whether they may.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> with ag.autograd.graph.allow_mutation_on_saved_tensors(False):
    ...     y = x * 1
    ...     z = (y * y).sum()
    ...     y += 1
    >>> ag.grad(z, x)
    Traceback (most recent call last):
    arraygrad.errors.WrittenError: MultiplyBackward needs a value of shape (2,) ...
    """

    def __init__(self, allow: bool = True) -> None:
        super().__init__(keeps_written=allow)


def increment_version(tensors: Tensor | Iterable[Tensor]) -> None:
    """Say that tensors were written in a way that arraygrad could not see.

    A gradient that needs the old values then raises, instead of using the new values.

    Parameters
    ----------
    tensors : Tensor, or iterable of them
        Those that were written.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * 1
    >>> z = (y * y).sum()
    >>> ag.autograd.graph.increment_version(y)
    >>> ag.grad(z, x)
    Traceback (most recent call last):
    arraygrad.errors.WrittenError: ...
    """
    for tensor in (tensors,) if isinstance(tensors, Tensor) else tensors:
        mark_written(holder_of(tensor), "increment_version()")


class disable_saved_tensors_hooks(ModeContext):  # noqa: N801  (torch's name)
    """Forbid `saved_tensors_hooks` inside: entering them raises with the given message.

    Parameters
    ----------
    error_message : str
        The message.

    Examples
    --------
    >>> import arraygrad as ag
    >>> with ag.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     with ag.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
    RuntimeError: no hooks here
    """

    def __init__(self, error_message: str) -> None:
        super().__init__(hooks_forbidden=error_message, saved_hooks=None)

    def _changed(self, modes: Modes) -> Modes:
        if modes.saved_hooks is not None:
            raise RuntimeError(self._changes["hooks_forbidden"])
        return super()._changed(modes)


class _Group:
    """Several tensors that share one hook.

    The nodes of the tensors refer to the group, so the group refers to the nodes only weakly. The
    gradients that have arrived are kept in the sweep: several sweeps may run at once, and a sweep
    may fail.
    """

    def __init__(self, tensors: Sequence[Tensor], hook: Callable[..., Any], mode: str) -> None:
        self.nodes = [weakref.ref(t._node) for t in tensors if t._node is not None]
        self.hook = hook
        self.mode = mode

    def receive(self, position: int, gradient: Any) -> None:
        sweep = current_sweep()
        assert sweep is not None
        first = self not in sweep.notes
        if first:
            missing = sum(node() in sweep.needed for node in self.nodes)
            sweep.notes[self] = [missing, [None] * len(self.nodes)]
        state = sweep.notes[self]
        state[0] -= 1
        state[1][position] = gradient
        if self.mode == "any":
            if first:
                self.hook(gradient)
        elif state[0] == 0:
            self.hook(state[1])


class _Handles(RemovableHandle):
    """One handle for a hook that is registered in several places."""

    __slots__ = ("_handles",)

    def __init__(self, handles: list[RemovableHandle]) -> None:
        self._handles = handles

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()


@overload
def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[list[Tensor | None]], Any],
    *,
    mode: Literal["all"] = "all",
) -> RemovableHandle: ...
@overload
def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Tensor], Any], *, mode: Literal["any"]
) -> RemovableHandle: ...
def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: Literal["all", "any"] = "all"
) -> RemovableHandle:
    """Call `fn` once per sweep, for several tensors.

    Parameters
    ----------
    tensors : sequence of Tensor
    fn : callable
        With mode "all", called with the list of all gradients once they have arrived; None stands
        for tensors that take no part in the sweep. With mode "any", called with the first gradient
        that arrives.
    mode : {"all", "any"}

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor(1.0, requires_grad=True)
    >>> y = ag.tensor(2.0, requires_grad=True)
    >>> handle = ag.autograd.graph.register_multi_grad_hook([x, y], print)
    >>> gradients = ag.grad(x * y, [x, y])
    [tensor(2.), tensor(1.)]
    """
    if mode not in ("all", "any"):
        raise ValueError(f'mode must be "all" or "any", not {mode!r}')
    if not callable(fn):
        raise TypeError(f"fn must be callable, not {type(fn).__name__}")
    tensors = list(tensors)
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensors[{i}] must be a Tensor, not {type(tensor).__name__}")
        if tensor._node is None:
            raise NoGradientError(
                f"tensors[{i}] does not require gradients, so none will arrive: leave it out"
            )
    group = _Group(tensors, fn, mode)

    def receiver(position: int) -> Callable[[Any], None]:
        return lambda gradient: group.receive(position, gradient)

    return _Handles([t.register_hook(receiver(i)) for i, t in enumerate(tensors)])


_describe(
    (get_gradient_edge, increment_version, register_multi_grad_hook),
    {"tensor": "Tensor | It requires gradients."},
    {"RemovableHandle": "RemovableHandle | ``handle.remove()`` removes the hook."},
    {},
)
