"""Functions of Python around kernels for arrays of any length.

Such an entry takes arrays of one shape, which are contiguous in the same order, and numbers. It
makes the result, or writes to arrays that it is given, and returns NotImplemented if its arguments
are not what it is for. NumPy may warn of a result that is not finite: so it returns NotImplemented
then, too, and NumPy computes it again.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

from ...backends.numpy import threads
from ...backends.numpy.native import Kind
from ..fuse.kernels import BLOCK
from ..llvm.objects import ALIGNED, IN_COLUMNS, IN_ROWS, LAYOUT, WRITEABLE
from ..llvm.python import EntryCode, EntryText
from ..llvm.vectors import TYPES, literal
from .open_kernel import OpenKernel
from .pool import pool_cell, prepare_if_none, run_address

LONG = 1 << 16  # elements from which on other threads of Python may run meanwhile
SHARED = 1 << 18  # elements from which on several threads share the work
SMALLEST_CHUNK = 1 << 16  # elements
PARTS = 64  # the most chunks of a call


def open_entry(kernel: OpenKernel, kinds: Sequence[Kind]) -> Any:
    """The function of Python that runs a kernel on arguments of some kinds."""
    text = _OpenText(kernel, kinds)
    return EntryCode(text.text(), text.outside).function()


_SIZE = """
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
"""

# Whether a test holds for all numbers below %count.
_ALL = """
define internal i1 @NAME(@GIVEN, i64 %count) {
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %j, %more ]
  %is_left = icmp ult i64 %i, %count
  br i1 %is_left, label %more, label %end
more:
@TEST
  %j = add i64 %i, 1
  br i1 %holds, label %again, label %no
no:
  ret i1 false
end:
  ret i1 true
}
"""

_EQUAL = """
  %k = mul i64 %i, %step
  %px = getelementptr i64, ptr %x, i64 %i
  %py = getelementptr i64, ptr %y, i64 %k
  %vx = load i64, ptr %px
  %vy = load i64, ptr %py
  %holds = icmp eq i64 %vx, %vy
"""

_FINITE = """
  %p = getelementptr @FLOAT, ptr %parts, i64 %i
  %v = load @FLOAT, ptr %p
  %holds = fcmp ord @FLOAT %v, %v
"""


def _all(name: str, given: str, test: str) -> str:
    return _ALL.replace("@NAME", f"@{name}").replace("@GIVEN", given).replace("@TEST", test.strip())


_HELPERS = (
    _SIZE
    + _all("equal", "ptr %x, ptr %y, i64 %step", _EQUAL)
    + _all("finite", "ptr %parts", _FINITE)
)


class _OpenText(EntryText):
    """The text of an entry around a kernel."""

    def __init__(self, kernel: OpenKernel, kinds: Sequence[Kind]) -> None:
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
