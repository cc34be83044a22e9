"""The sweep: computes the cotangents of targets from the cotangents of outputs.

The sweep visits once each node between the outputs and the targets, newest first. Cotangents are
in a table that is local to the call. The sweep writes nothing that the user holds: `autograd` and
`func` decide what to do with the result.
"""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy import generic, ndarray

from .. import ops
from ..arrays.tensor import tensor_type_at
from ..backends import backend_of
from ..backends.filled import zeros_like
from ..backends.numpy.indexing import add_at
from ..backends.numpy.native import LARGE, SMALL
from ..core.array import Array, plain
from ..core.cpython import ALONE, getrefcount
from ..core.indices import as_view, fill
from ..core.memory import reuse_memory
from ..core.modes import current_modes, enable_grad, set_modes
from ..core.nodes import FREED, LAST_WRITE, Leaf, Node, Output
from ..core.past import Rewound
from ..core.versions import Writes, as_saved
from ..errors import RuleError
from ..ops.define.rules import Partial
from ..ops.indexing import _index_add
from .blocks import run_in_blocks
from .fit import broadcast_axes, fit, is_complex
from .hooks import CallsUsers
from .liveness import Liveness
from .plan import planned
from .ways import collect, parts_at_once, run_carefully


class Sweep(CallsUsers):
    """One sweep over a graph.

    Parameters
    ----------
    starts : iterable of nodes
        The nodes of the outputs, where the sweep starts.
    targets : iterable of nodes, or None
        The nodes whose cotangents are wanted; None for every leaf and every tensor that retains
        its gradient.
    level : float
        The level of the tensors in the graph.
    create_graph : bool
        Whether to run the rules on tensors, so that the result can be differentiated again.
    anomaly : {None, "trace", "nan"}
        With "trace", errors name the user's line that recorded the node. With "nan", a NaN is an
        error, too.
    restores : bool
        Whether saved values that have been written since are restored. Otherwise they are an error.

    Attributes
    ----------
    order, needed, everything, results
        See `planned`.
    is_partial : bool
        Whether there are targets.
    notes : dict
        What hooks remember until the end of the sweep.
    table : dict of Node to array
        The cotangent of each node, as far as it has been summed.
    owned : set of Node
        The nodes whose cotangents only the table refers to, so that they can be added to in place.
    live : Liveness
        Which elements of the cotangents are live.
    rewound : dict of Writes to Rewound
        Copies of memory as it was before later writes; None if such a write is an error.
    """

    depth: int
    live: Liveness
    owned: set[Node]
    results: dict[Node, Any]
    rewound: dict[Writes, Rewound] | None
    table: dict[Node, Any]

    def __init__(
        self,
        starts: Iterable[Node],
        targets: Iterable[Node] | None,
        level: float,
        create_graph: bool,
        anomaly: str | None = None,
        restores: bool = True,
    ) -> None:
        self.tensor_type = tensor_type_at(level)
        self.restores, self.is_partial = restores, targets is not None
        self.create_graph = create_graph
        self.anomaly = anomaly
        self.notes: dict[Any, Any] = {}
        known = None if targets is None else set(targets)
        self.order, self.needed, self.everything, self.results = planned(starts, known)

    def release(self) -> None:
        """Free the values that the nodes of the sweep saved."""
        for node in self.order:
            if type(node) is not Node:
                node.release()
            elif node.pullback.keeps_arrays:  # type: ignore[union-attr]
                node.saved = FREED

    def run(self, seeds: list[tuple[Node, Any]]) -> dict[Node, Any]:
        """Run the sweep, and return the cotangent of each target; None where none arrived.

        Cotangents are plain arrays, or tensors if `create_graph`.
        """
        reuse_memory()
        self._run_from(seeds, True if self.anomaly == "nan" else None)
        if self.live.follows is False and any(map(_has_nan, self.results.values())):
            # The NaN may come from overwritten values, which must not reach the result.
            self.results = dict.fromkeys(self.results)
            self._run_from(seeds, True)
        for node, g in self.results.items():
            if g is not None and type(g) is not ndarray:
                g = g if self.create_graph else self.bare(g)
                self.results[node] = _arranged(g, node.array) if isinstance(node, Leaf) else g
        return self.results

    def _run_from(self, seeds: list[tuple[Node, Any]], follows: bool | None) -> None:
        self.table, self.owned = {}, set()
        self.rewound = {} if self.restores else None
        for node, cotangent in seeds:
            if node in self.needed:
                self.add_fitted(node, cotangent)
        starts = [node for node, _ in seeds]
        self.live = Liveness(self.needed, self.order, starts, follows)
        around = _current.get()
        self.depth = 0 if around is None else around.depth + 1
        run = self._run if (self.depth + 1) % _THREAD_EVERY else self._run_in_thread
        before = current_modes()
        try:
            _current.set(self)
            # Infinities and NaN in a gradient are results like any other; see detect_anomaly.
            with np.errstate(all="ignore"):
                if self.create_graph:
                    with enable_grad():
                        run()
                else:
                    run()
        except BaseException:
            set_modes(before)  # a rule that overflowed the stack may not have reset them
            raise
        finally:
            _current.set(around)
            self.table, self.owned, self.rewound = {}, set(), None

    def _run_in_thread(self) -> None:
        """Run in a new thread, which has a new stack: for sweeps nested deep in rules of sweeps."""
        context = contextvars.copy_context()
        errors = []

        def work() -> None:
            try:
                context.run(self._run)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if errors:
            raise errors[0]

    def newest_first(self) -> Iterator[Node]:
        """The nodes to run. `show.profiling` replaces it, to see how long each node takes."""
        return reversed(self.order)

    def _run(self) -> None:
        table, owned, needed, results = self.table, self.owned, self.needed, self.results
        everything, known, last_write = self.everything, self.live.known, LAST_WRITE
        inner = {node for node in results if node.pullback is not None}
        careful = self.create_graph or self.anomaly is not None
        last, conjugate = None, False
        for node in self.newest_first():
            g = table.pop(node, None)
            if g is None:
                continue
            extras, pullback = node.extras, node.pullback
            if extras is not None and extras.hooks:
                g = self.call_hooks(node, g)
            if inner and node in inner:
                results[node] = g
            saved = node.saved
            if type(saved) is not tuple:
                saved = node.load()
            if node.number < last_write[0]:
                saved = as_saved(node, saved, self.rewound)
            if (
                careful
                or extras is not None
                or not pullback.simple  # type: ignore[union-attr]
                or (known and (node in known or pullback.selects))  # type: ignore[union-attr]
            ):
                partial = pullback.partial  # type: ignore[union-attr]
                if partial is not None and isinstance(g, generic):
                    g = np.asarray(g)
                if partial is None or careful or extras is not None or type(g) is not ndarray:
                    parts = None
                    is_plain = not careful and extras is None and not self.live.follows
                    if type(node) is Output:
                        collect(self, node, g)
                        continue
                    if is_plain:
                        parts = parts_at_once(self, node, g, saved)
                    if parts is None:
                        run_carefully(self, node, g, saved)
                        continue
                    for edge, part in zip(node.edges, parts):  # noqa: B905
                        if part is not None:
                            self.add(edge, part, node)
                    continue
                if known or pullback.kind.overwrites:  # type: ignore[union-attr]
                    wanted = self.live.follow(node, g, saved)[0]
                else:
                    wanted = list(map(needed.__contains__, node.edges))
                spare = node in owned and node not in results
                for edge, part in zip(node.edges, partial(g, pullback, wanted, saved, spare)):  # noqa: B905
                    if part is not None:
                        self._add_partial(edge, part, node)
                continue
            shape, dtype = node.shape, node.dtype
            if dtype is not last:
                last, conjugate = dtype, is_complex(dtype)
            rules = pullback.rules  # type: ignore[union-attr]
            if type(g) is ndarray and g.size >= SMALL and not conjugate:
                rules = pullback.native  # type: ignore[union-attr]
                if g.size >= LARGE and pullback.in_blocks and not known:  # type: ignore[union-attr]
                    part = have = None  # they may refer to `g`
                    spare = getrefcount(g) <= ALONE and g.base is None and g.flags.carray
                    if run_in_blocks(self, node, g, saved, spare):
                        continue
            if conjugate and pullback.holomorphic:  # type: ignore[union-attr]
                self._run_conjugated(node, g, saved)
                continue
            is_like_output = pullback.is_like_output  # type: ignore[union-attr]
            for edge, rule in zip(node.edges, rules):  # noqa: B905
                if everything or edge in needed:
                    part = g if rule is None else rule(g, saved)
                    if is_like_output and type(part) is type(g):
                        fits = edge.shape == shape and edge.dtype is dtype
                    else:
                        try:
                            fits = part.shape == edge.shape and part.dtype is edge.dtype
                        except AttributeError:  # not an array: `fit` raises
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
                        self.add_fitted(edge, part)
        self._finish()

    def _run_conjugated(self, node: Node, g: Any, saved: tuple[Any, ...]) -> None:
        """Run a complex node: its rules map conjugate cotangents to conjugate cotangents."""
        g = ops.conj(g)
        for edge, rule in zip(node.edges, node.pullback.rules, strict=True):  # type: ignore[union-attr]
            if edge in self.needed:
                part = ops.conj(g if rule is None else rule(g, saved))
                self.add(edge, part, node)

    def _finish(self) -> None:
        """Move the cotangents at the ends of the sweep from the table to the results."""
        table, results = self.table, self.results
        for node in results:  # leaves, and other nodes where the sweep stopped
            if node in table:
                g = table[node]
                if g.shape != node.shape and broadcast_axes(tuple(g.shape), node.shape) != ():
                    raise RuleError(
                        f"a rule gave a gradient of shape {tuple(g.shape)} for an input of shape "
                        f"{tuple(node.shape)}: detect_anomaly() says which"
                    )
                if node.extras is not None and node.extras.hooks:
                    g = self.call_hooks(node, g)
                results[node] = g
        for node, like in self.live.unreached().items():
            if node in results and results[node] is None:
                zeros = zeros_like(like, node.shape, node.dtype)
                results[node] = self.tensor_type(zeros) if self.create_graph else zeros

    # --- cotangents ---

    def add(self, edge: Node, part: Any, node: Node) -> None:
        """Add `part`, which a rule of `node` gave, to the cotangent of the input `edge`."""
        if type(part) is not ndarray or part.shape != edge.shape or part.dtype is not edge.dtype:
            part = fit(part, edge, node)
        self.add_fitted(edge, part)

    def add_fitted(self, edge: Node, part: Any) -> None:
        """Add to the cotangent of `edge`: in place, if it is a plain array that the sweep owns."""
        table, owned = self.table, self.owned
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

    def _add_partial(self, edge: Node, part: Partial, node: Node) -> None:
        """Add the cotangent of a part of the input `edge`."""
        values, at = part
        first = edge not in self.table
        if at is None:
            if first and values.shape == edge.shape and values.dtype is edge.dtype:
                self.table[edge] = values
                self.owned.add(edge)
            else:
                self.add(edge, values, node)
            return
        template, indices = at
        kinds = {i.dtype.kind if isinstance(i, ndarray) else "" for i in indices} if indices else ()
        repeats = "i" in kinds or "u" in kinds  # an element may occur several times
        buffer = None if (first and repeats) or "" in kinds else self._buffer(edge)
        if buffer is None:
            whole = _index_add(values, *indices, template=template, shape=edge.shape)
            self.add(edge, whole, node)
            if first and type(whole) is ndarray:
                self.owned.add(edge)
        elif repeats:
            add_at(buffer, values, indices, template)
        else:
            place = fill(template, indices) if indices else as_view(template)
            if first:
                buffer[place] = values
            else:
                buffer[place] += values

    def _buffer(self, edge: Node) -> Any:
        """The cotangent of a node, as an array to add to in place; None if it cannot be written."""
        have = self.table.get(edge)
        if have is None:
            have = self.table[edge] = np.zeros(edge.shape, edge.dtype)
        elif type(have) is not ndarray or have.dtype != edge.dtype:
            return None
        elif edge not in self.owned:
            have = self.table[edge] = np.array(have)
        self.owned.add(edge)
        return have


_current: ContextVar[Sweep | None] = ContextVar("arraygrad_sweep", default=None)
current_sweep = _current.get

# Sweeps can be nested in rules of sweeps. One in this many runs in a new thread, with a new stack.
_THREAD_EVERY = 10


def _has_nan(g: Any) -> bool:
    return g is not None and bool(np.isnan(plain(g)).any())


def _arranged(g: Any, like: Any) -> Any:
    """A gradient cut into the same pieces as the array that it belongs to."""
    if isinstance(g, Array):
        return g.over(functools.partial(_arranged, like=like))
    return backend_of(g).arranged(g, plain(like))
