"""Elementwise functions of large NumPy arrays, computed block by block on several threads.

Intermediate values of a block stay in the cache. Every element is computed by the same operations
as without blocks, so results are the same to the last bit. The threads are in `threads`; the blocks
of a sweep are in `sweep.blocks`. Where there is native code for an op, it computes arrays of all
sizes but the smallest: see `native`.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.array import AnyFunction
from . import native
from .threads import get_num_threads, share

LARGE, SMALL = native.LARGE, native.SMALL
# The bytes of one array in one block: a few such pieces fit into the cache of a core.
_BLOCK_BYTES = 1 << 18


class Blocks:
    """Arguments of an elementwise function, cut along their first axis.

    If all arrays have the same shape and order in memory, they are flattened first. Every block
    contains the numbers, and the arrays that broadcast along the first axis.
    """

    __slots__ = ("_arguments", "_count", "_cut", "_length", "_order", "_shape", "_step")

    def __init__(self, arguments: tuple[Any, ...], arrays: list[Any], rows: bool) -> None:
        order = None if rows else _common_order(arrays)
        self._shape: tuple[int, ...] = np.broadcast_shapes(*(a.shape for a in arrays))
        self._order = order
        # asarray: subclasses such as np.memmap become plain arrays.
        self._arguments = [self.flat(np.asarray(a)) if _is_array(a) else a for a in arguments]
        self._length, *rest = (math.prod(self._shape),) if order else self._shape
        self._cut = [
            _is_array(a) and a.ndim == 1 + len(rest) and a.shape[0] == self._length
            for a in self._arguments
        ]
        row = max(a.itemsize for a in arrays) * math.prod(rest)
        self._step = max(_BLOCK_BYTES // max(row, 1), 1)
        self._count = -(-self._length // self._step)
        if not rows and get_num_threads() > 1:
            self.join(2)  # after every call, threads wait for Python's lock: make fewer calls

    @classmethod
    def of(cls, arguments: tuple[Any, ...], rows: bool = False) -> Blocks | None:
        """Blocks of the arguments; None if there would be only one. `rows` keeps rows whole."""
        arrays = [a for a in arguments if _is_array(a)]
        if not arrays or not all(isinstance(a, CUTTABLE) for a in arguments):
            return None
        made = cls(arguments, arrays, rows)
        return made if made._count > 1 else None

    def first(self) -> list[Any]:
        """The arguments at the first place only: a call with them shows the type of the result."""
        return self._between(0, 1)

    def widen(self) -> None:
        """Make the blocks larger: have only as many as keep all threads busy to the end."""
        fewest = 4 * get_num_threads()
        if self._count > fewest:
            self.join(-(-self._count // fewest))

    def join(self, number: int) -> None:
        """Join each `number` blocks into one."""
        self._step *= number
        self._count = -(-self._length // self._step)

    def empty(self, dtype: Any) -> Any:
        """A new array for a result."""
        return np.empty(self._shape, dtype, self._order or "C")

    def flat(self, array: Any) -> Any:
        """The array as blocks cut it: flattened if the arguments have a common order in memory."""
        if not self._order:
            return array
        return (array.T if self._order == "F" else array).reshape(-1)

    def each(self, function: Callable[[list[Any], slice], None]) -> None:
        """Call ``function(block, place)`` for each block of the arguments, on several threads."""

        def piece(index: int) -> None:
            place = slice(index * self._step, (index + 1) * self._step)
            function(self._between(place.start, place.stop), place)

        share(piece, self._count)

    def _between(self, begin: int, end: int) -> list[Any]:
        both = zip(self._arguments, self._cut, strict=True)
        return [a[begin:end] if cut else a for a, cut in both]


CUTTABLE = (np.ndarray, np.generic, int, float, complex)


def _is_array(a: Any) -> bool:
    return isinstance(a, np.ndarray) and a.ndim > 0


def _common_order(arrays: list[Any]) -> Any:
    """The order in memory, C or F, if all arrays have the same order and shape; else None."""
    if any(a.shape != arrays[0].shape for a in arrays):
        return None
    if all(a.flags.c_contiguous or not any(a.strides) for a in arrays):
        return "C"
    return "F" if all(a.flags.f_contiguous or not any(a.strides) for a in arrays) else None


def blockwise(kernel: AnyFunction) -> AnyFunction:
    """An elementwise kernel that computes its result in blocks if possible."""
    is_ufunc = isinstance(kernel, np.ufunc)  # a ufunc has no intermediate values
    can_fill = not is_ufunc and takes_out(kernel)

    @functools.wraps(kernel)
    def computed(*arguments: Any) -> Any:
        gains = not is_ufunc or get_num_threads() > 1
        blocks = Blocks.of(arguments) if gains else None
        if blocks is None:
            return kernel(*arguments)
        if is_ufunc:
            blocks.widen()
        with np.errstate(all="ignore"):  # the block that contains this element warns later
            row = kernel(*blocks.first())
        if type(row) is not np.ndarray:
            return kernel(*arguments)
        out = blocks.empty(row.dtype)
        flat = blocks.flat(out)
        fills = is_ufunc or (can_fill and _are_like(arguments, out))
        if fills and not is_ufunc:
            blocks.join(2)  # only the result has to stay in the cache

        def write(block: list[Any], place: slice) -> None:
            if fills:
                kernel(*block, out=flat[place])
            else:
                flat[place] = kernel(*block)

        blocks.each(write)
        return out

    return computed


def for_large(kernel: AnyFunction, types: tuple[type, ...], op: Any) -> AnyFunction:
    """The kernel of an elementwise op on these types, for arguments of any size.

    It uses native code, if there is any, and blocks if arguments are large.
    """
    in_blocks = blockwise(kernel)
    if op.is_library and native.can_replace(kernel):
        return _by_native_code(kernel, in_blocks, types, op)
    if types == (np.ndarray,):
        return lambda x: kernel(x) if x.size < LARGE else in_blocks(x)
    if types == (np.ndarray, np.ndarray):
        return lambda x, y: kernel(x, y) if x.size < LARGE and y.size < LARGE else in_blocks(x, y)
    if len(types) == 2 and types[0] is np.ndarray:
        return lambda x, y: kernel(x, y) if x.size < LARGE else in_blocks(x, y)

    def run(*arguments: Any) -> Any:
        if all(type(a) is not np.ndarray or a.size < LARGE for a in arguments):
            return kernel(*arguments)
        return in_blocks(*arguments)

    return run


def _by_native_code(
    kernel: AnyFunction, in_blocks: AnyFunction, types: tuple[type, ...], op: Any
) -> AnyFunction:
    entries = native.Entries(lambda compiler, kinds: compiler.elementwise(op, kinds))
    is_by_value = op.name in native.BY_VALUE and types[-1] is not np.ndarray

    def one(x: Any) -> Any:
        if x.size >= SMALL and entries.gains:
            out = entries(x)
            if out is not NotImplemented:
                return out
        return kernel(x) if x.size < LARGE else in_blocks(x)

    def several(*arguments: Any) -> Any:
        size = 0
        for a in arguments:
            if type(a) is np.ndarray and a.size > size:
                size = a.size
        if size >= SMALL and entries.gains and not is_by_value:
            out = entries(*arguments)
            if out is not NotImplemented:
                return out
        return kernel(*arguments) if size < LARGE else in_blocks(*arguments)

    return one if len(types) == 1 else several


def rowwise(kernel: AnyFunction, reduces: bool = False) -> AnyFunction:
    """A kernel on independent lines along `axis`; it uses blocks for many contiguous lines.

    The kernel must accept an array `out` with the dtype of its arguments, except if it `reduces`
    lines to numbers: then only native code takes its place. The backend says which op it is the
    kernel of (`for_op`).
    """

    @functools.wraps(kernel)
    def computed(*arrays: Any, axis: tuple[int, ...], lines: Any = None, **params: Any) -> Any:
        x = arrays[0]
        if x.size < SMALL:
            return kernel(*arrays, axis=axis, **params)
        if lines is not None and axis == (x.ndim - 1,) and not reduces:
            found = lines.again(arrays, params)
            if found is not NotImplemented:
                return found
        if not _are_rows(arrays, axis):
            return kernel(*arrays, axis=axis, **params)
        lead = x.shape[: x.ndim - len(axis)]
        rows = tuple(a.reshape(math.prod(lead), -1) for a in arrays)
        found = NotImplemented if lines is None else lines(rows, params)
        if found is not NotImplemented:
            kept = (1,) * len(axis) if params.get("keepdims") else ()
            return found.reshape((*lead, *kept) if reduces else x.shape)
        blocks = None if reduces or x.size < LARGE else Blocks.of(rows, rows=True)
        if blocks is None:
            return kernel(*arrays, axis=axis, **params)
        out = np.empty_like(x)
        flat = out.reshape(rows[0].shape)

        def write(block: list[Any], place: slice) -> None:
            kernel(*block, axis=(1,), out=flat[place], **params)

        blocks.each(write)
        return out

    def for_op(op: Any) -> AnyFunction:
        return functools.partial(computed, lines=native.Lines(op))

    computed.for_op = for_op  # type: ignore[attr-defined]
    return computed


def in_two_steps(kernel: AnyFunction) -> AnyFunction:
    """The kernel of a sum or mean. Of many elements, native code reduces equal parts of them first.

    This is several times as fast as NumPy's function, and as accurate: a part is short, and has
    many partial sums. If the result is not finite, NumPy computes, which may warn of it.
    """

    def for_op(op: Any) -> AnyFunction:
        lines, params = native.Lines(op), {"keepdims": False}

        def of_parts(x: Any) -> Any:
            length = math.gcd(x.size, _PART)
            if length < _PART // 16 or not x.flags.c_contiguous or not _are_like((x,), x):
                return None
            parts = [x.reshape(-1, length)]
            found = lines.again(parts, params)
            found = lines(parts, params) if found is NotImplemented else found
            if found is NotImplemented:
                return None
            with np.errstate(all="ignore"):
                out = kernel(found)
            return out if math.isfinite(out) else None

        return functools.partial(kernel, of_parts=of_parts)

    kernel.for_op = for_op  # type: ignore[attr-defined]
    return kernel


_PART = 1024  # elements in one part, at most


def _are_rows(arrays: tuple[Any, ...], axis: tuple[int, ...]) -> bool:
    """Whether the arrays have matching, contiguous lines along `axis`, which are the last axes."""
    x = arrays[0]
    first = x.ndim - len(axis)
    if not first or set(axis) != {*range(first, x.ndim)} or not _are_like(arrays, x):
        return False
    lasts = (x.shape[first:], (1,) * len(axis))  # those of other arrays may be broadcast
    return all(
        a.flags.c_contiguous and a.shape[:first] == x.shape[:first] and a.shape[first:] in lasts
        for a in arrays
    )


def _are_like(arrays: tuple[Any, ...], x: Any) -> bool:
    """Whether `x` is float32 or float64 and all arrays have its dtype."""
    return x.dtype.char in "fd" and all(
        type(a) is np.ndarray and a.dtype == x.dtype for a in arrays
    )


def takes_out(kernel: AnyFunction) -> bool:
    """Whether a kernel can write to an array `out` of the caller."""
    try:
        return "out" in inspect.signature(kernel).parameters
    except ValueError:  # a built-in function without a signature
        return False
