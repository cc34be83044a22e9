"""What a compiled function consists of, as text for people: for `Compiled.explain` and others."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from typing import Any

from .core import Core, Product, Scalar
from .executable import ByBlas, ByNumpy, Executable, Native
from .native import assembly
from .products import Tiles
from .program import Call, Node, needed, text


def program_text(executable: Executable) -> str:
    """The program before it was made native: one line for each value."""
    return text(executable.results)


def llvm_text(executable: Executable) -> str:
    """The kernels, as LLVM reads them."""
    return executable.llvm


def assembly_text(executable: Executable) -> str:
    """The kernels, as the processor reads them."""
    return assembly(executable.llvm)


def explanation(executable: Executable, arrays: Sequence[Any]) -> str:
    """The steps of a program: what they compute, how much memory they touch, how long they take."""
    times = _times(executable, arrays)
    lines = []
    for number, (step, seconds) in enumerate(zip(executable.steps, times, strict=True)):
        lines.append(f"step {number}: {_described(step)}")
        traffic = _bytes([*step.reads, *step.writes]) if isinstance(step, Native) else None
        if traffic is not None:
            lines.append(f"    memory {_size(traffic)}, {_work(step):,} operations")
        lines.append(f"    {seconds * 1e6:,.1f} µs")
    fused = sum(_bytes([*s.reads, *s.writes]) for s in executable.steps if isinstance(s, Native))
    single = _traffic_op_by_op(executable)
    lines.append(
        f"in all: {len(executable.steps)} steps, {sum(times) * 1e6:,.1f} µs; kernels read and "
        f"write {_size(fused)}, op by op it would be {_size(single)}; intermediate values take "
        f"{_size(executable.memory)}"
    )
    return "\n".join(lines)


def _described(step: Any) -> str:
    if isinstance(step, ByNumpy):
        return f"NumPy computes {step.node.what()}"
    if isinstance(step, ByBlas):
        return f"BLAS computes the product of matrices {_factors(step.product)}"
    if isinstance(step.loops, Tiles):
        shared = f", in {step.loops.chunks} chunks" if step.loops.chunks > 1 else ""
        rows, columns = step.loops.tile.rows, step.loops.width
        of = _factors(step.loops.product)
        return f"product of matrices {of}, by tiles of {rows} × {columns} elements{shared}"
    body = step.loops.body
    names = [i.does.name for i in body.instructions if hasattr(i.does, "name")]
    names += [t.fold.name for t in body.totals]
    passes = 1 + max((i.stage for i in body.instructions), default=0)
    loops = " × ".join(map(str, body.dims)) if body.limit is None else str(body.limit)
    shared = f", in {step.loops.chunks} chunks" if step.loops.chunks > 1 else ""
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


def _traffic_op_by_op(executable: Executable) -> int:
    """The bytes that the native ops would read and write, each by itself."""
    total = 0
    numpy = {step.node for step in executable.steps if isinstance(step, ByNumpy)}
    for node in needed(executable.results, executable.inputs):
        if isinstance(node, Call) and node not in numpy and not node.op.multiple:
            total += sum(_node_bytes(a) for a in [node, *node.nodes])
    return total


def _node_bytes(node: Node) -> int:
    return math.prod(node.shape) * node.dtype.itemsize if node.dtype is not None else 0


def _factors(product: Product) -> str:
    return " and ".join(" × ".join(map(str, a.shape)) for a in product.args)


def _work(step: Native) -> int:
    """The number of scalar functions that a kernel computes."""
    if isinstance(step.loops, Tiles):
        return 2 * step.loops.product.count
    body = step.loops.body
    each = sum(isinstance(i.does, Scalar) for i in body.instructions if i.varies)
    each += len(body.totals) + sum(i.stage > 0 and not i.varies for i in body.instructions)
    return each * (body.limit or math.prod(body.dims))


def _size(count: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 10_000:
            return f"{count:,.0f} {unit}"
        count //= 1000
    return f"{count:,.0f} GB"
