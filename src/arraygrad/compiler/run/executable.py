"""A program that runs by native kernels, and by NumPy's where there are none.

Its results are those of `interpret`, up to rounding.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..emit.folds import bits_of, combine_text, fill_text
from ..emit.nests import Nest
from ..emit.products import Tiles, is_small
from ..fuse.fusion import Kernel, Plan, base_of
from ..fuse.kernels import body_of
from ..fuse.results import own_results
from ..llvm.native import compiled, vector_bytes, vector_registers
from ..llvm.vectors import Module
from ..lower.core import (
    Alias,
    Core,
    Elements,
    Filled,
    Product,
    Reduction,
    Stored,
    View,
    address,
    is_whole,
)
from ..lower.lowering import Lowering
from ..trace.bodies import loop_of
from ..trace.interpret import compute
from ..trace.program import Call, Constant, Node, Program, Result, Shape
from ..trace.traced import Trace
from .groups import Group, grouped
from .memory import Buffer, Memory, Pool, arranged, new_array

Arrays = dict[Core, Any]  # what is in memory


class Executable:
    """A program, compiled.

    Parameters
    ----------
    program : Program
    inputs : sequence of Node
        The nodes that are given in a call; the rest of the program computes on them.
    outputs : sequence of Node
        What the program returns. These arrays share no memory with each other, or with the inputs.
    kept : sequence of Node
        What it returns after these, as it was computed: it may share memory with anything.

    Attributes
    ----------
    given, outputs : list of Core
        The values of the inputs, and of the outputs and what is kept.
    constants : list of Core
        The arrays from outside that it reads.
    results : list of Node
        The outputs and what is kept.
    steps : list of Native and ByNumpy
    groups : list
        The same steps, with one for all native steps that follow each other.
    flags : list of Core
        What is false after a run, unless integers of an index array were out of range.
    llvm : str
        The text of all kernels.
    pool : Pool
        The memory for intermediate values.
    """

    is_checked = False  # whether loops inside compare their steps with NumPy
    flagging = True  # whether integers are checked while they are used, not before
    in_native_loop = False  # whether integers are checked by the loop around

    def __init__(
        self,
        program: Program,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        kept: Sequence[Node] = (),
    ) -> None:
        lowering = Lowering(
            inputs, Trace(program=program), self.flagging, in_loop=self.in_native_loop
        )
        self._program = program
        self.inputs = list(inputs)
        self.results = [*outputs, *kept]
        self.kept = list(kept)
        self.lowering = lowering
        self._count = len(outputs)
        self.outputs = self._placed(lowering.lower([*outputs, *kept]))
        self.given = [lowering.values[node] for node in inputs]
        self.flags = lowering.flags
        self.plan = Plan(self.given, [*self.flags, *self.outputs], lowering.values.__getitem__)
        self.steps = self._steps(lowering)
        read = {x for step in self.steps for x in step.reads}
        read.update(map(base_of, self.outputs))
        self.constants = [
            x
            for x in read.difference(self.given)
            if isinstance(x, Stored) and isinstance(x.node, Constant)
        ]
        # What kernels read must be contiguous; so must what has other shapes.
        self._strict = {x for step in self.steps if isinstance(step, Native) for x in step.reads}
        self._strict |= {
            base_of(x) for x in lowering.values.values() if isinstance(x, Alias | View)
        }
        for step in self.steps:
            if isinstance(step, ByNumpy):
                step.is_strict = step.value in self._strict
        self._checked = [x for x in self.given if x in self._strict]
        # For each output, whether it is a new array that nobody else has.
        seen: set[Core] = set()
        self._is_new: list[bool] = []
        for i, x in enumerate(self.outputs):
            base = base_of(x) if is_whole(x) else x
            is_new = isinstance(base, Elements | Reduction | Product) and base not in seen
            self._is_new.append(is_new or i >= self._count)
            seen.add(base)
        self._readers = [reader(x) for x in self.outputs]
        self.pool = Pool(self._arrange())
        self.groups = grouped(self.steps, _is_native)

    def _placed(self, outputs: list[Core]) -> list[Core]:
        """The outputs as they will be in memory."""
        results, kept = outputs[: self._count], outputs[self._count :]
        lowering = self.lowering
        return [*own_results(results, kept, lowering.builder, lowering.values), *kept]

    def _steps(self, lowering: Lowering) -> list[Any]:
        module, vector = Module(), vector_bytes()
        steps: list[Any] = []
        for step in self.plan.steps:
            if isinstance(step, Kernel):
                nest = Nest(body_of(step, self.plan.stored), module, vector)
                steps.append(Native(nest, module))
            elif isinstance(step, Product) and is_small(step):
                steps.append(Native(Tiles(step, module, vector, vector_registers()), module))
            elif isinstance(step, Product):
                steps.append(ByBlas(step))
            elif isinstance(step, Result):
                steps.append(OneOfSeveral(step, lowering))
            else:
                loop = loop_of(step)
                if loop is None:
                    steps.append(ByNumpy(step, lowering))
                else:
                    steps.append(loop.step(step, lowering, self.is_checked))
        native = [step for step in steps if isinstance(step, Native)]
        texts = [kernel.nest.text for kernel in native]
        named = [t.replace("@NAME(", f"@step{i}(", 1) for i, t in enumerate(texts)]
        self.llvm = module.text(named)
        launches = [launch for step in native for launch in step.launches]
        functions = compiled([launch.text for launch in launches], module)
        for launch, function in zip(launches, functions, strict=True):
            launch.function = function
        return steps

    def _arrange(self) -> int:
        """Give intermediate values their places in memory."""
        last: dict[Core, int] = {}
        for index, step in enumerate(self.steps):
            for x in (*step.reads, *step.writes):
                last[x] = index
        last.update((x, len(self.steps)) for x in map(base_of, self.flags))
        buffers = []
        results = {base_of(x) for x in self.outputs}
        for x, index in last.items():
            if isinstance(x, Stored) and x not in results:
                self.steps[index].last.append(x)
        for index, step in enumerate(self.steps):
            for x in step.writes:
                if x not in results:
                    step.buffers[x] = Buffer(x.shape, x.dtype, index, last[x])
                    buffers.append(step.buffers[x])
            if isinstance(step, Native):
                for x in (*step.nest.partial, *step.nest.scratch):
                    shape = (step.nest.chunks, *x.shape)
                    step.parts[x] = Buffer(shape, x.dtype, index, index)
                buffers += step.parts.values()
        return arranged(buffers)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for some inputs."""
        return self.run(arrays)

    def fits(self, arrays: Sequence[Any]) -> bool:
        """Whether these are NumPy arrays with the shapes and dtypes of the inputs."""
        if len(arrays) != len(self.given):
            return False
        for a, x in zip(arrays, self.given, strict=True):
            if type(a) is not np.ndarray or a.shape != x.shape or a.dtype != x.dtype:
                return False
        return True

    def run(self, arrays: Sequence[Any], after: Callable[..., None] | None = None) -> list[Any]:
        """The outputs. ``after(found, written)`` is called after each step, if it is given."""
        found: Arrays = dict(zip(self.given, arrays, strict=True))
        for x in self._checked:
            found[x] = ready(x, found[x])
        for x in self.constants:
            found[x] = ready(x, x.node.array)  # type: ignore[attr-defined]
        memory = self.pool.take()
        for step in self.groups if after is None else self._one_by_one:
            step.run(found, memory)
            if after is not None:
                after(found, step.writes)
            for x in step.last:
                del found[x]
        if any(found[base_of(x)] for x in self.flags):
            return self._careful.run(arrays, after)
        results = [
            read(found) if is_new else np.array(read(found), order="C")
            for read, is_new in zip(self._readers, self._is_new, strict=True)
        ]
        # Not after an interrupt, when a thread may still write to it.
        self.pool.give_back(memory)
        return results

    @functools.cached_property
    def _one_by_one(self) -> list[Any]:
        """The steps, with a group for each native one."""
        return [Group([step]) if _is_native(step) else step for step in self.steps]

    @functools.cached_property
    def _careful(self) -> Executable:
        """The same program, with steps that check integers before they are used."""
        outputs = self.results[: self._count]
        return _Careful(self._program, self.inputs, outputs, self.kept)

    @property
    def memory(self) -> int:
        """The bytes of all intermediate values, of which some share memory."""
        return self.pool.size


class _Careful(Executable):
    """A program that checks the integers of index arrays first, and raises an `IndexError`."""

    flagging = False


@dataclass
class Launch:
    """A native function with the entries of its table.

    An entry is a number; or a value, and whether it is the memory for its parts that is meant.
    """

    text: str
    entries: list[int | tuple[Core, bool]]
    chunks: int = 1
    function: Any = None


class Native:
    """A kernel.

    Attributes
    ----------
    reads, writes : list of Core
    last : list of Core
        What no later step reads, and NumPy's memory holds.
    buffers : dict of Core to Buffer
        Where what it writes is, unless it is a result.
    parts : dict of Core to Buffer
        Where the chunks collect their parts of a fold, and the memory that they need meanwhile.
    launches : list of Launch
        The functions to run: memory for folds is filled first, and parts are combined at the end.
    """

    def __init__(self, nest: Nest | Tiles, module: Module) -> None:
        self.nest = nest
        self.writes = nest.written
        others = {*nest.written, *nest.scratch}
        self.reads = [x for x in nest.memory if x not in others]
        self.buffers: dict[Core, Buffer] = {}
        self.parts: dict[Core, Buffer] = {}
        self.last: list[Core] = []
        split = {*nest.partial, *nest.scratch}
        self.launches: list[Launch] = []
        for x, fold in nest.collected:
            size = x.size * (nest.chunks if x in split else 1)
            entries: list[Any] = [(x, x in split), size, bits_of(fold.start, x.dtype)]
            self.launches.append(Launch(fill_text(module, x.dtype), entries))
        own: list[Any] = [(x, x in split) for x in nest.memory]
        self.launches.append(Launch(nest.text, own + nest.numbers, nest.chunks))
        for x in nest.partial:
            text = combine_text(module, nest.folds[x], x.dtype)
            self.launches.append(Launch(text, [(x, True), (x, False), nest.chunks, x.size]))


def _is_native(step: Any) -> bool:
    return isinstance(step, Native)


class ByBlas:
    """A large matrix product, by the BLAS library that NumPy has."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self._args = [reader(a) for a in product.args]
        self.reads = [base_of(a) for a in product.args]
        self.writes: list[Core] = [product]
        self.buffers: dict[Core, Buffer] = {}
        self.last: list[Core] = []

    def run(self, found: Arrays, memory: Memory) -> None:
        """Compute the product, and add it."""
        x = self.product
        buffer = self.buffers.get(x)
        out = new_array(x.shape, x.dtype) if buffer is None else memory.array(buffer)
        a, b = (read(found) for read in self._args)
        found[x] = np.matmul(a, b, out=out)


class ByNumpy:
    """An op that its NumPy kernel computes."""

    def __init__(self, node: Node, lowering: Lowering) -> None:
        self.node = node
        self.value = lowering.values[node]
        self._args = [(a, reader(lowering.values[a])) for a in node.nodes]
        self.reads = [base_of(lowering.values[a]) for a in node.nodes]
        self.writes: list[Core] = []
        self.last: list[Core] = []
        self.is_strict = False  # whether kernels read the result

    def run(self, found: Arrays, memory: Memory) -> None:
        """Compute the op, and add its result."""
        out = compute(self.node, {a: read(found) for a, read in self._args})
        if isinstance(self.node, Call) and self.node.op.multiple:
            found[self.value] = tuple(map(_lasting, out))
        else:
            out = _lasting(out)
            found[self.value] = ready(self.value, out) if self.is_strict else out


class OneOfSeveral(ByNumpy):
    """One result of an op that has several. It shares no memory with anything else."""

    def run(self, found: Arrays, memory: Memory) -> None:
        """Add the result."""
        assert isinstance(self.node, Result)
        ((_, read),) = self._args
        out = read(found)[self.node.index]
        found[self.value] = ready(self.value, out) if self.is_strict else out


def ready(x: Core, array: Any, lead: Shape = ()) -> Any:
    """An array as kernels can read it. They compute addresses in it, so its shape is checked.

    `lead` are the lengths of axes in front of those of the value.
    """
    if type(array) is not np.ndarray:
        array = np.asarray(array)
    shape = (*lead, *x.shape)
    if array.shape != shape or array.dtype != x.dtype:
        raise RuntimeError(
            f"an array of shape {array.shape} and dtype {array.dtype} takes the place of one of "
            f"shape {shape} and dtype {x.dtype} that a function was compiled for: a user's op "
            "returns other shapes than before, or an array from outside has been changed in shape"
        )
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.array(array, order="C")


def _lasting(out: Any) -> Any:
    """A result that shares no memory with the arguments, which may be overwritten later."""
    out = np.asarray(out)
    return out if out.base is None else np.array(out)


def reader(x: Core) -> Callable[[Arrays], Any]:
    """A function that finds a value in memory, as a NumPy array."""
    if isinstance(x, Filled):
        filled = np.broadcast_to(x.value, x.shape)
        return lambda found: filled
    if not isinstance(x, Alias | View):
        return operator.itemgetter(x)
    base, shape, dtype = reader(x.args[0]), x.shape, x.dtype
    if isinstance(x, Alias) or is_whole(x):
        return lambda found: base(found).reshape(shape)
    start, steps = address(x.map, x.args[0].shape)
    offset = start * dtype.itemsize
    distances = [steps.get(axis, 0) * dtype.itemsize for axis in range(len(shape))]
    return lambda found: np.ndarray(shape, dtype, base(found), offset, distances)
