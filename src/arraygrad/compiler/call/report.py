"""What a compiled function consists of, as text for people: for `Compiled.explain` and others."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..emit.products import Tiles
from ..fuse.fusion import Kernel, base_of
from ..fuse.instructions import Address
from ..llvm.native import assembly
from ..lower.core import Core, Product, Scalar
from ..run.executable import ByBlas, ByNumpy, Executable, Native, OneOfSeveral
from ..run.loop_steps import LoopStep
from ..trace.program import Call, Node, needed, text


def program_text(executable: Executable) -> str:
    """The program before it was made native: one line for each value."""
    return text(executable.results)


def llvm_text(executable: Executable) -> str:
    """All native code, as LLVM reads it: kernels, and loops with those of their bodies."""
    return "\n".join(f"; {title}\n{code}" for title, code in _modules(executable))


def assembly_text(executable: Executable) -> str:
    """All native code, as the processor reads it."""
    return "\n".join(f"# {title}\n{assembly(code)}" for title, code in _modules(executable))


def _modules(executable: Executable, title: str = "") -> list[tuple[str, str]]:
    """The native code of a program and of the loops in it: titles, and LLVM's text."""
    found = [(f"kernels{title}", executable.llvm)] if "define" in executable.llvm else []
    for number, step in enumerate(executable.steps):
        if isinstance(step, LoopStep):
            of = f" of step {number}{title}"
            for part, name in step.parts():
                if isinstance(part, Executable):
                    found += _modules(part, f" of the {name}{of}")
                else:
                    found.append((f"the {name}{of}", part.text))
    return found


LARGE = 1 << 16  # bytes of an array from outside that `explain` names


def explanation(executable: Executable, arrays: Sequence[Any], compared: Sequence[Any] = ()) -> str:
    """The steps of a program: what they compute, how much memory they touch, how long they take.

    `compared` are the arrays from outside that are compared in each call.
    """
    times = _times(executable, arrays)
    lines = []
    for number, (step, seconds) in enumerate(zip(executable.steps, times, strict=True)):
        lines.append(f"step {number}: {_described(step)}")
        lines += [f"    {reason}" for reason in _reasons(executable, number)]
        if isinstance(step, Native):
            traffic, work = _bytes([*step.reads, *step.writes]), _work(step)
            lines.append(f"    memory {_size(traffic)}, {work:,} operations")
            rates = f", {traffic / seconds / 1e9:,.1f} GB/s, {work / seconds / 1e9:,.1f} Gop/s"
        else:
            rates = ""
        lines.append(f"    {seconds * 1e6:,.1f} µs{rates}")
    fused = _fused_bytes(executable)
    single = sum(size for _, size, _ in traffic_of(executable).ops)
    lines.append(
        f"in all: {len(executable.steps)} steps, {sum(times) * 1e6:,.1f} µs; kernels read and "
        f"write {_size(fused)}, op by op it would be {_size(single)}; intermediate values take "
        f"{_size(executable.memory)}"
    )
    for array in compared:
        if array.nbytes >= LARGE:
            lines.append(
                f"in each call, an array from outside of shape {array.shape} and dtype "
                f"{array.dtype} is compared with what it was: pass it as an argument, or make it a "
                "tensor by ag.asarray()"
            )
    return "\n".join(lines)


def not_native(executable: Executable) -> list[str]:
    """The steps that NumPy computes, and why; those in the bodies of loops, too."""
    found = []
    for number, step in enumerate(executable.steps):
        if isinstance(step, LoopStep):
            found += [f"in {step.what()}: {line}" for line in _reasons(executable, number)]
        elif isinstance(step, ByNumpy) and not isinstance(step, OneOfSeveral):
            found.append("; ".join([_described(step), *_reasons(executable, number)]))
    return found


def steps_of(executable: Executable) -> dict[Node, str]:
    """For each op of a program that is a part of one step: the number of the step, and its kind."""
    kinds: dict[Any, str] = {}  # by ops that are steps, and by values of kernels and products
    for number, (step, planned) in enumerate(
        zip(executable.steps, executable.plan.steps, strict=True)
    ):
        kind = "native" if isinstance(step, Native) else "BLAS" if isinstance(step, ByBlas) else ""
        kind = kind or ("a loop" if isinstance(step, LoopStep) else "NumPy")
        members = planned.values if isinstance(planned, Kernel) else [planned]
        kinds |= dict.fromkeys(members, f"step {number}, {kind}")
    calls = [n for n in needed(executable.results, executable.inputs) if isinstance(n, Call)]
    values = executable.lowering.values
    found = {n: kinds.get(n) or kinds.get(base_of(values[n])) for n in calls}
    return {node: step for node, step in found.items() if step is not None}


def _reasons(executable: Executable, number: int) -> list[str]:
    """Why a step is one of its own."""
    step = executable.steps[number]
    if isinstance(step, LoopStep):
        bodies = [part for part, _ in step.parts() if isinstance(part, Executable)]
        return [line for body in bodies for line in not_native(body)]
    if isinstance(step, ByNumpy):
        node = step.node
        reason = executable.lowering.reasons.get(node)
        if isinstance(node, Call) and not node.op.is_library:
            reason = "the op is not one of arraygrad"
        elif isinstance(node, Call) and node.op.multiple:
            reason = "the op has several results"
        return [f"not native: {reason}"] if reason else []
    found = executable.plan.reasons.get(number, ())
    return [f"not a part of step {index}: {reason}" for index, reason in found]


class Traffic(NamedTuple):
    """The memory traffic of a program.

    Attributes
    ----------
    ops : list of (str, int, int)
        Of each op with native code: its name, the bytes that it would read and write by itself,
        and the step that computes it.
    kernels : int
        The bytes that the kernels read and write.
    """

    ops: list[tuple[str, int, int]]
    kernels: int


def traffic_of(executable: Executable) -> Traffic:
    """The memory traffic of a program, op by op and as it was compiled."""
    steps = {}
    for number, step in enumerate(executable.plan.steps):
        for x in step.values if isinstance(step, Kernel) else ():
            steps[x] = number
    ops, last = [], 0
    for node in _native_calls(executable):
        # What is cheap is a part of each kernel that reads it; it counts for the one before.
        last = steps.get(base_of(executable.lowering.values[node]), last)
        ops.append((node.op.name, sum(_node_bytes(a) for a in [node, *node.nodes]), last))
    return Traffic(ops, _fused_bytes(executable))


def _fused_bytes(executable: Executable) -> int:
    native = [step for step in executable.steps if isinstance(step, Native)]
    return sum(_bytes([*step.reads, *step.writes]) for step in native)


def _described(step: Any) -> str:
    if isinstance(step, LoopStep):
        return step.what()
    if isinstance(step, OneOfSeveral):
        return f"one of several results, {step.node.what()}"
    if isinstance(step, ByNumpy):
        return f"NumPy computes {step.node.what()}"
    if isinstance(step, ByBlas):
        return f"BLAS computes the product of matrices {_factors(step.product)}"
    if isinstance(step.nest, Tiles):
        shared = f", in {step.nest.chunks} chunks" if step.nest.chunks > 1 else ""
        rows, columns = step.nest.tile.rows, step.nest.width
        of = _factors(step.nest.product)
        return f"product of matrices {of}, by tiles of {rows} × {columns} elements{shared}"
    body = step.nest.body
    names = ["gather" for i in body.instructions if isinstance(i.does, Address) and i.does.along]
    names += [i.does.name for i in body.instructions if hasattr(i.does, "name")]
    names += ["scatter" if t.indices else t.fold.name for t in body.totals]
    passes = 1 + max((i.stage for i in body.instructions), default=0)
    loops = " × ".join(map(str, body.dims)) if body.limit is None else str(body.limit)
    shared = f", in {step.nest.chunks} chunks" if step.nest.chunks > 1 else ""
    many = f", {passes} passes over each line" if passes > 1 else ""
    return f"kernel over {loops} elements{many}{shared}: {', '.join(names) or 'copy'}"


def _times(executable: Executable, arrays: Sequence[Any]) -> list[float]:
    """The shortest time of each step, in three runs."""
    best = [math.inf] * len(executable.steps)
    for _ in range(3):
        started = time.perf_counter()
        passed: list[float] = []
        executable.run(arrays, lambda *_, passed=passed: passed.append(time.perf_counter()))
        for i, (before, after) in enumerate(itertools.pairwise([started, *passed])):
            best[i] = min(best[i], after - before)
    return best


def _bytes(values: Sequence[Core]) -> int:
    return sum(x.size * x.dtype.itemsize for x in values)


def _native_calls(executable: Executable) -> list[Call]:
    """The ops that kernels compute."""
    numpy = {step.node for step in executable.steps if isinstance(step, ByNumpy)}
    nodes = needed(executable.results, executable.inputs)
    calls = [node for node in nodes if isinstance(node, Call) and not node.op.multiple]
    return [node for node in calls if node not in numpy]


def _node_bytes(node: Node) -> int:
    return math.prod(node.shape) * node.dtype.itemsize if node.dtype is not None else 0


def _factors(product: Product) -> str:
    return " and ".join(" × ".join(map(str, a.shape)) for a in product.args)


def _work(step: Native) -> int:
    """The number of scalar functions that a kernel computes."""
    if isinstance(step.nest, Tiles):
        return 2 * step.nest.product.count
    body = step.nest.body
    each = sum(isinstance(i.does, Scalar) for i in body.instructions if i.varies)
    each += len(body.totals) + sum(i.stage > 0 and not i.varies for i in body.instructions)
    return each * (body.limit or math.prod(body.dims))


def _size(count: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 10_000:
            return f"{count:,.0f} {unit}"
        count //= 1000
    return f"{count:,.0f} GB"
