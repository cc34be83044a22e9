"""How the sweep runs elementwise ops on large NumPy arrays: block by block.

Elementwise nodes of one shape that follow each other in the sweep are a stretch. Its rules are
traced into one program (`arrays.traced`), which runs on one block after the other. Intermediate
cotangents are never larger than a block; only the cotangents that leave the stretch are written to
large arrays. Sums are computed in the same order as without blocks, so they give the same results.
`backends.numpy.blocks` cuts arrays into blocks.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..arrays.traced import NotTraceable, Program, Traced
from ..backends.numpy import native
from ..backends.numpy.blocks import CUTTABLE, Blocks
from ..core.nodes import LAST_WRITE, Node

if TYPE_CHECKING:
    from .engine import Sweep


class _Broadcast(NamedTuple):
    """A use of an array that was broadcast: its cotangent still has to be summed."""

    edge: Node
    node: Node
    position: int


Target = Node | _Broadcast
# Nodes of a stretch: the native code of a longer one takes long to make, and is seldom used again.
LONGEST = 32


def run_in_blocks(sweep: Sweep, start: Node, g: Any, saved: tuple[Any, ...], spare: bool) -> bool:
    """Run a node with the cotangent `g`, and the elementwise nodes after it. False if it cannot.

    A cotangent in the sweep's table is overwritten only if the sweep owns it, and `g` only if it is
    `spare`.
    """
    table, owned = sweep.table, sweep.owned
    stretch = _Stretch(sweep, start, g, saved)
    blocks = Blocks.of(tuple(stretch.program.inputs)) if stretch.nodes else None
    if blocks is None:
        return False

    results: dict[Target, Any] = {}
    computed: dict[int, _Result] = {}
    shared: set[Target] = set()
    spare = spare and all(stretch.passing.get(v.number) is not g for v in stretch.leaving.values())
    for target, value in stretch.leaving.items():
        if value.number in stretch.passing:
            results[target] = stretch.passing[value.number]
        elif value.number in computed:  # for example, both sides of a sum
            twin = computed[value.number]
            results[target] = twin.array
            if not isinstance(target, _Broadcast):  # a broadcast one is summed now, never written
                shared |= {target, twin.target}
        else:
            over = table[target] if target in owned else g if spare else None
            spare = spare and over is not g
            array = blocks.empty(start.dtype) if over is None else over
            computed[value.number] = _Result(target, value, array, over)
            results[target] = array

    if computed:
        made = list(computed.values())
        values, arrays = [r.value for r in made], [r.array for r in made]
        if not native.stretch(stretch.program, values, arrays):
            arrays = [blocks.flat(array) for array in arrays]
            run = stretch.program.compiled(values, [r.over for r in made])
            blocks.each(lambda block, place: run(block, [array[place] for array in arrays]))
    for node in stretch.nodes:
        table.pop(node, None)
    written = {r.target for r in computed.values()}
    for target, total in results.items():
        if isinstance(target, _Broadcast):
            sweep.add(target.edge, total, target.node)
        else:
            table[target] = total
            if target in shared:
                owned.discard(target)
            elif target in written:
                owned.add(target)
    return True


class _Result(NamedTuple):
    """A cotangent that leaves a stretch, and the array it is written to.

    `over` is this array if it also is an input of the program, else None.
    """

    target: Target
    value: Traced
    array: Any
    over: Any


class _Stretch:
    """A node and the next ones in the sweep, as long as they can be run in blocks.

    Attributes
    ----------
    nodes : list of Node
    program : Program
        Computes the cotangents that leave the stretch.
    leaving : dict of Target to Traced
        The cotangents that leave the stretch.
    passing : dict of int to array
        The cotangents that enter the stretch, by the numbers of their values.
    """

    def __init__(self, sweep: Sweep, start: Node, g: Any, saved: tuple[Any, ...]) -> None:
        self.nodes: list[Node] = []
        self.program = Program(start.shape)
        self.passing: dict[int, Any] = {}
        self.leaving: dict[Target, Traced] = {start: self._given(g)}
        self._sweep = sweep
        self._start = start
        self._table = sweep.table
        order = sweep.order
        for index in range(bisect_left(order, start.number, key=attrgetter("number")), -1, -1):
            node = order[index]
            if node is not start:
                if not self._can_follow(node):
                    break
                saved = node.saved
            if not self._trace(node, saved):
                break
            self.nodes.append(node)
            if len(self.nodes) == LONGEST:
                break

    def _can_follow(self, node: Node) -> bool:
        pullback, start = node.pullback, self._start
        assert pullback is not None
        return (
            pullback.in_blocks
            and pullback.simple
            and node.extras is None
            and node.shape == start.shape
            and node.dtype == start.dtype
            and type(node.saved) is tuple  # needs no loading
            and node.number >= LAST_WRITE[0]  # the saved arrays are unchanged
            and node not in self._sweep.results
        )

    def _trace(self, node: Node, saved: tuple[Any, ...]) -> bool:
        """Add the rules of a node to the program. False if they cannot be traced."""
        program, pullback = self.program, node.pullback
        assert pullback is not None
        cotangents = [self._table[n] for n in (node, *node.edges) if n in self._table]
        if not all(isinstance(a, CUTTABLE) for a in (*cotangents, *saved)):
            return False
        g = self._arrived(node)
        if g is None:
            return True
        before = program.length()
        inputs = [program.input(value) for value in saved]
        parts = []
        for edge, rule in zip(node.edges, pullback.rules, strict=True):
            if edge in self._sweep.needed:
                part = g if rule is None else self._applied(rule, g, inputs)
                if not program.is_like(part, g) or edge.dtype != node.dtype:
                    program.shorten(before)
                    return False
                parts.append((edge, part))
        self.leaving.pop(node, None)
        for position, (edge, part) in enumerate(parts):
            if edge.shape != node.shape:
                self.leaving[_Broadcast(edge, node, position)] = part
            else:
                have = self._arrived(edge)
                self.leaving[edge] = part if have is None else have + part
        return True

    def _arrived(self, node: Node) -> Traced | None:
        """The cotangent of a node, as far as it has been summed."""
        if node in self.leaving:
            return self.leaving[node]
        return self._given(self._table[node]) if node in self._table else None

    def _given(self, cotangent: Any) -> Traced:
        value: Traced = self.program.input(cotangent)
        self.passing[value.number] = cotangent
        return value

    def _applied(self, rule: Any, g: Traced, saved: list[Any]) -> Any:
        before = self.program.length()
        try:
            return rule(g, saved)
        except NotTraceable:  # then the rule itself is a step of the program
            self.program.shorten(before)
            return self.program.add(lambda g, *saved: rule(g, saved), [g, *saved])
