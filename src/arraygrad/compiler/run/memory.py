"""Memory for the intermediate values of a program: values that do not live together share it.

Native entry points share blocks of memory. Other calls take memory from the program's pool, which
keeps it for the next call. Calls at the same time have memory of their own.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import heapq
import math
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.locks import held
from ..llvm.vectors import ALIGNMENT
from ..trace.program import Shape

SMALLEST = 1 << 16  # bytes of a block that native entry points share
LARGE = 1 << 20  # bytes of a memory that counts
IDLE = 1 << 28  # bytes of large memories that no call uses, in all programs together


@dataclass(eq=False)
class Buffer:
    """An array among the intermediate values.

    Attributes
    ----------
    shape, dtype
    first, last : int
        The steps between which it is in use.
    offset : int
        Its place in the memory of a call, in bytes.
    """

    shape: Shape
    dtype: Any
    first: int
    last: int
    offset: int = 0

    @property
    def size(self) -> int:
        """The bytes that it takes."""
        size: int = math.prod(self.shape) * self.dtype.itemsize
        return -(-size // ALIGNMENT) * ALIGNMENT


def arranged(buffers: list[Buffer]) -> int:
    """Give each buffer a place; returns the size of all memory.

    In the order of the steps, each buffer gets the first gap that is large enough. When it is no
    longer in use, its place becomes a gap again.
    """
    gaps: list[tuple[int, int]] = []  # where each starts and ends, in order
    end = 0
    used: list[tuple[int, int, int]] = []  # the last use, start and end of each, by last use
    for buffer in sorted(buffers, key=lambda b: b.first):
        while used and used[0][0] < buffer.first:
            _, start, stop = heapq.heappop(used)
            bisect.insort(gaps, (start, stop))
            _join_gaps(gaps, bisect.bisect_left(gaps, (start, stop)))
        size = buffer.size
        for i, (start, stop) in enumerate(gaps):
            if stop - start >= size:
                gaps[i : i + 1] = [(start + size, stop)] if stop - start > size else []
                break
        else:
            start = end
            end += size
        buffer.offset = start
        heapq.heappush(used, (buffer.last, start, start + size))
    return end


def _join_gaps(gaps: list[tuple[int, int]], i: int) -> None:
    """Make one of a gap and those that touch it."""
    first = i - 1 if i and gaps[i - 1][1] == gaps[i][0] else i
    last = i + 1 if i + 1 < len(gaps) and gaps[i][1] == gaps[i + 1][0] else i
    gaps[first : last + 1] = [(gaps[first][0], gaps[last][1])]


class Block:
    """Bytes that start at an aligned address.

    Attributes
    ----------
    array : array of bytes
    start : int
        Where the aligned bytes start in it.
    is_busy : ctypes integer
        One while a native entry point uses the block, and other threads of Python may run.
    """

    def __init__(self, size: int) -> None:
        self.array = np.empty(size + ALIGNMENT, np.uint8)
        address: int = self.array.__array_interface__["data"][0]
        self.start = -address % ALIGNMENT
        self.address = address + self.start
        self.is_busy = ctypes.c_int64(0)


# Native entry points run one after the other, so that they can share their memory: there is one
# block for programs of about the same size, as long as there is such a program.
_shared: weakref.WeakValueDictionary[int, Block] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def shared_block(size: int) -> Block:
    """The block for the native entry points of programs that need so many bytes."""
    return held(_lock, _found, 1 << max(size - 1, SMALLEST - 1).bit_length())


def _found(size: int) -> Block:
    block = _shared.get(size)
    if block is None:
        block = _shared[size] = Block(size)
    return block


class Memory:
    """The memory of one call.

    Attributes
    ----------
    address : int
        Where the buffers start.
    tables : dict
        What groups of kernels prepared for it.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self._arrays: dict[Buffer, Any] = {}
        self.tables: dict[Any, Any] = {}
        self.address = block.address

    def array(self, buffer: Buffer) -> Any:
        """The array at a buffer's place; the same object in each call that has this memory."""
        found = self._arrays.get(buffer)
        if found is None:
            start = self.block.start + buffer.offset
            found = np.ndarray(buffer.shape, buffer.dtype, self.block.array, start)
            self._arrays[buffer] = found
        return found


class Pool:
    """The memories of a program that no call uses now.

    All programs together keep at most `IDLE` bytes of large memories: the oldest ones go first.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._free: list[Memory] = []

    def take(self) -> Memory:
        """Memory for a call."""
        try:
            return self._free.pop()
        except IndexError:
            return Memory(Block(self.size))

    def give_back(self, memory: Memory) -> None:
        """Keep the memory of a call that has ended for the next one."""
        self._free.append(memory)
        if self.size >= LARGE:
            held(_lock, self._note, memory)

    def _note(self, memory: Memory) -> None:
        _idle[:] = [one for one in _idle if one[1]() not in (None, memory)]
        _idle.append((self, weakref.ref(memory)))
        while len(_idle) > 1 and sum(pool.size for pool, _ in _idle) > IDLE:
            pool, oldest = _idle.pop(0)
            with contextlib.suppress(ValueError):  # a call has taken it
                pool._free.remove(oldest())  # type: ignore[arg-type]


_idle: list[tuple[Pool, weakref.ref[Memory]]] = []


def new_array(shape: Shape, dtype: Any) -> Any:
    """An array for a result, which the caller will own."""
    return np.empty(shape, dtype)
