"""`profile`: where time and memory go, by op and by the user's line.

While a profile is on, it replaces four methods: the one that finds the kernel of an op, the two
that run a sweep and give it its nodes, and the call of a compiled function. The ops forget their
kernels when a profile starts and when it ends, so a program without a profile pays nothing. What is
timed is not timed again inside: a kernel that a derivative rule calls counts for the node.
"""

from __future__ import annotations

import functools
import json
import operator
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from threading import get_ident
from time import perf_counter_ns
from typing import Any, NamedTuple, Self

from numpy import ndarray

from ..arrays.tensor import Tensor
from ..compiler.call.compiled import Compiled
from ..core.array import Array, plain
from ..core.cpython import user_frame
from ..core.nodes import Node, Output, next_number, public_edge
from ..core.structures import taken_apart
from ..ops.define.op import Op, known_ops
from ..sweep.engine import Sweep
from .tables import html_table, line_text, size_text, text_table, time_text

__all__ = ["Usage", "profile"]

EVENTS = 200_000  # the most that a trace has
PLACES = 1_000_000  # nodes whose lines are known
TRACKED = 4096  # bytes of an array that counts for the peak


class Usage(NamedTuple):
    """What an op or a line used.

    Attributes
    ----------
    name : str
        The op, or the file and line with the text of the line.
    calls, seconds, nbytes
        How many times ops were computed, how long this took, and the bytes of new results.
    backward_calls, backward_seconds, backward_nbytes
        The same for the derivative rules of the ops, in reverse sweeps. The bytes are those of new
        cotangents of 4 kB and more.
    """

    name: str
    calls: int
    seconds: float
    nbytes: int
    backward_calls: int
    backward_seconds: float
    backward_nbytes: int


class _Site:
    """An op at one place of the user's code, and what it used, as `Usage` has it."""

    def __init__(self, number: int, op: str, pullback: str, code: Any, place: int) -> None:
        self.number = number
        self.op, self.pullback = op, pullback  # the name of the pullback of its nodes
        self.code, self.place = code, place  # the code object keeps its id, which is a key
        self.used = [0, 0, 0, 0, 0, 0]  # times are in nanoseconds
        self.held = 0  # bytes of its results that live

    @functools.cached_property
    def line(self) -> str:
        """The file and the line, with its text."""
        if self.code is None:
            return "(not known)"
        return line_text(self.code, self.place)


class _Thread(threading.local):
    """What is timed in a thread: all that it calls counts for it."""

    inside: Any = None


class profile:  # noqa: N801  (a context manager, as no_grad is)
    """Find out which ops, and which lines of your code, take time and memory.

    Use it in a ``with`` statement. ``print(p)`` shows a table, Jupyter shows it by itself, and
    `save` writes a trace for Perfetto (ui.perfetto.dev) or Chrome (chrome://tracing). The profile
    counts all threads of the process. Ops on few numbers and their derivatives take about
    twice as long with it, large arrays about as long as without; when it is off, it costs nothing.

    Time is the time of an op's kernel, and of a node in a reverse sweep with all that its rule
    calls. A compiled function is one op. What is left is Python: your own code, and recording. In
    a sweep, elementwise nodes on large arrays run together; their time counts for the first.

    Attributes
    ----------
    seconds : float
        How long the block took.
    peak : int
        The most bytes that results of ops and cotangents took at one time. Arrays below 4 kB, your
        own arrays and arrays of other libraries than NumPy are not counted.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> x = ag.tensor(np.ones((200, 200)), requires_grad=True)
    >>> with ag.profile() as p:
    ...     y = (ag.sin(x) @ x).sum()
    ...     g = ag.grad(y, x)
    >>> [(u.name, u.calls, u.backward_calls) for u in sorted(p.by_op(), key=lambda u: u.name)]
    [('matmul', 1, 1), ('sin', 1, 1), ('sum', 1, 1)]
    >>> "By line" in str(p)
    True
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.peak = 0
        self._sites: dict[Any, _Site] = {}
        self._of_nodes: dict[int, _Site] = {}  # by the numbers of the nodes
        # Which site, whether backward, the thread, start and time: garbage collection does not
        # look at tuples of numbers.
        self._events: list[tuple[int, bool, int, int, int]] = []
        self._thread = _Thread()
        self._lock = threading.Lock()
        self._compiled: dict[int, Compiled[..., Any]] = {}
        self._touched: set[Op] = set()
        self._refs: dict[int, Any] = {}  # arrays that live, by their ids
        self._live = 0
        self._at_peak: list[tuple[int, _Site]] = []
        self._noted = 0  # bytes when `_at_peak` was noted
        self._start = 0
        self._replaced: list[tuple[type, str, Any]] = []  # methods of classes

    # --- on and off ---

    def __enter__(self) -> Self:
        if not _RUNNING.acquire(blocking=False):
            raise RuntimeError("a profile is running already: only one can run at a time")
        self._touched.update(known_ops())
        self._replace(Op, "kernel", self._kernel)
        self._replace(Sweep, "newest_first", self._newest_first, Sweep.run)
        self._replace(Sweep, "run", self._timed, lambda *_: None)
        self._replace(Compiled, "__call__", self._timed, self._after_call)
        self._forget_kernels()
        self._start = perf_counter_ns()
        return self

    def __exit__(self, *exc: object) -> None:
        self.seconds += (perf_counter_ns() - self._start) / 1e9
        while self._replaced:
            setattr(*self._replaced.pop())
        self._forget_kernels()
        for table in (self._touched, self._refs, self._of_nodes):
            table.clear()
        _RUNNING.release()

    def _replace(self, kind: type, name: str, make: Callable[..., Any], *others: Any) -> None:
        original = getattr(kind, name)
        self._replaced.append((kind, name, original))
        setattr(kind, name, make(original, *others))

    def _forget_kernels(self) -> None:
        for op in self._touched:
            op.kernels.clear()
            for types in list(op.table):
                if not any(issubclass(kind, Array) for kind in types):
                    op.table.pop(types, None)

    # --- what is noted while it is on ---

    def _timed(self, function: Any, after: Callable[..., Any]) -> Any:
        """A function that calls `after(args, out, start, passed)`, unless something is timed."""
        thread = self._thread

        def timed(*args: Any, **kwargs: Any) -> Any:
            if thread.inside is not None:
                return function(*args, **kwargs)
            thread.inside = function
            start = perf_counter_ns()
            try:
                out = function(*args, **kwargs)
            finally:
                passed = perf_counter_ns() - start
                thread.inside = None
            after(args, out, start, passed)
            return out

        return timed

    def _kernel(self, original: Any) -> Any:
        """The method that finds the kernel of an op, which is timed."""

        def kernel(op: Op, types: tuple[type, ...]) -> Any:
            found = op.kernels.get(types)
            if found is None:
                self._touched.add(op)
                after = functools.partial(self._note, op.name, op.name)
                found = op.kernels[types] = self._timed(original(op, types), after)
            return found

        return kernel

    def _after_call(self, args: Any, out: Any, start: int, passed: int) -> None:
        """Note the call of a compiled function."""
        compiled = args[0]
        self._compiled[id(compiled)] = compiled
        leaves = [out] if type(out) is ndarray else taken_apart(out)[0]
        name, results = f"{_name(compiled)} (compiled)", tuple(map(plain, leaves))
        site = self._note(name, "compiled", args, results, start, passed)
        for leaf in leaves:
            if isinstance(leaf, Tensor) and leaf._node is not None:
                self._of_nodes[public_edge(leaf._node).node.number] = site

    def _site(self, op: str, pullback: str, code: Any, place: int) -> _Site:
        key = (op, id(code), place)
        with self._lock:
            return self._sites.setdefault(key, _Site(len(self._sites), op, pullback, code, place))

    def _note(self, op: str, pullback: str, args: Any, out: Any, start: int, passed: int) -> _Site:
        """Count one call of an op, and return where it was."""
        frame = user_frame(2)
        code, place = (None, 0) if frame is None else (frame.f_code, frame.f_lasti)
        site = self._sites.get((op, id(code), place)) or self._site(op, pullback, code, place)
        used = site.used
        used[0] += 1
        used[1] += passed
        for array in out if type(out) is tuple else (out,):
            if type(array) is ndarray and array.base is None:
                used[2] += array.nbytes
                if array.nbytes >= TRACKED:
                    self._track(array, site)
        if len(self._events) < EVENTS:
            self._events.append((site.number, False, get_ident(), start, passed))
        of_nodes = self._of_nodes
        of_nodes[next_number() + 1] = site  # if the op is recorded, its node has the next number
        if len(of_nodes) > PLACES:
            of_nodes.pop(next(iter(of_nodes)), None)
        return site

    def _track(self, array: Any, site: _Site) -> bool:
        """Count an array for the peak, as long as it lives. False if it is counted already."""
        key, size = id(array), array.nbytes
        if key in self._refs:
            return False

        def gone(_: Any) -> None:
            if self._refs.pop(key, None) is not None:
                self._live -= size
                site.held -= size

        self._refs[key] = weakref.ref(array, gone)
        site.held += size
        self._live += size
        if self._live > self.peak:
            self.peak = self._live
            if self.peak > 1.02 * self._noted:  # seldom enough to cost nothing
                self._noted = self.peak
                self._at_peak = [(s.held, s) for s in list(self._sites.values()) if s.held]
        return True

    def _newest_first(self, original: Any, run: Any) -> Any:
        def newest_first(sweep: Sweep) -> Iterator[Node]:
            is_timed = self._thread.inside is run and not sweep.depth  # not a part of another op
            return self._timed_nodes(sweep) if is_timed else original(sweep)

        return newest_first

    def _timed_nodes(self, sweep: Sweep) -> Iterator[Node]:
        """The nodes of a sweep. A node takes until the sweep asks for the next one."""
        table, thread = sweep.table, get_ident()
        for node in reversed(sweep.order):
            if node not in table:  # no cotangent arrives, or it has run in blocks with another
                yield node
                continue
            start = perf_counter_ns()
            yield node
            passed = perf_counter_ns() - start
            op_node = node.edges[0] if type(node) is Output else node
            site = self._site_of(op_node)
            used = site.used
            used[3] += op_node is node
            used[4] += passed
            for edge in node.edges:
                self._note_cotangent(table.get(edge), site)
            if len(self._events) < EVENTS:
                self._events.append((site.number, True, thread, start, passed))

    def _site_of(self, node: Node) -> _Site:
        assert node.pullback is not None
        site, name = self._of_nodes.get(node.number), node.pullback.name
        if site is None:  # it was recorded before the profile
            return self._site(name, name, None, 0)
        if site.pullback == name:
            return site
        return self._site(name, name, site.code, site.place)  # of which this was the last kernel

    def _note_cotangent(self, g: Any, site: _Site) -> None:
        if type(g) is ndarray and g.nbytes >= TRACKED and g.base is None and self._track(g, site):
            site.used[5] += g.nbytes

    # --- results ---

    def _by(self, name: Callable[[_Site], str]) -> list[Usage]:
        found: dict[str, list[int]] = {}
        for site in list(self._sites.values()):
            total = found.setdefault(name(site), [0] * 6)
            total[:] = map(operator.add, total, site.used)
        usages = [Usage(n, a, b / 1e9, c, d, e / 1e9, f) for n, (a, b, c, d, e, f) in found.items()]
        return sorted(usages, key=lambda u: -(u.seconds + u.backward_seconds))

    def by_op(self) -> list[Usage]:
        """What each op used, the slowest first."""
        return self._by(operator.attrgetter("op"))

    def by_line(self) -> list[Usage]:
        """What each line of your code used, the slowest first.

        The derivative of an op counts for the line that called the op. The line of a node that was
        recorded before the profile is not known.
        """
        return self._by(operator.attrgetter("line"))

    def at_peak(self) -> list[tuple[int, str, str]]:
        """What held the memory near its peak, the most first: bytes, op and line.

        This is noted whenever the peak has grown by 2 %.
        """
        found = [(size, site.op, site.line) for size, site in self._at_peak]
        return sorted(found, reverse=True)

    def not_native(self) -> dict[str, list[str]]:
        """For each compiled function that was called, the steps that NumPy computes, and why.

        These are the steps of all calls so far. `Compiled.explain` has more about one call.
        """
        found = {_name(compiled): compiled.not_native() for compiled in self._compiled.values()}
        return {name: steps for name, steps in found.items() if steps}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a trace for Perfetto or Chrome: a JSON file with the first 200,000 events."""
        first = self._events[0][3] if self._events else 0
        sites = list(self._sites.values())
        events = [
            {
                "name": sites[number].op,
                "cat": "backward" if backward else "forward",
                "ph": "X",
                "ts": (start - first) / 1e3,
                "dur": passed / 1e3,
                "pid": os.getpid(),
                "tid": thread,
                "args": {"line": sites[number].line},
            }
            for number, backward, thread, start, passed in list(self._events)
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)

    def _summary(self) -> str:
        forward = sum(site.used[1] for site in self._sites.values()) / 1e9
        backward = sum(site.used[4] for site in self._sites.values()) / 1e9
        rest = max(0.0, self.seconds - forward - backward)  # less than nothing if threads overlap
        return (
            f"{time_text(self.seconds)} in all: {time_text(forward)} forward, "
            f"{time_text(backward)} backward, {time_text(rest)} elsewhere; peak "
            f"{size_text(self.peak)}"
        )

    def _tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """The tables with their titles and the names of their columns."""
        names = ["calls", "time", "new", "backward", "time", "new"]
        held = [[where, op, size_text(size)] for size, op, where in self.at_peak()]
        slow = [[f, step] for f, steps in self.not_native().items() for step in steps]
        tables = [
            ("By op", ["op", *names], list(map(_cells, self.by_op()))),
            ("By line", ["line", *names], list(map(_cells, self.by_line()))),
            ("What holds the memory at the peak", ["line", "op", "memory"], held),
            ("Steps of compiled functions that are not native", ["function", "step"], slow),
        ]
        return [(title, columns, rows[:_ROWS]) for title, columns, rows in tables if rows]

    def __repr__(self) -> str:
        return "\n\n".join([self._summary(), *(text_table(*table) for table in self._tables())])

    def _repr_html_(self) -> str:
        return f"<p>{self._summary()}</p>" + "".join(html_table(*t) for t in self._tables())


_ROWS = 20  # of a table
_RUNNING = threading.Lock()


def _name(compiled: Any) -> str:
    return getattr(compiled, "__name__", "a function")


def _cells(usage: Usage) -> list[str]:
    name, calls, seconds, size, backward_calls, backward_seconds, backward_size = usage
    cells = [name, str(calls), time_text(seconds), size_text(size)]
    if not backward_calls:
        return [*cells, "", "", ""]
    return [*cells, str(backward_calls), time_text(backward_seconds), size_text(backward_size)]
