"""The context of a call of a `Function`: the node that its `forward` and `backward` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from .. import ops
from ..arrays.tensor import Tensor
from ..backends import backend_of
from ..core.kinds import Opaque
from ..core.modes import current_modes
from ..core.nodes import FREED, LAST_WRITE, Node, freed_error, next_number, output_node
from ..core.saved import pack, remember_lines, unpack
from ..core.versions import as_saved_alone
from ..errors import RuleError
from ..ops.define.rules import Pullback
from ..sweep.engine import Sweep, current_sweep

if TYPE_CHECKING:
    from .function import Function


SEVERAL = (tuple, list)


class FunctionPullback(Pullback):
    """The pullback of one call of a `Function`: it calls the function's `backward`."""

    name: str

    def __init__(
        self, function: type[Function], positions: tuple[int, ...], arity: int, multiple: bool
    ) -> None:
        self.function = function
        self.name = function.__name__
        self.positions = positions
        self.arity = arity
        self.multiple = multiple
        self.kind = Opaque()
        self.holomorphic = self.simple = self.selects = False
        self.in_blocks = self.is_like_output = False
        self.is_users = True
        self.partial = self.live = self.joint = self.starred = None
        self.keeps_arrays = True
        self.kept = self.sources = self.rules = ()
        self.arrays: list[int] = []
        self.backward = _run_backward


def pullback_of(
    function: type[Function], positions: tuple[int, ...], arity: int, multiple: bool
) -> FunctionPullback:
    """The pullback of all calls of a function that are alike. The function keeps it."""
    known = function.__dict__.get("_pullbacks")
    if known is None:
        known = function._pullbacks = {}  # type: ignore[attr-defined]
    key = positions, arity, multiple
    found: FunctionPullback | None = known.get(key)
    if found is None:
        found = known[key] = FunctionPullback(function, positions, arity, multiple)
    return found


class FunctionCtx(Node):
    """The `ctx` that `forward` and `backward` share. It is also the node of the call.

    Parameters
    ----------
    function, edges, positions, arity
        `Function.apply` makes a context; users do not.

    Examples
    --------
    >>> import arraygrad as ag
    >>> class Halved(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, by):
    ...         ctx.by = by  # anything that `backward` needs
    ...         return x / by
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g / ctx.by, None
    >>> x = ag.tensor(3.0, requires_grad=True)
    >>> ag.grad(Halved.apply(x, 2), x)
    tensor(0.5)
    """

    __slots__ = ("__dict__",)
    # Most calls need few of these: they are set on the instance if they differ.
    _materialize = True
    _pending: tuple[Any, ...] = ()
    _for_forward: tuple[Any, ...] | None = None
    _places: tuple[tuple[str, int] | None, ...] = ()
    _made: type[Tensor] = Tensor
    _needs: tuple[bool, ...] | None = None
    _dirty: tuple[Any, ...] = ()
    _constant: tuple[Any, ...] = ()
    _constant_places: tuple[int, ...] = ()
    _dirty_places: tuple[int, ...] = ()

    def __init__(
        self, function: type[Function], edges: tuple[Node, ...], positions: Any, arity: int
    ) -> None:
        super().__init__(pullback_of(function, positions, arity, False), edges, (), (), None)

    def name(self) -> str:
        assert self.pullback is not None
        return f"{self.pullback.name}Backward"

    def load(self) -> tuple[Any, ...]:
        """Nothing: `backward` loads the saved values itself, by `saved_tensors`."""
        if self.saved is FREED:
            raise freed_error(self)
        return ()

    def as_saved(self, saved: tuple[Any, ...], restored: Callable[[Any, int], Any]) -> Any:
        """The values as they are: `saved_tensors` restores those that `backward` reads."""
        return saved

    def release(self) -> None:
        if self.saved:  # a node without saved values can always be run again
            self.saved = FREED

    if TYPE_CHECKING:  # users may set any attribute

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    # --- in forward or setup_context ---

    def save_for_backward(self, *tensors: Any) -> None:
        """Save tensors for `backward` and `jvp`, which read them as `ctx.saved_tensors`."""
        _check_saved(tensors, "save_for_backward()")
        self._pending = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Save tensors for `jvp`, which reads them as `ctx.saved_tensors`."""
        _check_saved(tensors, "save_for_forward()")
        self._for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs `forward` changed in place. `forward` must return them, too."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which outputs have no derivative."""
        self._constant = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for outputs without a gradient."""
        self._materialize = value

    # --- in backward ---

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """For each argument of `forward`, whether its gradient is wanted.

        In `backward`, this is whether the current sweep needs it.
        """
        assert self.pullback is not None
        if self._needs is not None:  # not in a graph
            return self._needs
        sweep = current_sweep()
        inside = sweep is not None and self in sweep.needed
        wanted = [False] * self.pullback.arity
        for position, edge in zip(self.pullback.positions, self.edges, strict=True):
            wanted[position] = not inside or edge in sweep.needed  # type: ignore[union-attr]
        return tuple(wanted)

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors of `save_for_backward`, with their nodes."""
        if self.saved is FREED:
            raise freed_error(self)
        if self._pending:  # still in forward
            return self._pending
        assert self.pullback is not None
        clears = self.pullback.function.clear_saved_tensors_on_access  # type: ignore[attr-defined]
        positions = self.pullback.positions
        found: list[Any] = []
        for kept, place in zip(self.saved, self._places, strict=True):
            array = kept if type(kept) is ndarray else unpack(kept)
            if array is not None and self.number < LAST_WRITE[0]:
                sweep = current_sweep()
                array = as_saved_alone(self, array, {} if sweep is None else sweep.rewound)
            node = None
            if place is not None:
                kind, i = place
                if kind == "output":
                    node = output_node(self, i)
                elif i in positions:
                    node = self.edges[positions.index(i)]
            found.append(None if array is None else self._made(array, node))
        if clears:
            self.saved = FREED
        return tuple(found)

    def in_forward_mode(self) -> FunctionCtx:
        """The context for `jvp`: its saved tensors are those of `save_for_forward`, if any."""
        if self._for_forward is not None:
            self._pending = self._for_forward
        return self

    def seal(self, arguments: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Turn the tensors to save into arrays, and note which are inputs or outputs."""
        arrays: list[Any] = []
        places: list[tuple[str, int] | None] = []
        for tensor in self._pending:
            place = None
            for kind, values in (("input", arguments), ("output", outputs)):
                for i, value in enumerate(values):
                    if value is tensor and tensor is not None:
                        place = (kind, i)
            ours = isinstance(tensor, Tensor) and tensor.level == self._made.level
            arrays.append(tensor._array if ours else tensor)
            places.append(place)
        self._pending = ()
        self.number = next_number()  # what `forward` wrote before, it has saved as it is now
        if self._dirty or self._constant:
            self._dirty = self._constant = ()
        self._places = tuple(places)
        modes = current_modes()
        hooks = modes.saved_hooks
        self.saved = tuple([pack(a, hooks) for a in arrays] if hooks else arrays)
        if modes.anomaly is not None:
            remember_lines(self)


def _check_saved(tensors: tuple[Any, ...], what: str) -> None:
    for i, tensor in enumerate(tensors):
        if tensor is not None and not hasattr(tensor, "dtype"):
            raise TypeError(
                f"{what} saves tensors; argument {i} is of type {type(tensor).__name__}: set it as "
                "an attribute of ctx instead"
            )


def _run_backward(sweep: Sweep, node: Node, g: Any) -> list[Any]:
    """The cotangents of a function's inputs, by its `backward`."""
    assert isinstance(node, FunctionCtx) and node.pullback is not None
    pullback = node.pullback
    gs = list(g) if pullback.multiple else [g]
    if pullback.multiple and node._materialize and any(part is None for part in gs):
        shapes: Any = node.shape
        dtypes: Any = node.dtype
        like = next(part for part in gs if part is not None)
        backend, plain = backend_of(like), ops.plain(like)
        gs = [
            part if part is not None or dtype is None else backend.full(plain, shape, 0, dtype)
            for part, shape, dtype in zip(gs, shapes, dtypes, strict=True)
        ]
    function: type[Function] = pullback.function  # type: ignore[attr-defined]
    rule = function.reverse_rule()
    given = list(map(sweep.as_tensor, gs))
    if function.boxed_grads_call:
        gs.clear()
        returned = sweep.call(rule, node, given)
    else:
        returned = sweep.call(rule, node, *given)
    results = list(returned) if isinstance(returned, SEVERAL) else [returned]
    while len(results) > pullback.arity and results[-1] is None:
        results.pop()
    if len(results) != pullback.arity:
        raise RuleError(
            f"{node.name()} returned {len(results)} gradients for {pullback.arity} arguments of "
            "forward: return one for each, None where there is none"
        )
    for i, result in enumerate(results):
        if result is not None and i not in pullback.positions and not hasattr(result, "dtype"):
            raise RuleError(f"{node.name()} returned {type(result).__name__} as gradient {i}")
    parts = []
    for position, edge in zip(pullback.positions, node.edges, strict=True):
        part = results[position]
        is_wanted = part is not None and edge in sweep.needed
        parts.append(sweep.as_cotangent(part) if is_wanted else None)
    return parts
