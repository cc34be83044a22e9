"""The reverse pass of a `scan`: a loop in the other direction, over what the first loop has kept.

Its state is the cotangent of the state. What each step contributes to the cotangents of arrays that
all steps use is added up, in the loop or after it: see `stacking`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops import zeros_like
from ..lower.worth import worth_saving
from ..trace.bodies import Body, Flags, Pulled
from ..trace.program import Call, Node, Result, needed
from .stacking import Sums, size

if TYPE_CHECKING:
    from .scanning import Scan


class Kept:
    """What a loop keeps of each step for its reverse pass.

    Parameters
    ----------
    loop : Scan
    flags : sequence of bool
        The inputs that have cotangents.

    Attributes
    ----------
    pulled : Pulled
        The pullback of the body.
    visible : int
        The number of the results of the loop itself.
    saved : list of Node
        What is kept of each step, beside these.
    """

    def __init__(self, loop: Scan, flags: Flags) -> None:
        moving = [i for i, flag in enumerate(loop.moving(flags)) if flag]
        pulled = self.pulled = Pulled(loop.body, moving)
        self.visible = len(loop.body.outputs)
        self._constants, self._states = loop.constants, loop.states
        self._recomputes = loop.recomputes
        found = [g for g in pulled.gradients(list(pulled.seeds), moving) if g is not None]
        self.saved, self._carried = self._needed_for(found)

    def _needed_for(self, gradients: list[Node]) -> tuple[list[Node], dict[Node, int]]:
        """What to keep for cotangents; and which parts of the state they need after the step."""
        pulled, c, s = self.pulled, self._constants, self._states
        state = pulled.inputs[c : c + s]
        seeds = list(pulled.seeds.values())
        rows = [node for node in pulled.outputs[s:] if isinstance(node, Call | Result)]
        after: dict[Node, int] = {}
        saved: list[Node] = []
        if not self._recomputes:
            after = {
                node: k
                for k, node in enumerate(pulled.outputs[:s])
                if isinstance(node, Call | Result) and node not in rows
            }
            changing = set(pulled.inputs[c:])
            for node in needed([*pulled.outputs, *gradients]):
                if not changing.isdisjoint(node.nodes):
                    changing.add(node)
            known, _ = worth_saving([*rows, *after], seeds, gradients)
            saved = [node for node in known if node in changing]
        others = [*pulled.inputs[:c], *pulled.inputs[c + s :], *seeds]
        read = set(needed(gradients, [*saved, *rows, *after, *others]))
        after = {node: k for node, k in after.items() if node in read}
        # The state after a step is that before the next one, which is there if it is kept anyway.
        carried = {node: k for node, k in after.items() if state[k] in read}
        saved += [node for node in after if node not in carried]
        return saved + [node for node in state if node in read], carried

    @property
    def body(self) -> Body:
        """The body of the loop, which also returns what is kept."""
        return Body(self.pulled.inputs, [*self.pulled.outputs, *self.saved])

    def bytes(self) -> int:
        """The bytes that each step takes, in the loop and in the reverse pass."""
        targets = [i for i in range(self._constants) if self.pulled.is_moving(i)]
        found = self.pulled.gradients(list(self.pulled.seeds), targets)
        sums = self._sums([g for g in found if g is not None], [])
        return sum(map(size, [*self.saved, *sums.stacked]))

    def _known_rows(self) -> list[Node]:
        """What is there of each step in the reverse pass."""
        c, s, pulled = self._constants, self._states, self.pulled
        results = [node for node in pulled.outputs[s:] if isinstance(node, Call | Result)]
        seeds = [seed for k, seed in pulled.seeds.items() if k >= s]
        return [*pulled.inputs[c + s :], *results, *seeds, *self.saved]

    def _sums(self, nodes: Sequence[Node], each: Sequence[Node]) -> Sums:
        """How to add up some contributions, if `each` is returned for each step."""
        if self._recomputes:
            return Sums(nodes, lambda node: True, (), 0)
        rows = self._known_rows()
        changing = {*self.pulled.inputs[self._constants :], *self.pulled.seeds.values()}
        for node in needed(nodes):
            if not changing.isdisjoint(node.nodes):
                changing.add(node)
        room = sum(map(size, rows))
        return Sums(nodes, lambda node: node not in changing, [*rows, *each], room)

    def pull(
        self, loop: Scan, gs: Any, wanted: Sequence[bool], out: Any, arrays: Sequence[Any]
    ) -> list[Any]:
        """The cotangents of the inputs of the loop, which has returned `out`."""
        pulled, c, s = self.pulled, self._constants, self._states
        moving = [i for i, flag in enumerate(loop.moving(wanted)) if flag]
        state = [i for i in moving if c <= i < c + s]
        seeds = [k for k in pulled.seeds if k < s or gs[k] is not None]
        targets = [i for i in moving if wanted[i] or i in state]
        found = zip(targets, pulled.gradients(seeds, targets), strict=True)
        gradients = {i: g for i, g in found if g is not None}
        # What the body can read, each with the array that the loop gets for it: constants, the
        # state, and elements.
        constants = dict(zip(pulled.inputs, arrays[:c], strict=False))
        rows = {pulled.inputs[i]: arrays[i] for i in range(c + s, len(arrays))}
        for k in range(s, self.visible):
            if isinstance(pulled.outputs[k], Call | Result):
                rows[pulled.outputs[k]] = out[k]
            if k in seeds:
                rows[pulled.seeds[k]] = gs[k]
        rows |= zip(self.saved, out[self.visible :], strict=True)
        first: dict[Node, Any] = {}
        outputs: list[Node] = []
        for i in state:
            k = i - c
            node = pulled.seeds.get(k) or pulled.trace.input_like(pulled.inputs[i]).node
            first[node] = zeros_like(out[k]) if gs[k] is None else gs[k]
            outputs.append(gradients.get(i) or pulled.zeros(pulled.inputs[i]))
        for node, k in self._carried.items():
            first[node] = out[k]
            outputs.append(pulled.inputs[c + k])
        each = {i: gradients[i] for i in targets if i >= c + s and i in gradients}
        summed = {i: gradients[i] for i in targets if i < c and i in gradients}
        sums = self._sums(list(summed.values()), list(each.values()))
        for x in sums.added:
            node = pulled.trace.input_like(x).node
            first[node] = zeros_like(out[0] if out else arrays[0], x.shape, x.dtype)
            outputs.append(pulled.sum_of(node, x))
        side_by_side = list(dict.fromkeys([*each.values(), *sums.stacked]))
        outputs += side_by_side
        read = set(needed(outputs, [*constants, *first, *rows]))
        taken = {node: a for node, a in constants.items() if node in read}
        over = {node: a for node, a in rows.items() if node in read}
        body = Body([*taken, *first, *over], outputs)
        back = loop.like(body, len(taken), len(first), not loop.reverse)
        results = back.run([*taken.values(), *first.values(), *over.values()])
        last, stacks = results[: len(first)], results[len(first) :]
        rows |= zip(side_by_side, stacks, strict=True)
        parts: list[Any] = [None] * len(arrays)
        for i, part in zip(state, last, strict=False):
            parts[i] = part
        for i, node in each.items():
            parts[i] = rows[node]
        added = last[len(last) - len(sums.added) :]

        def fixed(node: Node) -> Any:
            return Body(list(constants), [node])(list(constants.values()))[0]

        totals = sums.values(added, rows, fixed, loop.length)
        for i, node in summed.items():
            parts[i] = totals[node]
        return [part if w else None for part, w in zip(parts, wanted, strict=True)]
