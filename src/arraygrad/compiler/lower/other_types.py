"""Lowering ops on complex numbers, and on float16; see `lowering`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.kinds import Elementwise, Moves, Reduces
from ..llvm.native import has_halves
from ..llvm.vectors import TYPES
from ..trace.program import Call, Node, Shape
from . import scalars
from .complexes import COMPLEX, REAL, REALS, Numbers
from .core import COPY, Core, Filled

if TYPE_CHECKING:
    from .lowering import Lowering

HALF = np.dtype(np.float16)


class NotNative(Exception):
    """Native code cannot compute an op on these arguments. The message says why, for people."""


class Halves:
    """Lowers ops on float16: computed in float32, and rounded after each op, as NumPy does."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering

    def lower(self, node: Call) -> Core:
        """An op with float16 among its arguments and results."""
        op, kind = node.op, node.op.kind
        if not has_halves() or any(x.dtype not in TYPES for x in (node, *node.nodes)):
            raise NotNative(f"there is none for elements of {HALF}")
        if isinstance(kind, Moves) and kind.shares and len(node.args) == 1:
            return self._lowering.moved(self._lowering.values[node.args[0]], node, kind)
        if isinstance(kind, Elementwise) and not kind.whole and node.dtype != HALF:
            return self._lowering.elementwise(node)
        wide = np.dtype(np.float32)
        made: Core | None = None
        if isinstance(kind, Elementwise) and op in scalars.CHOICES:
            condition = self._lowering.as_dtype(node.args[0], np.dtype(np.bool_))
            chosen = [self._widened(a) for a in node.args[1:]]
            made = self._lowering.made(scalars.CHOICES[op], [condition, *chosen], wide)
        elif isinstance(kind, Elementwise) and (op in scalars.NUMBERS or op in scalars.FLOATS):
            scalar = scalars.NUMBERS.get(op) or scalars.FLOATS[op]
            made = self._lowering.made(scalar, [self._widened(a) for a in node.args], wide)
        elif isinstance(kind, Reduces) and op in scalars.FOLDS:
            made = self._lowering.folded(scalars.FOLDS[op], self._widened(node.args[0]), node, kind)
        if made is None:
            raise NotNative(f"there is none for {op.name} of {HALF}")
        return self._lowering.builder.elements(scalars.conversion("half"), [made], HALF)

    def _widened(self, x: Any) -> Core:
        """An argument of an op with a float16 result, in float32; numbers are rounded first."""
        if isinstance(x, Node) and x.dtype not in (HALF, np.float32, np.bool_):
            raise NotNative(f"NumPy decides what elements of {x.dtype} are as {HALF}")
        if not isinstance(x, Node):
            if not isinstance(x, bool | int | float | np.generic):
                raise NotNative("an argument is no real number")
            with np.errstate(all="ignore"):
                x = float(np.float16(x))
        return self._lowering.as_dtype(x, np.dtype(np.float32))


class Complexes:
    """Lowers ops on complex numbers to real ones on their parts."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering
        self._pairs: dict[Node, tuple[Core, Core]] = {}  # the parts of what was lowered

    def lower(self, node: Call) -> Core:
        """An op on complex numbers: real ones for each of their parts."""
        op, kind, args = node.op, node.op.kind, node.args
        if op in REAL and node.dtype in TYPES:
            found = REAL[op](
                Numbers(self._lowering.builder, node.dtype), self._parts(args[0], node.dtype)
            )
            # A part of what is in memory is no array by itself.
            return self._lowering.builder.elements(COPY, [found], node.dtype)
        if node.dtype not in REALS:
            raise NotNative(f"there is none for {op.name} of complex numbers")
        real = REALS[node.dtype]
        if op in COMPLEX:
            given = [self._parts(a, real) for a in args]
            return self._paired(node, COMPLEX[op](Numbers(self._lowering.builder, real), *given))
        if op in scalars.CHOICES:
            condition = self._lowering.as_dtype(args[0], np.dtype(np.bool_))
            x, y = (self._parts(a, real) for a in args[1:])
            numbers = Numbers(self._lowering.builder, real)
            return self._paired(
                node, tuple(numbers.choose(condition, a, b) for a, b in zip(x, y, strict=True))
            )
        if isinstance(kind, Moves) and kind.shares and len(args) == 1:
            moved = [self._lowering.moved(part, node, kind) for part in self._parts(args[0], real)]
            return self._paired(node, tuple(moved))
        if isinstance(kind, Reduces) and scalars.FOLDS.get(op) is scalars.SUM:
            parts = self._parts(args[0], real)
            folded = [self._lowering.folded(scalars.SUM, part, node, kind) for part in parts]
            return self._paired(node, tuple(folded))
        raise NotNative(f"there is none for {op.name} of complex numbers")

    def _paired(self, node: Call, parts: Any) -> Core:
        self._pairs[node] = parts
        return self._lowering.builder.pair(parts, node.shape, node.dtype)

    def _parts(self, x: Any, dtype: Any) -> tuple[Core, Core]:
        """The real and imaginary part of an argument, in a real dtype."""
        if not isinstance(x, Node):
            if not isinstance(x, bool | int | float | complex | np.generic):
                raise NotNative("an argument is no number")
            return self._filled(complex(x), (), dtype)
        value = self._lowering.values[x]
        if x in self._pairs:
            parts = list(self._pairs[x])
        elif value.dtype not in REALS:
            zero = self._lowering.builder.filled(0, value.shape, dtype)
            return self._lowering.as_dtype(x, dtype), zero
        elif isinstance(value, Filled):
            return self._filled(value.value, value.shape, dtype)
        else:
            parts = [self._lowering.builder.part(value, i, REALS[value.dtype]) for i in (0, 1)]
        convert = scalars.conversion(TYPES[dtype])
        real, imaginary = (
            p if p.dtype == dtype else self._lowering.builder.elements(convert, [p], dtype)
            for p in parts
        )
        return real, imaginary

    def _filled(self, value: Any, shape: Shape, dtype: Any) -> tuple[Core, Core]:
        filled = self._lowering.builder.filled
        return filled(value.real, shape, dtype), filled(value.imag, shape, dtype)
