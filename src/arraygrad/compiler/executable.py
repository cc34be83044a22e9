"""A program that runs by native kernels, and by NumPy's where there are none.

It is called as `interpret.Interpreter` is, and gives the same results up to rounding.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends.numpy.threads import share
from .body import body_of
from .core import Alias, Core, Elements, Filled, Reduction, Stored, View, address
from .fusion import Kernel, Plan, base_of
from .interpret import compute
from .loops import Loops
from .lowering import Lowering
from .memory import Buffer, Memory, Pool, arranged, new_array
from .native import Function, compiled, vector_bytes
from .program import Call, Constant, Node, Program
from .traced import Trace
from .vectors import Module

Arrays = dict[Core, Any]  # what is in memory


class Executable:
    """A program, compiled.

    Parameters
    ----------
    program : Program
    inputs, outputs, kept : sequence of Node
        As those of an `Interpreter`.
    """

    def __init__(
        self,
        program: Program,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        kept: Sequence[Node] = (),
    ) -> None:
        lowering = Lowering(inputs, Trace(program=program))
        self.inputs = list(inputs)
        self.outputs = lowering.lower([*outputs, *kept])
        self._given = [lowering.values[node] for node in inputs]
        self._count = len(outputs)
        self.plan = Plan(self._given, self.outputs, lowering.values.__getitem__)
        self.steps = self._steps(lowering)
        read = {x for step in self.steps for x in step.reads}
        self._constants = [
            x for x in read if isinstance(x, Stored) and isinstance(x.node, Constant)
        ]
        self._constants += [
            base
            for base in map(base_of, self.outputs)
            if isinstance(base, Stored) and isinstance(base.node, Constant)
        ]
        # What kernels read must be contiguous; so must what has other shapes.
        self._strict = {x for step in self.steps if isinstance(step, Native) for x in step.reads}
        self._strict |= {base_of(x) for x in lowering.values.values() if isinstance(x, Alias | View)}
        self._results = {base_of(x) for x in self.outputs}
        self._pool = Pool(self._arrange())

    def _steps(self, lowering: Lowering) -> list[Any]:
        module, vector = Module(), vector_bytes()
        steps: list[Any] = []
        for step in self.plan.steps:
            if isinstance(step, Kernel):
                steps.append(Native(Loops(body_of(step, self.plan.stored), module, vector)))
            else:
                steps.append(ByNumpy(step, lowering))
        native = [step for step in steps if isinstance(step, Native)]
        functions = compiled([step.loops.text for step in native], module)
        for step, function in zip(native, functions, strict=True):
            step.function = function
        return steps

    def _arrange(self) -> int:
        """Give intermediate values their places in memory."""
        last: dict[Core, int] = {}
        for index, step in enumerate(self.steps):
            for x in (*step.reads, *step.writes):
                last[x] = index
        buffers = []
        for index, step in enumerate(self.steps):
            if isinstance(step, Native):
                for x in step.writes:
                    if x not in self._results:
                        step.buffers[x] = Buffer(x.shape, x.dtype, index, last[x])
                for x in step.loops.partial:
                    shape = (step.loops.chunks, *x.shape)
                    step.parts[x] = Buffer(shape, x.dtype, index, index)
                buffers += [*step.buffers.values(), *step.parts.values()]
        return arranged(buffers)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for some inputs."""
        found: Arrays = {}
        for x, array in zip(self._given, arrays, strict=True):
            found[x] = self._ready(x, array)
        for x in self._constants:
            found[x] = self._ready(x, x.node.array)  # type: ignore[attr-defined]
        memory = self._pool.take()
        try:
            for step in self.steps:
                step.run(found, memory)
                if isinstance(step, ByNumpy):
                    found[step.value] = self._ready(step.value, found[step.value])
            return self._own(found)
        finally:
            self._pool.give_back(memory)

    def _ready(self, x: Core, array: Any) -> Any:
        """An array as kernels can read it."""
        if x not in self._strict or isinstance(array, tuple):
            return array
        array = np.asarray(array)
        if array.flags.c_contiguous and array.flags.aligned:
            return array
        return np.array(array, order="C")

    def _own(self, found: Arrays) -> list[Any]:
        """The outputs. Only those that are kept may share memory with something else."""
        results: list[Any] = []
        taken: set[Core] = set()
        for i, x in enumerate(self.outputs):
            array = array_of(x, found)
            is_new = isinstance(x, Elements | Reduction) and x not in taken
            if i < self._count and not is_new:
                array = np.array(array, order="C")
            taken.add(x)
            results.append(array)
        return results


class Native:
    """A kernel.

    Attributes
    ----------
    reads, writes : list of Core
    buffers : dict of Core to Buffer
        Where what it writes is, unless it is a result.
    parts : dict of Core to Buffer
        Where the chunks collect their parts of a fold.
    """

    def __init__(self, loops: Loops) -> None:
        self.loops = loops
        self.function: Function
        body = loops.body
        written = [s.at.memory for s in body.stores] + [t.at.memory for t in body.totals]
        self.writes = list(dict.fromkeys(written))
        self.reads = [x for x in loops.memory if x not in set(written)]
        self.buffers: dict[Core, Buffer] = {}
        self.parts: dict[Core, Buffer] = {}
        self._folds = {t.at.memory: t.fold for t in body.totals}
        self._table = ctypes.c_void_p * len(loops.memory)

    def run(self, found: Arrays, memory: Memory) -> None:
        """Run the kernel on arrays, and add those that it writes."""
        for x in self.writes:
            buffer = self.buffers.get(x)
            found[x] = new_array(x.shape, x.dtype) if buffer is None else memory.array(buffer)
        parts = {x: memory.array(buffer) for x, buffer in self.parts.items()}
        for x, fold in self.loops.collected:
            parts.get(x, found[x]).fill(fold.start)
        table = self._table(*[_pointer(parts.get(x, found[x])) for x in self.loops.memory])
        call, chunks = self.function.call, self.loops.chunks
        if chunks == 1:
            call(table, 0)
        else:
            share(lambda chunk: call(table, chunk), chunks)
        for x, part in parts.items():
            self._folds[x].ufunc.reduce(part, axis=0, out=found[x])


class ByNumpy:
    """An op that its NumPy kernel computes."""

    def __init__(self, node: Node, lowering: Lowering) -> None:
        self._node = node
        self.value = lowering.values[node]
        self._args = [(a, lowering.values[a]) for a in node.nodes]
        self.reads = [base_of(x) for _, x in self._args]
        self.writes: list[Core] = []

    def run(self, found: Arrays, memory: Memory) -> None:
        """Compute the op, and add its result."""
        out = compute(self._node, {a: array_of(x, found) for a, x in self._args})
        if isinstance(self._node, Call) and self._node.op.multiple:
            out = tuple(map(_lasting, out))
        found[self.value] = _lasting(out)


def _lasting(out: Any) -> Any:
    """A result that shares no memory with the arguments, which may be overwritten later."""
    if isinstance(out, tuple):
        return out
    out = np.asarray(out)
    return out if out.base is None else np.array(out)


def array_of(x: Core, found: Arrays) -> Any:
    """A value in memory as a NumPy array."""
    if isinstance(x, Filled):
        return np.broadcast_to(x.value, x.shape)
    if isinstance(x, Alias):
        return array_of(x.args[0], found).reshape(x.shape)
    if isinstance(x, View):
        source = x.args[0]
        start, steps = address(x.map, source.shape)
        unit = x.dtype.itemsize
        strides = [steps.get(axis, 0) * unit for axis in range(len(x.shape))]
        base = array_of(source, found)
        return np.ndarray(x.shape, x.dtype, base, start * unit, strides)
    return found[x]


def _pointer(array: Any) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]
