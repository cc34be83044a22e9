"""The body of a loop as an executable program whose results are in memory that it keeps.

Each output is a new array, also if it is an input, or equal to another output: so the state of a
loop can be read from one memory while the next state is written to another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..fuse.fusion import base_of
from ..llvm.vectors import TYPES
from ..lower.core import COPY, Core, Filled, Stored, is_whole
from ..lower.indices import Range
from ..lower.lowering import Lowering
from ..trace.bodies import Body, node_of
from ..trace.program import Call, Node, Result
from ..trace.traced import Trace
from .executable import Arrays, Executable, ready
from .memory import Buffer, Memory, arranged


def program_of(body: Body, make: Callable[..., Executable] = Executable) -> Any:
    """A body as an executable program."""
    trace = Trace()
    inputs = [trace.input_like(x) for x in body.inputs]
    outputs: list[Node] = [node_of(trace, out) for out in body(inputs)]
    return make(trace.program, [x.node for x in inputs], outputs)


def extremes(lowering: Lowering) -> list[Core]:
    """The extremes of the integers that the loop around must check, as further outputs."""
    nodes = [node for r in lowering.ranges for node in r.extremes(lowering.trace)]
    return lowering.lower(nodes)


class BodyProgram(Executable):
    """The body of a loop, compiled."""

    flagging = False

    @classmethod
    def of(cls, body: Body) -> BodyProgram:
        """The program for a body."""
        return program_of(body, cls)  # type: ignore[no-any-return]

    @property
    def ranges(self) -> list[Range]:
        """The integers that the loop must check. Their extremes are the last outputs."""
        return self.lowering.ranges

    def _placed(self, outputs: list[Core]) -> list[Core]:
        outputs = [*outputs, *extremes(self.lowering)]
        seen: set[Core] = set()
        placed = []
        for x in outputs:
            while not (is_whole(x) or x is base_of(x)) or not self._is_fresh(base_of(x), seen):
                if x.dtype not in TYPES or not x.size:
                    break  # NumPy computes it, in a new array
                x = self.lowering.builder.elements(COPY, [x], x.dtype)
            seen.add(base_of(x))
            placed.append(x)
        return placed

    def _is_fresh(self, base: Core, seen: set[Core]) -> bool:
        """Whether a value has memory of its own, which no other output has."""
        if isinstance(base, Stored):
            is_computed = isinstance(base.node, Call | Result)
            return is_computed and base.node not in self.inputs and base not in seen
        return not isinstance(base, Filled) and base not in seen

    def _arrange(self) -> int:
        size = super()._arrange()
        # The outputs stay: each has a place of its own, after that of all other values.
        extra = []
        end = len(self.steps)
        for step in self.steps:
            for x in step.writes:
                if x in self._bases and x not in step.buffers:
                    step.buffers[x] = Buffer(x.shape, x.dtype, end, end)
                    extra.append(step.buffers[x])
        more = arranged(extra)
        for buffer in extra:
            buffer.offset += size
        return size + more

    @property
    def _bases(self) -> set[Core]:
        return {base_of(x) for x in self.outputs}

    def prepared(self, arrays: Sequence[Any]) -> Arrays:
        """Constants, and those of the inputs that stay the same, as the steps find them."""
        found: Arrays = {
            x: ready(x, array) if x in self._strict else array
            for x, array in zip(self.given, arrays, strict=False)
        }
        for x in self.constants:
            found[x] = ready(x, x.node.array)  # type: ignore[attr-defined]
        return found

    def run_in(self, memory: Memory, found: Arrays) -> list[Any]:
        """The outputs, in a memory."""
        for step in self.groups:
            step.run(found, memory)
        return [read(found) for read in self._readers]


class ScanBody(BodyProgram):
    """The body of a scan, which checks integers when it has ended."""

    in_native_loop = True
