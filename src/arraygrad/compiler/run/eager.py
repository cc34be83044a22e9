"""Kernels for eager mode: functions of large arrays, compiled once for arrays of all lengths.

A kernel is made for a key: which ops, on which dtypes, for which arguments that have one value.
`backends.numpy.native` says when it is used. NumPy may warn of a result that is not finite: so a
kernel reports it, and NumPy computes it again.
"""

from __future__ import annotations

import ctypes
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arrays import traced as blocks
from ...backends.numpy.threads import get_num_threads, is_alone
from ...core.locks import held, once
from ...ops.define.op import Op
from ..emit.nests import Nest
from ..fuse.fusion import Kernel, Plan, base_of
from ..fuse.kernels import BLOCK, body_of
from ..llvm.native import compiled, vector_bytes
from ..llvm.objects import reference
from ..llvm.vectors import FLOATS, TYPES, Module, Value, Writer
from ..lower import scalars
from ..lower.core import Elements, Fold, Reduction, is_whole
from ..lower.lowering import Lowering
from ..trace.inference import stand_in
from ..trace.program import Shape
from ..trace.traced import Trace
from .pool import Step, pool_cell, prepare, run_address

LENGTH = 1 << 20  # of the arrays that a kernel is traced with; it is not in the kernel
SMALLEST_CHUNK = 1 << 16  # elements
CHUNKS = 16  # of a kernel with sums: so these do not depend on the number of threads
MOST = 512  # kernels that are made
MOST_ONCE = 32  # of them, those that were used only once: then functions keep changing

Type = tuple[Shape, Any]  # a shape, in which LENGTH stands for any length, and a dtype


class NotOpen(Exception):
    """There is no single kernel for a function."""


class OpenKernel:
    """A native function of arrays whose first axis has any length.

    Parameters
    ----------
    function : callable
        Takes traced arrays, and returns a tuple of them.
    types : sequence of Type
        Those of the arguments. An argument of shape () has one value for all elements.
    reports : bool
        Whether `run` looks for results that NumPy may warn of.

    Attributes
    ----------
    types : list of Type
        Those of the results.
    """

    def __init__(
        self, function: Callable[..., Any], types: Sequence[Type], reports: bool = True
    ) -> None:
        trace = Trace()
        given = [trace.input(stand_in(*one)) for one in types]
        lowering = Lowering([x.node for x in given], trace)
        outputs = lowering.lower([x.node for x in function(*given)])
        inputs = [lowering.values[x.node] for x in given]
        self.types = [(x.shape, x.dtype) for x in outputs]
        if any(x.shape[:1] != (LENGTH,) for x in outputs):
            raise NotOpen  # one value for all elements, of which the kernel would write the first
        found = list(outputs)
        if reports:
            if len(outputs) != 1 or TYPES[outputs[0].dtype] not in FLOATS:
                raise NotOpen
            axes = range(len(outputs[0].shape))
            found.append(lowering.builder.reduction(_FINITE, outputs[0], axes))
        plan = Plan(inputs, found, lowering.values.__getitem__)
        bases = [base_of(x) for x in found]
        is_plain = len(set(bases)) == len(bases) and all(
            isinstance(b, Elements | Reduction) and (x is b or is_whole(x))
            for x, b in zip(found, bases, strict=True)
        )
        if not is_plain or len(plan.steps) != 1 or not isinstance(plan.steps[0], Kernel):
            raise NotOpen
        module = Module()
        self._nest = Nest(
            body_of(plan.steps[0], plan.stored, is_open=True), module, vector_bytes(), is_open=True
        )
        (self._function,) = compiled([self._nest.text], module)
        self._scratch = self._nest.scratch
        places = {x: i for i, x in enumerate([*inputs, *bases, *self._scratch])}
        if not all(x in places for x in self._nest.memory):
            raise NotOpen  # it reads an array from outside
        self._order = [places[x] for x in self._nest.memory]
        self._table = ctypes.c_void_p * (2 + len(self._order))
        folds = {t.at.memory: t.fold for t in self._nest.body.totals}
        self._folded = [(places[x], x, folds[x]) for x in self._nest.partial]
        self._reports = reports
        self._sums = len(self._folded) > reports

    def run(self, arrays: Sequence[Any], results: Sequence[Any], length: int) -> bool:
        """Compute the results of arrays of some length; whether NumPy warns of none of them.

        All arrays are contiguous, or have one value. A result may be an argument.
        """
        body = self._nest.body
        per_step = BLOCK if body.limit is not None else body.dims[-1]
        if body.limit is not None and len(arrays[0].shape) > 1:
            length *= arrays[0].shape[-1]
        steps = -(-length // BLOCK) if body.limit is not None else length
        chunks = CHUNKS if self._sums else _chunks_for(get_num_threads())
        step = max(-(-steps // chunks), -(-SMALLEST_CHUNK // per_step))
        count = -(-steps // step)
        found = [*arrays, *results]
        if self._reports:
            found.append(None)
        found += [np.empty((count, *x.shape), x.dtype) for x in self._scratch]
        parts = []
        for place, x, fold in self._folded:
            part = np.full((count, *x.shape), fold.start, x.dtype)
            parts.append((part, fold, found[place]))
            found[place] = part
        given = [found[i] for i in self._order]
        table = self._table(length, step, *map(reference, given))
        _run(self._function, table, count)
        if self._reports and np.isnan(parts.pop()[0]).any():
            return False
        for part, fold, result in parts:
            fold.ufunc.reduce(part, axis=0, out=result)
        return True


def _chunks_for(threads: int) -> int:
    """Into how many parts to cut the work of some threads, one of which may be slower."""
    return 1 if threads == 1 else 4 * threads


def _run(function: Any, table: Any, chunks: int) -> None:
    """Run all chunks of a kernel, on several threads if these are free."""
    if chunks == 1 or is_alone():
        for chunk in range(chunks):
            function.call(table, chunk)
        return
    if pool_cell.value is None:
        prepare()
    step = Step(function.address, ctypes.addressof(table), chunks)
    _runner()(ctypes.addressof(step), 1, pool_cell.value)


@once
def _runner() -> Any:
    arguments = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    return ctypes.CFUNCTYPE(None, *arguments)(run_address())


def _all_finite(w: Writer, finite: Value, x: Value) -> Value:
    """One, if all numbers so far are finite; NaN otherwise. It takes one instruction."""
    return w.math("fma", x, w.like(x, 0.0), finite)


_FINITE = Fold("finite", _all_finite, 1.0, np.maximum)


# --- kernels by key ------------------------------------------------------------------------------

_kernels: dict[Any, OpenKernel | None] = {}
_once: set[Any] = set()  # the keys of kernels that were used once
failures: Counter[str] = Counter()  # errors of the compiler, which made NumPy compute instead
_lock = threading.Lock()


def kernel(key: Any, make: Callable[[], OpenKernel]) -> OpenKernel | None:
    """The kernel for a key; None if there is none, or if too many different ones were made."""
    try:
        found = _kernels[key]
    except KeyError:
        pass
    else:
        _once.discard(key)
        return found
    return held(_lock, _made, key, make)


def _made(key: Any, make: Callable[[], OpenKernel]) -> OpenKernel | None:
    if key not in _kernels:
        if len(_kernels) >= MOST or len(_once) >= MOST_ONCE:
            return None
        try:
            _kernels[key] = make()
            _once.add(key)
        except NotOpen:
            _kernels[key] = None
        except Exception as error:  # whatever the reason is, NumPy computes it
            _kernels[key] = None
            failures[f"{type(error).__name__}: {error}"] += 1
    return _kernels[key]


class Operands:
    """The arguments of an elementwise function, as kernels take them.

    Attributes
    ----------
    key : tuple or None
        What a kernel depends on; None if there is no kernel for such arguments.
    types : list of Type
    arrays : list of arrays
    """

    def __init__(self, given: Sequence[Any]) -> None:
        self.key: Any = None
        self.arrays = []
        dtypes = {x.dtype for x in given if isinstance(x, np.ndarray | np.generic)}
        floats = [d for d in dtypes if d != np.bool_]
        if len(floats) != 1 or floats[0].char not in "fd":
            return
        for x in given:
            if isinstance(x, bool | complex) and not isinstance(x, np.generic):
                return
            self.arrays.append(np.asarray(x) if hasattr(x, "dtype") else np.asarray(x, floats[0]))
        self.types = [((LENGTH,) if any(x.strides) else (), x.dtype) for x in self.arrays]
        self.key = tuple((bool(shape), dtype.char) for shape, dtype in self.types)


class KernelCall:
    """A call of a kernel. Its first result has the attribute `dtype`."""

    def __init__(self, kernel: OpenKernel, arrays: list[Any]) -> None:
        self._kernel, self._arrays = kernel, arrays
        self.dtype = kernel.types[0][1]

    def run(self, *results: Any) -> bool:
        """Compute the results; whether NumPy warns of none of their elements."""
        return self._kernel.run(self._arrays, results, len(results[0]))


def elementwise(op: Op, flat: Sequence[Any]) -> KernelCall | None:
    """The call of an op on flat arrays and numbers, if there is a kernel for it."""
    code = _Chain([x for x in flat if isinstance(x, np.ndarray)])
    places = iter(range(len(flat)))
    code.add(op, [_Place(next(places)) if isinstance(x, np.ndarray) else x for x in flat])
    return code.call([-1], reports=True)


def stretch(
    program: blocks.Program, results: Sequence[Any], flat: Sequence[Any]
) -> KernelCall | None:
    """The call of a program of elementwise ops on flat arrays, if there is a kernel for it.

    `results` are the values that the program is to compute. They may overwrite the arrays.
    """
    code = _Chain(flat)
    places = {number: _Place(i) for i, number in enumerate(program.given)}
    for i, step in enumerate(program.steps):
        if step.op is None:
            return None
        given = [places[a.number] if type(a) is blocks.Traced else a for a in step.arguments]
        code.add(step.op, given, step.value.dtype.char)
        places[step.value.number] = _Place(-1 - i)
    return code.call([places[r.number] for r in results], reports=False)


def lines(op: Op, arrays: Sequence[Any], params: dict[str, Any]) -> KernelCall | None:
    """The call of an op along the last axis of matrices with equally many lines.

    A kernel is made for one length of lines, and any number of them.
    """
    types = [((LENGTH, *a.shape[1:]), a.dtype) for a in arrays]
    params = params | {"axis": (1,)}

    def function(*given: Any) -> tuple[Any, ...]:
        return (op.function(*given, **params),)

    key = (op, tuple(types), tuple(params.items()))
    found = kernel(key, lambda: OpenKernel(function, types, reports=False))
    return None if found is None else KernelCall(found, list(arrays))


class _Place(int):
    """A value of `_Chain`: an array from 0 on, or the result of a step from -1 down."""


class _Chain:
    """Elementwise ops, one after the other, on some flat arrays.

    Numbers are arguments of a kernel, too, so that it does not depend on them. Only ops that are
    computed in different ways for different numbers have them as they are.
    """

    def __init__(self, arrays: Sequence[Any]) -> None:
        self._given = list(arrays)
        self._steps: list[tuple[Op, list[Any], str | None]] = []

    def add(self, op: Op, arguments: Sequence[Any], char: str | None = None) -> None:
        """Add an op whose result has a dtype with this character, if it is known."""
        given: list[Any] = []
        for a in arguments:
            if not isinstance(a, _Place) and op not in scalars.COMPOSED:
                self._given.append(a)
                a = _Place(len(self._given) - 1)
            given.append(a)
        self._steps.append((op, given, char))

    def call(self, results: list[int], reports: bool) -> KernelCall | None:
        """The call of the kernel that computes some values."""
        given = Operands(self._given)
        if given.key is None:
            return None
        steps = tuple((op, tuple((type(a), a) for a in args), c) for op, args, c in self._steps)
        key = (steps, tuple(results), given.key)

        def make() -> OpenKernel:
            return OpenKernel(lambda *xs: self._run(xs, results), given.types, reports)

        found = kernel(key, make)
        return None if found is None else KernelCall(found, given.arrays)

    def _run(self, given: Sequence[Any], results: list[int]) -> tuple[Any, ...]:
        made: list[Any] = []

        def value(place: int) -> Any:
            return given[place] if place >= 0 else made[-1 - place]

        for op, arguments, char in self._steps:
            out = op.function(*(value(a) if isinstance(a, _Place) else a for a in arguments))
            if char not in (None, out.dtype.char):
                raise NotOpen  # native code has another idea of the dtype
            made.append(out)
        return tuple(map(value, results))
