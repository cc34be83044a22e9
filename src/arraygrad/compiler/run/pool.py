"""Threads that wait in native code for the chunks of kernels; and the loop that runs kernels.

The threads of `backends.numpy.threads` wait in Python, and must take turns at Python's lock. These
wait for a number in memory to change: a kernel is shared within a microsecond or two while they are
awake, and within ten after they fell asleep. There are such threads on Linux only.

``run(steps, count, pool)`` runs steps one after the other. A step is a kernel's address, its table,
and its number of chunks. With no pool, or if another thread uses it now, it runs all chunks itself.

The chunks of a kernel are taken from one number: how many kernels there were so far, how many
chunks this one has, and how many were taken. A thread that comes late sees from this number alone
that nothing is left, or has a chunk of the next kernel, whose end then waits for it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading

from ...backends.numpy import threads
from ...core.locks import held, once
from ..llvm.native import Engine

SPINS = 1000  # how often a thread looks for what it waits for, before it falls asleep
_FUTEX = {"x86_64": 202, "aarch64": 98}  # Linux's call to wait for a number to change
_PAUSE = {
    "x86_64": ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    "aarch64": ("declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"),
}


class Step(ctypes.Structure):
    """A kernel to run."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("table", ctypes.c_void_p),
        ("chunks", ctypes.c_int64),
    )


# The pool in memory: its parts are written by different threads, so each has a cache line.
_PARTS = ("kernels", "busy", "next", "done", "asleep", "waits", "function", "table")
_LINE = 64

_TEXT = """
@SYSTEM
define void @take(ptr %pool) {
entry:
  %next = getelementptr i8, ptr %pool, i64 @next
  %done = getelementptr i8, ptr %pool, i64 @done
  %pf = getelementptr i8, ptr %pool, i64 @function
  %pt = getelementptr i8, ptr %pool, i64 @table
  br label %again
again:
  %v = atomicrmw add ptr %next, i64 1 seq_cst
  %index = and i64 %v, 1048575
  %shifted = lshr i64 %v, 20
  %chunks = and i64 %shifted, 1048575
  %is_left = icmp ult i64 %index, %chunks
  br i1 %is_left, label %do, label %end
do:
  %f = load ptr, ptr %pf
  %t = load ptr, ptr %pt
  call void %f(ptr %t, i64 %index)
  %before = atomicrmw add ptr %done, i64 1 seq_cst
  %d = add i64 %before, 1
  %all = icmp eq i64 %d, %chunks
  br i1 %all, label %last, label %again
last:
  %waits = getelementptr i8, ptr %pool, i64 @waits
  %w = load atomic i64, ptr %waits seq_cst, align 8
  %is_waited = icmp ne i64 %w, 0
  br i1 %is_waited, label %wake, label %again
wake:
  %s = call i64 (i64, ...) @syscall(i64 @FUTEX, ptr %done, i64 129, i64 1)
  br label %again
end:
  ret void
}

define void @alone(ptr %f, ptr %t, i64 %chunks) {
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %n, %again ]
  call void %f(ptr %t, i64 %i)
  %n = add i64 %i, 1
  %more = icmp ult i64 %n, %chunks
  br i1 %more, label %again, label %end
end:
  ret void
}

define void @share(ptr %pool, ptr %f, ptr %t, i64 %chunks) {
entry:
  %busy = getelementptr i8, ptr %pool, i64 @busy
  %got = cmpxchg ptr %busy, i64 0, i64 1 seq_cst seq_cst
  %is_free = extractvalue { i64, i1 } %got, 1
  br i1 %is_free, label %post, label %other
other:
  call void @alone(ptr %f, ptr %t, i64 %chunks)
  ret void
post:
  %pf = getelementptr i8, ptr %pool, i64 @function
  %pt = getelementptr i8, ptr %pool, i64 @table
  %next = getelementptr i8, ptr %pool, i64 @next
  %done = getelementptr i8, ptr %pool, i64 @done
  %asleep = getelementptr i8, ptr %pool, i64 @asleep
  store ptr %f, ptr %pf
  store ptr %t, ptr %pt
  %waits = getelementptr i8, ptr %pool, i64 @waits
  store atomic i64 0, ptr %waits seq_cst, align 8
  store atomic i64 0, ptr %done seq_cst, align 8
  %k = load i32, ptr %pool
  %k1 = add i32 %k, 1
  %wide = zext i32 %k1 to i64
  %high = shl i64 %wide, 40
  %middle = shl i64 %chunks, 20
  %first = or i64 %high, %middle
  store atomic i64 %first, ptr %next seq_cst, align 8
  store atomic i32 %k1, ptr %pool seq_cst, align 4
  %a = load atomic i64, ptr %asleep seq_cst, align 8
  %any = icmp ne i64 %a, 0
  br i1 %any, label %wake, label %work
wake:
  %w = call i64 (i64, ...) @syscall(i64 @FUTEX, ptr %pool, i64 129, i64 2147483647)
  br label %work
work:
  call void @take(ptr %pool)
  br label %wait
wait:
  %i = phi i64 [ 0, %work ], [ %n, %wait_more ]
  %d = load atomic i64, ptr %done seq_cst, align 8
  %ready = icmp eq i64 %d, %chunks
  br i1 %ready, label %end, label %wait_more
wait_more:
  @PAUSE
  %n = add i64 %i, 1
  %more = icmp ult i64 %n, @SPINS
  br i1 %more, label %wait, label %rest
rest:
  store atomic i64 1, ptr %waits seq_cst, align 8
  %now = load atomic i64, ptr %done seq_cst, align 8
  %is_done = icmp eq i64 %now, %chunks
  br i1 %is_done, label %end, label %sleep
sleep:
  %low = trunc i64 %now to i32
  %r = call i64 (i64, ...) @syscall(i64 @FUTEX, ptr %done, i64 128, i32 %low, ptr null)
  br label %rest
end:
  store atomic i64 0, ptr %busy seq_cst, align 8
  ret void
}

define void @serve(ptr %pool) {
entry:
  %asleep = getelementptr i8, ptr %pool, i64 @asleep
  br label %again
again:
  %seen = load atomic i32, ptr %pool seq_cst, align 4
  call void @take(ptr %pool)
  br label %spin
spin:
  %i = phi i64 [ 0, %again ], [ %n, %spin_more ]
  %now = load atomic i32, ptr %pool seq_cst, align 4
  %same = icmp eq i32 %now, %seen
  br i1 %same, label %spin_more, label %again
spin_more:
  @PAUSE
  %n = add i64 %i, 1
  %more = icmp ult i64 %n, @SPINS
  br i1 %more, label %spin, label %sleep
sleep:
  %a = atomicrmw add ptr %asleep, i64 1 seq_cst
  %w = call i64 (i64, ...) @syscall(i64 @FUTEX, ptr %pool, i64 128, i32 %seen, ptr null)
  %b = atomicrmw sub ptr %asleep, i64 1 seq_cst
  br label %again
}
"""

_RUN = """
define void @run(ptr %steps, i64 %count, ptr %pool) {
entry:
  %any = icmp ne ptr %pool, null
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %n, %next ]
  %is_left = icmp ult i64 %i, %count
  br i1 %is_left, label %do, label %end
do:
  %at = getelementptr { ptr, ptr, i64 }, ptr %steps, i64 %i
  %f = load ptr, ptr %at
  %pt = getelementptr i8, ptr %at, i64 8
  %t = load ptr, ptr %pt
  %pc = getelementptr i8, ptr %at, i64 16
  %chunks = load i64, ptr %pc
  %many = icmp ugt i64 %chunks, 1
  %shared = and i1 %many, %any
  br i1 %shared, label %several, label %one
several:
  call void @share(ptr %pool, ptr %f, ptr %t, i64 %chunks)
  br label %next
one:
  call void @alone(ptr %f, ptr %t, i64 %chunks)
  br label %next
next:
  %n = add i64 %i, 1
  br label %again
end:
  ret void
}
"""


def has_threads() -> bool:
    """Whether threads can wait in native code."""
    return sys.platform == "linux" and platform.machine() in _FUTEX


def _text() -> str:
    """The module: without threads, nothing is shared."""
    text = _TEXT
    if not has_threads():
        start, end = text.index("define void @alone"), text.index("define void @share")
        dummy = "define void @share(ptr %pool, ptr %f, ptr %t, i64 %chunks) {\n  ret void\n}"
        return text[start:end] + dummy + _RUN
    machine = platform.machine()
    declaration, pause = _PAUSE[machine]
    for i, name in enumerate(_PARTS):
        text = text.replace(f"@{name}\n", f"{i * _LINE}\n")
    for name, value in [
        ("@SYSTEM", f"declare i64 @syscall(i64, ...)\n{declaration}"),
        ("@PAUSE", pause),
        ("@SPINS", str(SPINS)),
        ("@FUTEX", str(_FUTEX[machine])),
    ]:
        text = text.replace(name, value)
    return text + _RUN


@once
def _engine() -> Engine:
    return Engine(_text(), ["run", "serve"] if has_threads() else ["run"])


def run_address() -> int:
    """The address of the function ``run``."""
    return _engine().address("run")


class _Pool:
    """The memory and the threads of a pool. They live as long as the process."""

    def __init__(self, count: int) -> None:
        self._bytes = ctypes.create_string_buffer(_LINE * (len(_PARTS) + 1))
        self.address = -(-ctypes.addressof(self._bytes) // _LINE) * _LINE
        serve = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_engine().address("serve"))
        for i in range(count):
            name = f"arraygrad-native-{i + 1}"
            thread = threading.Thread(target=serve, args=(self.address,), name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # there are too many threads, or the interpreter is exiting
                return


_pools: dict[int, _Pool] = {}  # by the number of threads, besides the caller's
_lock = threading.Lock()
# Where native code finds the pool: its address, or zero if one thread does all the work.
pool_cell = ctypes.c_void_p()


def prepare() -> None:
    """Have threads, as many as `get_num_threads` says."""
    if not has_threads():
        return
    held(_lock, _start, threads.get_num_threads() - 1)


def prepare_if_none() -> None:
    """Have threads if there are none, and there should be. Native code calls it."""
    if pool_cell.value is None and threads.get_num_threads() > 1:
        prepare()


def _start(wanted: int) -> None:
    if wanted not in _pools:
        _pools[wanted] = _Pool(wanted)
    pool_cell.value = _pools[wanted].address if wanted else None


def _follow_setting() -> None:
    if _pools:
        prepare()


def _forget() -> None:
    """In a forked process there are no threads: it works alone, until it has its own."""
    global _lock
    _lock = threading.Lock()
    pool_cell.value = None
    _pools.clear()


threads.when_set.append(_follow_setting)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
