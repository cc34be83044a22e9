"""Native code for eager mode: functions of Python around kernels for arrays of any length.

`backends.numpy.native` says when they are used. Such an entry takes arrays of one shape, which are
contiguous in the same order, and numbers. It makes the result, or writes to arrays that it is
given, and returns NotImplemented if its arguments are not what it is for. NumPy may warn of a
result that is not finite: so it returns NotImplemented then, too, and NumPy computes it again.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arrays import traced as blocks
from ...backends.numpy import threads
from ...backends.numpy.native import BY_VALUE, Kind
from ...core.locks import held
from ...ops.define.op import Op
from ..emit.nests import Nest
from ..fuse.fusion import Kernel, Plan, base_of
from ..fuse.kernels import BLOCK, body_of
from ..llvm.native import vector_bytes
from ..llvm.objects import ALIGNED, IN_COLUMNS, IN_ROWS, LAYOUT, WRITEABLE
from ..llvm.python import EntryCode, EntryText, has_entries
from ..llvm.vectors import FLOATS, TYPES, Module, Value, Writer, literal
from ..lower import scalars
from ..lower.core import Elements, Fold, Reduction, is_whole
from ..lower.lowering import Lowering
from ..trace.inference import stand_in
from ..trace.program import Call, Shape, needed
from ..trace.traced import Trace
from .pool import pool_cell, prepare_if_none, run_address

__all__ = ["elementwise", "entry", "has_entries", "lines", "rule", "stretch"]

LENGTH = 1 << 20  # of the arrays that a kernel is traced with; it is not in the kernel
LONG = 1 << 16  # elements from which on other threads of Python may run meanwhile
SHARED = 1 << 18  # elements from which on several threads share the work
SMALLEST_CHUNK = 1 << 16  # elements
PARTS = 64  # the most chunks of a call
MOST = 512  # entries that are kept


class NotOpen(Exception):
    """There is no single kernel for a function."""


class _NotWorthIt(Exception):
    """NumPy computes a function as fast."""


def _type(kind: Kind) -> tuple[Shape, Any]:
    """The shape and dtype that a kernel is traced with."""
    shape: Shape = () if kind.how in ("one", "number") else (LENGTH,)
    return (shape if kind.last is None else (*shape, kind.last)), kind.dtype


class _OpenKernel:
    """A kernel for arrays whose first axis has any length.

    Attributes
    ----------
    types : list of (shape, dtype)
        Those of the results.
    text : str
        The kernel, a function of the module.
    module : Module
    is_of_lines, is_cut : bool
        Whether it computes lines; whether its only loop is cut into blocks.
    order : list of int
        For each entry of the kernel's table, from the third on: the number of an argument; after
        these come the results, what is reported, and scratch memory.
    scratch : list of int
        The bytes of scratch memory for each chunk.
    """

    def __init__(
        self, function: Callable[..., Any], kinds: Sequence[Kind], reports: bool, least: int = 1
    ) -> None:
        trace = Trace()
        given = [trace.input(stand_in(*_type(kind))) for kind in kinds]
        lowering = Lowering([x.node for x in given], trace)
        results = [x.node for x in function(*given)]
        if sum(isinstance(node, Call) for node in needed(results)) < least:
            raise _NotWorthIt
        outputs = lowering.lower(results)
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
        body = body_of(plan.steps[0], plan.stored, is_open=True)
        nest = Nest(body, module, vector_bytes(), is_open=True)
        self.module, self.text = module, nest.text.replace("@NAME(", "@kernel(", 1)
        self.reports = reports
        self.is_of_lines = kinds[0].last is not None
        self.is_cut = body.limit is not None  # else each of its steps is a line
        places = {x: i for i, x in enumerate([*inputs, *bases, *nest.scratch])}
        if not all(x in places for x in nest.memory):
            raise NotOpen  # it reads an array from outside
        self.order = [places[x] for x in nest.memory]
        self.scratch = [x.size for x in nest.scratch]
        if len(nest.partial) > reports:
            raise NotOpen  # sums of all elements


def _all_finite(w: Writer, finite: Value, x: Value) -> Value:
    """One, if all numbers so far are finite; NaN otherwise. It takes one instruction."""
    return w.math("fma", x, w.like(x, 0.0), finite)


_FINITE = Fold("finite", _all_finite, 1.0, np.maximum)


# --- the text of an entry ------------------------------------------------------------------------

_HELPERS = """
define internal i64 @size(ptr %shape, i64 %ndim) {
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %j, %more ]
  %n = phi i64 [ 1, %entry ], [ %m, %more ]
  %is_left = icmp ult i64 %i, %ndim
  br i1 %is_left, label %more, label %end
more:
  %p = getelementptr i64, ptr %shape, i64 %i
  %v = load i64, ptr %p
  %m = mul i64 %n, %v
  %j = add i64 %i, 1
  br label %again
end:
  ret i64 %n
}

@zero = internal constant i64 0

define internal i1 @equal(ptr %x, ptr %y, i64 %step, i64 %count) {
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %j, %more ]
  %is_left = icmp ult i64 %i, %count
  br i1 %is_left, label %more, label %end
more:
  %k = mul i64 %i, %step
  %px = getelementptr i64, ptr %x, i64 %i
  %py = getelementptr i64, ptr %y, i64 %k
  %vx = load i64, ptr %px
  %vy = load i64, ptr %py
  %j = add i64 %i, 1
  %is_equal = icmp eq i64 %vx, %vy
  br i1 %is_equal, label %again, label %no
no:
  ret i1 false
end:
  ret i1 true
}

define internal i1 @finite(ptr %parts, i64 %count) {
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %j, %more ]
  %is_left = icmp ult i64 %i, %count
  br i1 %is_left, label %more, label %end
more:
  %p = getelementptr @FLOAT, ptr %parts, i64 %i
  %v = load @FLOAT, ptr %p
  %j = add i64 %i, 1
  %is_number = fcmp ord @FLOAT %v, %v
  br i1 %is_number, label %again, label %no
no:
  ret i1 false
end:
  ret i1 true
}
"""


class _OpenText(EntryText):
    """The text of an entry around a kernel."""

    def __init__(self, kernel: _OpenKernel, kinds: Sequence[Kind]) -> None:
        super().__init__()
        self._kernel, self._kinds = kernel, kinds
        self._dtype = next(k.dtype for k in kinds if k.dtype.char in "fd")
        self._release = self.function("Py_DecRef")
        self._first: tuple[str, str] | None = None  # the number of axes, and the shape
        self._order = ""  # the flags that all arrays have

    def text(self) -> str:
        """The module."""
        kernel, kinds = self._kernel, self._kinds
        self.require_equal("i64", "%count", str(len(kinds)))
        objects = [self.argument(i) for i in range(len(kinds))]
        is_whole = [kind.how in ("array", "result") for kind in kinds]
        for i in sorted(range(len(kinds)), key=lambda i: not is_whole[i]):  # these come first
            if kinds[i].how == "number":
                objects[i] = self._number(objects[i])
            else:
                self._check(objects[i], kinds[i])
        order = IN_ROWS if kernel.is_of_lines else IN_ROWS | IN_COLUMNS
        self._order = self.let(f"and i32 {self._order}, {order}")
        self.require(self.let(f"icmp ne i32 {self._order}, 0"))
        made, wrong, raised = None, "other", "failed"
        if not any(k.how == "result" for k in kinds):
            made = self._new_result()
            objects.append(made)
            drop = f"{self._release}(ptr {made})"
            wrong, raised = self.undone(drop), self.undone(drop, then="failed")
        parts = self.stack(f"[{PARTS} x double]")
        if kernel.reports:
            objects.append(self._like_array(parts))
        chunks = self._run(objects, wrong, raised)
        if kernel.reports:
            self.require(self.let(f"call i1 @finite(ptr {parts}, i64 {chunks})"), wrong)
        if made is None:
            made = self.at(id(None))
            self.say(f"call void {self.keep}(ptr {made})")
        self.say(f"ret ptr {made}")
        helpers = _HELPERS.replace("@FLOAT", TYPES[self._dtype])
        return kernel.module.text([kernel.text, helpers, self.defined()])

    def _like_array(self, data: str) -> str:
        """What a kernel takes for an array with some data."""
        assert LAYOUT is not None
        array = self.stack(f"[{LAYOUT.data + 8} x i8]")
        self.store(f"ptr {data}", array, LAYOUT.data)
        return array

    # --- arguments ---

    def _check(self, array: str, kind: Kind) -> None:
        """Go on only if an array has its dtype, and the shape of the first one."""
        assert LAYOUT is not None
        self.require_array(array, kind.dtype, ALIGNED | (WRITEABLE if kind.how == "result" else 0))
        ndim, shape = self.load(array, LAYOUT.ndim, "i32"), self.load(array, LAYOUT.shape)
        if kind.how == "one":
            following, has_axes = self.label(), self.label()
            has_none = self.let(f"icmp eq i32 {ndim}, 0")
            self.say(f"br i1 {has_none}, label %{following}, label %{has_axes}")
            self.start(has_axes)
            self._require_like_first(ndim, shape)
            strides = self.load(array, LAYOUT.strides)
            self.require(self._equal(strides, "@zero", 0))
            self.say(f"br label %{following}")
            self.start(following)
            return
        flags = self.load(array, LAYOUT.flags, "i32")
        if self._first is None:
            self._first, self._order = (ndim, shape), flags
            self._lead = self.let(f"zext i32 {ndim} to i64")
            if kind.last is not None:
                self.require(self.let(f"icmp ugt i32 {ndim}, 1"))
                self._lead = self.let(f"sub i64 {self._lead}, 1")
            self._length = self.let(f"call i64 @size(ptr {shape}, i64 {self._lead})")
            self.require(self.let(f"icmp ne i64 {self._length}, 0"))
        else:
            self._require_like_first(ndim, shape)
            self._order = self.let(f"and i32 {self._order}, {flags}")
        if kind.last is not None:
            place = self.let(f"getelementptr i64, ptr {shape}, i64 {self._lead}")
            self.require_equal("i64", self.let(f"load i64, ptr {place}"), str(kind.last))

    def _require_like_first(self, ndim: str, shape: str) -> None:
        """Go on only if an array has the axes of the first one; of lines, all but the last."""
        assert self._first is not None
        self.require_equal("i32", ndim, self._first[0])
        self.require(self._equal(shape, self._first[1], 1))

    def _equal(self, x: str, y: str, step: int) -> str:
        return self.let(f"call i1 @equal(ptr {x}, ptr {y}, i64 {step}, i64 {self._lead})")

    def _number(self, given: str) -> str:
        """A number of Python, which is a float or an int, as a kernel takes it."""
        assert LAYOUT is not None
        kind = self.load(given, LAYOUT.type)
        is_float = self.let(f"icmp eq ptr {kind}, {self.at(id(float))}")
        is_int = self.let(f"icmp eq ptr {kind}, {self.at(id(int))}")
        self.require(self.let(f"or i1 {is_float}, {is_int}"))
        number = self.let(f"call double {self.function('PyFloat_AsDouble')}(ptr {given})")
        error = self.let(f"call ptr {self.function('PyErr_Occurred')}()")
        is_known = self.let(f"icmp eq ptr {error}, null")  # else it is an int beyond all floats
        self.require(is_known, self.undone(f"{self.function('PyErr_Clear')}()"))
        if self._dtype.char == "f":
            single = self.let(f"fptrunc double {number} to float")
            wide = self.let(f"fpext float {single} to double")
            size = "llvm.fabs.f64"
            self._kernel.module.declare(size, f"declare double @{size}(double)")
            sizes = [self.let(f"call double @{size}(double {x})") for x in (number, wide)]
            infinity = literal("double", math.inf)
            ends = [self.let(f"fcmp oeq double {x}, {infinity}") for x in sizes]
            self.require(self.let(f"icmp eq i1 {ends[0]}, {ends[1]}"))  # else NumPy warns
            number = single
        place = self.stack("i64")
        self.say(f"store {TYPES[self._dtype]} {number}, ptr {place}")
        return self._like_array(place)

    # --- the call ---

    def _new_result(self) -> str:
        assert self._first is not None
        (shape, dtype), (ndim, lengths) = self._kernel.types[0], self._first
        if self._kernel.is_of_lines:
            if len(shape) == 1:  # a number for each line
                ndim = self.let(f"trunc i64 {self._lead} to i32")
            return self.new_array(ndim, lengths, dtype)
        is_in_columns = self.let(f"icmp eq i32 {self._order}, {IN_COLUMNS}")
        return self.new_array(ndim, lengths, dtype, self.let(f"zext i1 {is_in_columns} to i32"))

    def _run(self, objects: list[str], wrong: str, raised: str) -> str:
        """Run the kernel. Returns the number of chunks.

        Goes to `wrong` if there is no memory, and to `raised` after an error.
        """
        kernel, last = self._kernel, self._kinds[0].last or 1
        length = elements = self.let(f"mul i64 {self._length}, {last}")
        steps = self.let(f"add i64 {length}, {BLOCK - 1}")
        steps = self.let(f"udiv i64 {steps}, {BLOCK}")
        if not kernel.is_cut:
            length = steps = self._length
        per_step = BLOCK if kernel.is_cut else last
        pool, step, chunks = self._divided(steps, elements, per_step, raised)
        memory, skipped = "null", 0
        if kernel.scratch:
            total = self.let(f"mul i64 {chunks}, {sum(kernel.scratch)}")
            memory = self.let(f"call ptr {self.function('PyMem_RawMalloc')}(i64 {total})")
            self.require(self.let(f"icmp ne ptr {memory}, null"), wrong)
        for size in kernel.scratch:
            before = self.let(f"mul i64 {chunks}, {skipped}")
            place = self.let(f"getelementptr i8, ptr {memory}, i64 {before}")
            objects.append(self._like_array(place))
            skipped += size
        table = self.stack(f"[{2 + len(kernel.order)} x ptr]")
        self.store(f"i64 {length}", table, 0)
        self.store(f"i64 {step}", table, 8)
        for i, index in enumerate(kernel.order):
            self.store(f"ptr {objects[index]}", table, 16 + 8 * i)
        is_long = self.let(f"icmp uge i64 {elements}, {LONG}")
        task, run = self.stack("{ ptr, ptr, i64 }"), self.at(run_address())
        save, restore = (self.function(f"PyEval_{n}Thread") for n in ("Save", "Restore"))
        long, short, done = self.label(), self.label(), self.label()
        self.say(f"br i1 {is_long}, label %{long}, label %{short}")
        self.start(short)
        self.say(f"call void @kernel(ptr {table}, i64 0)")
        self.say(f"br label %{done}")
        self.start(long)
        self.store("ptr @kernel", task, 0)
        self.store(f"ptr {table}", task, 8)
        self.store(f"i64 {chunks}", task, 16)
        state = self.let(f"call ptr {save}()")
        self.say(f"call void {run}(ptr {task}, i64 1, ptr {pool})")
        self.say(f"call void {restore}(ptr {state})")
        self.say(f"br label %{done}")
        self.start(done)
        if kernel.scratch:
            self.say(f"call void {self.function('PyMem_RawFree')}(ptr {memory})")
        return chunks

    def _divided(
        self, steps: str, elements: str, per_step: int, raised: str
    ) -> tuple[str, str, str]:
        """The pool of threads, how many steps are a chunk, and the number of chunks."""
        place, slot = self.at(ctypes.addressof(pool_cell)), self.stack("ptr")
        call, start = self.function("PyObject_CallNoArgs"), self.at(id(prepare_if_none))
        get, variable = self.function("PyContextVar_Get"), self.at(id(threads.is_alone_here))
        true = self.at(id(True))
        ask, one, several, run = self.label(), self.label(), self.label(), self.label()
        is_large = self.let(f"icmp uge i64 {elements}, {SHARED}")
        self.say(f"br i1 {is_large}, label %{ask}, label %{one}")
        self.start(ask)
        done = self.let(f"call ptr {call}(ptr {start})")
        self.require(self.let(f"icmp ne ptr {done}, null"), raised)
        self.say(f"call void {self._release}(ptr {done})")
        self.let(f"call i32 {get}(ptr {variable}, ptr null, ptr {slot})")
        value = self.let(f"load ptr, ptr {slot}")
        self.say(f"call void {self._release}(ptr {value})")
        is_alone = self.let(f"icmp eq ptr {value}, {true}")
        pool = self.let(f"load ptr, ptr {place}")
        has_none = self.let(f"icmp eq ptr {pool}, null")
        is_alone = self.let(f"or i1 {is_alone}, {has_none}")
        self.say(f"br i1 {is_alone}, label %{one}, label %{several}")
        self.start(several)
        least = -(-SMALLEST_CHUNK // per_step)
        step = self.let(f"udiv i64 {self.let(f'add i64 {steps}, {PARTS - 1}')}, {PARTS}")
        is_less = self.let(f"icmp ult i64 {step}, {least}")
        step = self.let(f"select i1 {is_less}, i64 {least}, i64 {step}")
        more = self.let(f"sub i64 {self.let(f'add i64 {steps}, {step}')}, 1")
        count = self.let(f"udiv i64 {more}, {step}")
        self.say(f"br label %{run}")
        self.start(one)
        self.say(f"br label %{run}")
        self.start(run)
        pool = self.let(f"phi ptr [ {pool}, %{several} ], [ null, %{one} ]")
        step = self.let(f"phi i64 [ {step}, %{several} ], [ {steps}, %{one} ]")
        return pool, step, self.let(f"phi i64 [ {count}, %{several} ], [ 1, %{one} ]")


# --- entries by key ------------------------------------------------------------------------------

_entries: OrderedDict[Any, Any] = OrderedDict()  # the last used ones come last
failures: Counter[str] = Counter()  # errors of the compiler, which made NumPy compute instead
_lock = threading.RLock()  # a kernel of NumPy may run while an entry is made
_is_making = False


def entry(
    key: Any, function: Callable[..., Any], kinds: Sequence[Kind], reports: bool, least: int = 1
) -> Any:
    """The entry for a function, which `key` stands for, and kinds of arguments; None if none.

    Parameters
    ----------
    key : hashable
    function : callable
        Takes a traced array for each argument that is not a result, and returns a tuple.
    kinds : sequence of Kind
    reports : bool
        Whether to look for results that NumPy may warn of.
    least : int
        The number of ops from which on the entry is worth it. If there are fewer, it is False.
    """

    def make() -> Any:
        given = [kind for kind in kinds if kind.how != "result"]
        text = _OpenText(_OpenKernel(function, given, reports, least), kinds)
        return EntryCode(text.text(), text.outside).function()

    return held(_lock, _made, (key, *kinds), make)


def _made(key: Any, make: Callable[[], Any]) -> Any:
    """What a function makes; what it has made for this key before, if it is still kept."""
    global _is_making
    if key in _entries:
        _entries.move_to_end(key)
        return _entries[key]
    if _is_making:
        return None
    found: Any = None
    try:
        _is_making = True
        found = make()
    except NotOpen:
        pass
    except _NotWorthIt:
        found = False
    except Exception as error:  # whatever the reason is, NumPy computes it
        failures[f"{type(error).__name__}: {error}"] += 1
    finally:
        _is_making = False
    _entries[key] = found
    if len(_entries) > MOST:
        _entries.popitem(last=False)
    return found


def _of_arrays(key: Any, function: Callable[..., Any], kinds: Sequence[Kind], **how: Any) -> Any:
    """The entry for an elementwise function; False if there is none for float64 arrays either."""
    found = entry(key, function, kinds, **how)
    if found is not None:
        return found
    double = np.dtype(np.float64)
    arrays = [Kind("array", double if k.dtype.kind == "f" else k.dtype) for k in kinds]
    code = held(_lock, _made, (key, "code"), lambda: _OpenKernel(function, arrays, reports=False))
    return found if code else False


def elementwise(op: Op, kinds: Sequence[Kind]) -> Any:
    """The entry for an op on arrays and numbers."""
    function = lambda *given: (op.function(*given),)  # noqa: E731
    return _of_arrays(op, function, kinds, reports=op not in scalars.QUIET)


def lines(op: Op, kinds: Sequence[Kind], params: dict[str, Any]) -> Any:
    """The entry for an op along the last axis of arrays that have equally many lines."""
    params = params | {"axis": (1,)}
    key = op, tuple(params.items())
    return entry(key, lambda *given: (op.function(*given, **params),), kinds, reports=False)


def rule(function: Callable[..., Any], kinds: Sequence[Kind]) -> Any:
    """The entry for a rule of a cotangent and saved values; False if one op computes it."""
    of_tuple = lambda *given: (function(*given),)  # noqa: E731
    return _of_arrays(function, of_tuple, kinds, reports=False, least=2)


def stretch(program: blocks.Program, values: Sequence[Any], given: list[Any]) -> Any:
    """Values of a program as a function of its arrays, and what stands for the function as a key.

    The numbers in the program are arguments of the function, too. They are added to `given`, which
    has the arrays. Both are None if there is no such function.
    """
    steps: list[tuple[Op, tuple[Any, ...], str]] = []
    places = {number: _Place(i) for i, number in enumerate(program.given)}
    for i, step in enumerate(program.steps):
        if step.op is None:
            return None, None
        arguments: list[Any] = []
        for a in step.arguments:
            if type(a) is blocks.Traced:
                arguments.append(places[a.number])
            elif step.op.name in BY_VALUE:
                arguments.append(a)
            else:
                arguments.append(_Place(len(given)))
                given.append(a)
        steps.append((step.op, tuple(arguments), step.value.dtype.char))
        places[step.value.number] = _Place(-1 - i)
    wanted = [places[value.number] for value in values]

    def function(*arrays: Any) -> tuple[Any, ...]:
        made: list[Any] = []

        def value(a: Any) -> Any:
            if not isinstance(a, _Place):
                return a
            return arrays[a] if a >= 0 else made[-1 - a]

        for op, arguments, char in steps:
            made.append(op.function(*map(value, arguments)))
            if made[-1].dtype.char != char:
                raise NotOpen  # native code has another idea of the dtype
        return tuple(map(value, wanted))

    typed = tuple((op, tuple((type(a), a) for a in arguments), c) for op, arguments, c in steps)
    return (typed, tuple(wanted)), function


class _Place(int):
    """A value of a program: an argument from 0 on, or the result of a step from -1 down."""
