"""The sweep: from cotangents of outputs to cotangents of whatever was asked for.

One pass over the recorded nodes, newest first, restricted to those that lie between the outputs
and the targets. Cotangents live in a table local to the call, and nothing that the user holds is
written: what to do with the result is the caller's business.
"""

from __future__ import annotations

import contextvars
import functools
import threading
from collections import defaultdict
from collections.abc import Iterable
from contextvars import ContextVar
from operator import attrgetter
from sys import getrefcount
from typing import Any

import numpy as np
from numpy import ndarray

from . import ops
from .autograd.modes import enable_grad, modes_in_force, no_grad, restore_modes
from .backends import backend_of
from .backends.blocks import LARGE
from .errors import AnomalyError, RuleError
from .graph import FREED, LAST_WRITE, Leaf, Node, Output, freed_error, output_node
from .levels import in_flight
from .ops.array import Array, zeros_like
from .ops.shape import _reshape
from .ops.writing import write_back
from .overwritten import Overwritten, cleared
from .tensor import Tensor, tensor_type_at
from .versions import check_unwritten


class Sweep:
    """One run of the engine: which nodes take part, and how it is run.

    `notes` is for hooks that have to remember something until the end of the sweep.

    Parameters
    ----------
    starts : iterable of nodes
        Where cotangents come in.
    targets : iterable of nodes, or None
        What gradients are wanted for; None for every leaf and every tensor that retains its
        gradient.
    level : float
        The level of the tensors in the graph.
    create_graph : bool
        Whether to run the rules on tensors, so that the result can be differentiated again.
    anomaly : {None, "trace", "nan"}
        Whether errors name the user's line that made the node, and NaN is one.
    """

    __slots__ = (
        "anomaly",
        "create_graph",
        "depth",
        "everything",
        "needed",
        "notes",
        "order",
        "overwritten",
        "results",
        "tensor_type",
    )
    depth: int

    def __init__(
        self,
        starts: Iterable[Node],
        targets: Iterable[Node] | None,
        level: float,
        create_graph: bool,
        anomaly: str | None = None,
    ) -> None:
        self.tensor_type = tensor_type_at(level)
        self.create_graph = create_graph
        self.anomaly = anomaly
        self.notes: dict[Any, Any] = {}
        self._plan(starts, None if targets is None else set(targets))

    def release(self) -> None:
        """Let the nodes of the sweep forget what they saved."""
        for node in self.order:
            if type(node) is not Node:
                node.release()
            elif node.pullback.keeps_arrays:  # type: ignore[union-attr]
                node.saved = FREED

    def _plan(self, starts: Iterable[Node], targets: set[Node] | None) -> None:
        """Find the nodes between the starts and the targets, in order of creation."""
        # Nothing older than the oldest target can depend on one.
        oldest = min(t.number for t in targets) if targets else 0
        seen = set(starts)
        stack = list(seen)
        order: list[Node] = []
        leaves: list[Node] = []
        pruned = False
        while stack:
            node = stack.pop()
            if node.pullback is None:
                leaves.append(node)
                continue
            order.append(node)
            for edge in node.edges:
                if edge not in seen:
                    if edge.number < oldest:
                        pruned = True
                    else:
                        seen.add(edge)
                        stack.append(edge)
        order.sort(key=attrgetter("number"))
        if targets is None:
            self.everything = True
            retained = [n for n in order if n.extras is not None and n.extras.retained]
            self.results: dict[Node, Any] = dict.fromkeys(leaves + retained)
        else:
            self.results = dict.fromkeys(targets)
            self.everything = not pruned and targets.issuperset(leaves)
            if not self.everything:
                seen = set(targets)
                between = []
                for node in order:
                    if not seen.isdisjoint(node.edges):
                        seen.add(node)
                        between.append(node)
                order = between
        self.needed = seen
        self.order = order

    def run(self, seeds: list[tuple[Node, Any]]) -> dict[Node, Any]:
        """Run the sweep; returns the cotangent of each target, None where none arrived.

        Cotangents are plain arrays, or tensors if `create_graph`.
        """
        self._run_from(seeds, True if self.anomaly == "nan" else None)
        if self.overwritten.follows is False and any(map(_has_nan, self.results.values())):
            # Perhaps of overwritten values, to which nothing should have come.
            self.results = dict.fromkeys(self.results)
            self._run_from(seeds, True)
        for node, g in self.results.items():
            if g is not None and type(g) is not np.ndarray and isinstance(node, Leaf):
                self.results[node] = _arranged(g, node.array)
        return self.results

    def _run_from(self, seeds: list[tuple[Node, Any]], follows: bool | None) -> None:
        table: dict[Node, Any] = {}
        owned: set[Node] = set()
        for node, cotangent in seeds:
            if node in self.needed:
                self._add(table, owned, node, cotangent)
        starts = [node for node, _ in seeds]
        self.overwritten = Overwritten(self.needed, self.order, starts, follows)
        around = _current.get()
        self.depth = 0 if around is None else around.depth + 1
        run = self._run if (self.depth + 1) % _THREAD_EVERY else self._run_in_thread
        before = modes_in_force()
        token = _current.set(self)
        try:
            # Infinities and NaN in a gradient are results like any other; see detect_anomaly.
            with np.errstate(all="ignore"):
                if self.create_graph:
                    with enable_grad():
                        run(table, owned)
                else:
                    run(table, owned)
        except BaseException:
            restore_modes(*before)  # a rule that ran out of stack may have left others
            raise
        finally:
            _current.reset(token)

    def _run_in_thread(self, table: dict[Node, Any], owned: set[Node]) -> None:
        """Run where there is more stack: for sweeps inside rules of sweeps, many deep."""
        context = contextvars.copy_context()
        errors = []

        def work() -> None:
            try:
                context.run(self._run, table, owned)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if errors:
            raise errors[0]

    def _run(self, table: dict[Node, Any], owned: set[Node]) -> None:
        needed, results, everything = self.needed, self.results, self.everything
        inner = {node for node in results if node.pullback is not None}
        careful = self.create_graph or self.anomaly is not None
        last, is_complex, last_write = None, False, LAST_WRITE
        overwritten, known = self.overwritten, self.overwritten.known
        for node in reversed(self.order):
            g = table.pop(node, None)
            if g is None:
                continue
            extras, pullback = node.extras, node.pullback
            if extras is not None and extras.hooks:
                g = self._call_hooks(node, g)
            if inner and node in inner:
                results[node] = g
            if (
                careful
                or extras is not None
                or not pullback.simple  # type: ignore[union-attr]
                or (known and (node in known or pullback.live is not None))  # type: ignore[union-attr]
            ):
                direct = pullback.direct  # type: ignore[union-attr]
                if direct is not None and isinstance(g, np.generic):
                    g = np.asarray(g)
                if direct is None or careful or extras is not None or type(g) is not ndarray:
                    self._run_carefully(node, g, table, owned)
                    continue
                saved = node.saved
                if saved is FREED:
                    raise freed_error(node)
                if node.number < last_write[0]:
                    check_unwritten(node, saved)
                if known and direct is not write_back:
                    if not any(overwritten.pass_on(node, g, saved)):
                        continue
                direct(self, node, g, table, owned, node in owned and node not in results)
                continue
            saved = node.saved
            if saved is FREED:
                raise freed_error(node)
            if node.number < last_write[0]:
                check_unwritten(node, saved)
            shape, dtype = node.shape, node.dtype
            if dtype is not last:
                last = dtype
                is_complex = _is_complex(dtype)
            if (
                type(g) is ndarray
                and g.size >= LARGE
                and pullback.in_blocks  # type: ignore[union-attr]
                and not is_complex
                and not known
            ):
                from .large import run_large  # which costs time to import, and few need it

                part = have = None  # which may be the same array
                spare = getrefcount(g) <= _ALONE and g.base is None and g.flags.carray
                if run_large(self, node, g, table, owned, spare):
                    continue
            conjugate = is_complex and pullback.holomorphic  # type: ignore[union-attr]
            if conjugate:
                g = ops.conj(g)
            is_like_output = pullback.is_like_output  # type: ignore[union-attr]
            for edge, rule in zip(node.edges, pullback.rules):  # type: ignore[union-attr]  # noqa: B905
                if everything or edge in needed:
                    part = g if rule is None else rule(g, saved)
                    if conjugate:
                        part = ops.conj(part)
                    if is_like_output and type(part) is type(g):
                        fits = edge.shape == shape and edge.dtype is dtype
                    else:
                        try:
                            fits = part.shape == edge.shape and part.dtype is edge.dtype
                        except AttributeError:  # no array at all, says `fit`
                            fits = False
                    if not fits:
                        part = fit(part, edge, node)
                    have = table.get(edge)
                    if have is None:
                        table[edge] = part
                    elif edge in owned and type(have) is type(part):
                        have += part
                        table[edge] = have
                    else:
                        self._add(table, owned, edge, part)
        for node in results:  # the leaves, and whatever else the sweep went no further than
            if node in table:
                g = table[node]
                if g.shape != node.shape and _broadcast_axes(tuple(g.shape), node.shape) != ():
                    raise RuleError(
                        f"a rule gave a gradient of shape {tuple(g.shape)} for an input of shape "
                        f"{tuple(node.shape)}: detect_anomaly() says which"
                    )
                if node.extras is not None and node.extras.hooks:
                    g = self._call_hooks(node, g)
                results[node] = g
        for node, like in overwritten.unreached().items():
            if node in results and results[node] is None:
                zeros = zeros_like(like, node.shape, node.dtype)
                results[node] = self.tensor_type(zeros) if self.create_graph else zeros

    def _run_carefully(self, node: Node, g: Any, table: dict[Node, Any], owned: set[Node]) -> None:
        """Run a node that has hooks or several outputs, or whose rules run on tensors."""
        if isinstance(node, Output):
            self._add_output(node, g, table)
            return
        pullback, extras = node.pullback, node.extras
        assert pullback is not None
        if extras is not None and extras.pre:
            g = self.call_prehooks(node, g)
        before = g
        saved = node.saved
        if saved is FREED:
            raise freed_error(node)
        if node.number < LAST_WRITE[0]:
            check_unwritten(node, saved)
        reached, mask = None, None  # of the edges, and of the elements, if not all are
        if pullback.live is not None:
            reached = self.overwritten.pass_on(node, g, saved)
        elif pullback.elementwise and node in self.overwritten.known:
            mask = self.overwritten.narrow(node)
        if self.create_graph and pullback.sources:
            saved = self._unpack(node, saved)
        conjugate = pullback.holomorphic and any(
            map(_is_complex, node.dtype if pullback.multiple else (node.dtype,))
        )
        if conjugate:
            g = _conj(g)
        try:
            if pullback.joint is not None:
                parts = [
                    None if part is None else self._fitted(part, edge, node, conjugate)
                    for part, edge in zip(
                        pullback.joint(self, node, g, saved), node.edges, strict=True
                    )
                ]
            else:
                if reached is None:
                    reached = [edge in self.needed for edge in node.edges]
                parts = [
                    self._fitted(
                        cleared(g if rule is None else rule(g, saved), mask), edge, node, conjugate
                    )
                    if reached[i]
                    else None
                    for i, (edge, rule) in enumerate(zip(node.edges, pullback.rules, strict=True))
                ]
        except Exception as error:
            if self.anomaly:
                error.add_note(_origin(node))
            raise
        if self.anomaly == "nan":
            parts = self._without_nan(node, parts)
        if extras is not None and extras.post:
            parts = self._call_posthooks(node, parts, before)
        for edge, part in zip(node.edges, parts, strict=True):
            if part is not None:
                self._add(table, owned, edge, part)

    def _fitted(self, part: Any, edge: Node, node: Node, conjugate: bool) -> Any:
        if conjugate:
            part = ops.conj(part)
        part = fit(part, edge, node)
        if self.create_graph and not isinstance(part, Array):
            part = self.tensor_type(part)  # a constant, such as the zeros of a step
        return part

    def add(
        self, table: dict[Node, Any], owned: set[Node], edge: Node, part: Any, node: Node
    ) -> None:
        """Add what `node` gives for an input to the input's cotangent."""
        self._add(table, owned, edge, fit(part, edge, node))

    def _add(self, table: dict[Node, Any], owned: set[Node], edge: Node, part: Any) -> None:
        """Add to a node's cotangent: in place, once it is a plain array that nobody else has."""
        have = table.get(edge)
        if have is None:
            table[edge] = part
        elif edge in owned and type(have) is type(part):
            have += part
            table[edge] = have
        else:
            total = table[edge] = have + part
            if isinstance(total, Array):
                owned.discard(edge)
            else:
                owned.add(edge)

    def buffer(self, table: dict[Node, Any], owned: set[Node], edge: Node) -> Any:
        """A node's cotangent as an array that can be added to in place; None if it is no such."""
        have = table.get(edge)
        if have is None:
            have = table[edge] = np.zeros(edge.shape, edge.dtype)
        elif type(have) is not np.ndarray or have.dtype != edge.dtype:
            return None
        elif edge not in owned:
            have = table[edge] = np.array(have)
        owned.add(edge)
        return have

    def _add_output(self, node: Output, g: Any, table: dict[Node, Any]) -> None:
        """Put the cotangent of one output into the list that its op's rules will get."""
        parent = node.edges[0]
        if parent in self.needed:
            slots = table.setdefault(parent, [None] * len(parent.shape))
            have = slots[node.index]
            slots[node.index] = g if have is None else have + g

    def _unpack(self, node: Node, saved: tuple[Any, ...]) -> tuple[Any, ...]:
        """A node's saved arrays as the tensors they were, with their places in the graph."""
        pullback, make = node.pullback, self.tensor_type
        assert pullback is not None
        nodes = dict(zip(pullback.positions, node.edges, strict=True))
        values = []
        for value, source in zip(saved, pullback.sources, strict=True):
            if source == -1 and pullback.multiple:
                value = tuple(make(v, output_node(node, i)) for i, v in enumerate(value))
            elif source == -1:
                value = make(value, node)
            elif source in nodes:
                value = make(value, nodes[source])
            values.append(value)
        return tuple(values)

    # --- hooks ---

    def _call_hooks(self, node: Node, g: Any) -> Any:
        assert node.extras is not None
        for hook in list(node.extras.hooks.values()):
            result = self.call(hook, self.as_tensor(g))
            if result is not None:
                g = self._as_cotangent(result, node.shape, node.dtype, f"hook {_name(hook)}")
        return g

    def call_prehooks(self, node: Node, g: Any) -> Any:
        """What a node's prehooks make of its cotangent."""
        if node.extras is None or not node.extras.pre:
            return g
        many = node.pullback is not None and node.pullback.multiple
        gs = list(g) if many else [g]
        shapes, dtypes = (node.shape, node.dtype) if many else ([node.shape], [node.dtype])
        for hook in list(node.extras.pre.values()):
            result = self.call(hook, tuple(map(self.as_tensor, gs)))
            gs = self._replaced(gs, result, shapes, dtypes, f"prehook {_name(hook)}")
        return gs if many else gs[0]

    def _call_posthooks(self, node: Node, parts: list[Any], g: Any) -> list[Any]:
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
        """Tell a leaf's hooks that its gradient has been accumulated."""
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
            None if n is None else self._as_cotangent(n, shape, dtype, what)
            for n, shape, dtype in zip(new, shapes, dtypes, strict=True)
        ]

    def call(self, hook: Any, *args: Any) -> Any:
        """Call user code in the grad mode it expects: that of the sweep."""
        if self.create_graph or self.tensor_type is not Tensor:
            return hook(*args)
        with no_grad():
            return hook(*args)

    def as_tensor(self, g: Any) -> Any:
        """A cotangent as user code expects it."""
        if g is None or self.create_graph:
            return g
        return wrapped(self.tensor_type, g, in_flight())

    def _as_cotangent(self, value: Any, shape: Any, dtype: Any, what: str) -> Any:
        """What a hook returned, as the sweep needs it."""
        if not hasattr(value, "shape") or not hasattr(value, "dtype"):
            raise TypeError(f"{what} must return a Tensor or None, not {type(value).__name__}")
        same_library = type(value.dtype) is type(dtype)  # else they might not be comparable
        if not same_library or value.dtype != dtype or tuple(value.shape) != tuple(shape):
            raise RuleError(
                f"{what} was given a gradient of shape {tuple(shape)} and dtype {dtype} and "
                f"returned one of shape {tuple(value.shape)} and dtype {value.dtype}: return one "
                "like it, or None to leave it as it is"
            )
        return self.as_cotangent(value)

    def as_cotangent(self, value: Any) -> Any:
        """A gradient that user code returned, in the form the sweep works on."""
        if self.create_graph:
            return value if isinstance(value, Array) else self.tensor_type(value)
        ours = isinstance(value, Tensor) and value.level == self.tensor_type.level
        return value._array if ours else value

    # --- anomaly detection ---

    def _without_nan(self, node: Node, parts: list[Any]) -> list[Any]:
        """The gradients of a node's inputs, which have no NaN, or raise when they are computed."""
        assert node.pullback is not None
        checked = []
        for position, part in zip(node.pullback.positions, parts, strict=True):
            if part is not None:
                error = AnomalyError(
                    f"{node.name()} returned NaN in the gradient of its input {position}.\n"
                    + _origin(node)
                )
                part = _over_plain(part, lambda a, e=error: backend_of(a).without_nan(a, e))
            checked.append(part)
        return checked


_current: ContextVar[Sweep | None] = ContextVar("arraygrad_sweep", default=None)
current_sweep = _current.get


def _alone() -> int:
    """What `getrefcount` says of an object that only one local variable refers to."""
    thing = object()
    return getrefcount(thing)


_ALONE = _alone()


# By the type of dtype first: those of some libraries cannot be compared with those of others.
_complex_dtypes: defaultdict[type, dict[Any, bool]] = defaultdict(dict)


# How deep sweeps may nest, each in a rule of the last, before the next gets a stack of its own.
_THREAD_EVERY = 10


def wrapped(make: type[Tensor], value: Any, innermost: float) -> Any:
    """A cotangent as a tensor: one under those transforms that it was given from further inside.

    Levels above `innermost` are the sweep's own.
    """
    if isinstance(value, Array) and make.level < value.level <= innermost:
        return value.over(lambda inner: wrapped(make, inner, innermost))
    return make(value)


def _over_plain(value: Any, function: Any) -> Any:
    """`function` of each plain array under the transforms around a value."""
    if isinstance(value, Array):
        return value.over(lambda inner: _over_plain(inner, function))
    return function(value)


def _is_complex(dtype: Any) -> bool:
    known = _complex_dtypes[type(dtype)]
    found = known.get(dtype)
    if found is None:
        found = known[dtype] = "complex" in str(dtype)  # so all libraries call them
    return found


def _has_nan(g: Any) -> bool:
    return g is not None and bool(np.isnan(ops.plain(g)).any())


def _conj(g: Any) -> Any:
    if isinstance(g, list):
        return [None if part is None else ops.conj(part) for part in g]
    return ops.conj(g)


def _arranged(g: Any, like: Any) -> Any:
    """A gradient laid out in memory, or over several, as what it is the gradient of."""
    if isinstance(g, Array):
        return g.over(functools.partial(_arranged, like=like))
    return backend_of(g).arranged(g, ops.plain(like))


def fit(part: Any, edge: Node, node: Node) -> Any:
    """A rule's result with the shape and dtype of the input: summed over what was broadcast."""
    if getattr(part, "shape", None) is None:
        raise RuleError(f"{node.name()} gave {type(part).__name__} where an array was expected")
    if part.shape != edge.shape:
        axes = _broadcast_axes(tuple(part.shape), tuple(edge.shape))
        if axes is None:
            raise RuleError(
                f"{node.name()} gave a gradient of shape {tuple(part.shape)} for an input of "
                f"shape {tuple(edge.shape)}"
            )
        if axes:
            part = ops.sum(part, axis=axes)
        if part.ndim != len(edge.shape):
            part = _reshape(part, shape=edge.shape)
    if part.dtype != edge.dtype:
        if _is_complex(part.dtype) and not _is_complex(edge.dtype):
            part = ops.real(part)
        part = ops.astype(part, edge.dtype, copy=False)
    return part


@functools.lru_cache(1024)
def _broadcast_axes(shape: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """The axes along which `wanted` was broadcast to `shape`; None if it was not."""
    extra = len(shape) - len(wanted)
    if extra < 0:
        return None
    # Lengths that are not known before they are computed are NaN, and fit any.
    pairs = zip(shape[extra:], wanted, strict=True)
    if any(w not in (n, 1) and n == n and w == w for n, w in pairs):
        return None
    narrow = (i + extra for i, w in enumerate(wanted) if w == 1 and shape[i + extra] != 1)
    return (*range(extra), *narrow)


def _origin(node: Node) -> str:
    """Where in the user's code a node was recorded."""
    trace = None if node.extras is None else node.extras.metadata.get("traceback")
    if trace is None:
        return f"{node.name()} was recorded outside detect_anomaly(), so its line is not known."
    return f"{node.name()} was recorded here:\n{trace}"


def _name(hook: Any) -> str:
    return repr(getattr(hook, "__name__", type(hook).__name__))
