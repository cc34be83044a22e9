"""Matrix products as steps of a program: which are native, and where their operands are in memory.

The native code is in `tiles`. Products that are too large for it are left to NumPy's BLAS.
"""

from __future__ import annotations

import math

from ..fuse.fusion import base_of
from ..llvm.vectors import TYPES, Module
from ..lower.core import Core, Fold, Product, View, address, strides
from .tiles import Factors, Steps, tile_text

LARGEST = 2**29  # products of numbers for a matrix, up to which tiles are as fast as a BLAS


def is_small(product: Product) -> bool:
    """Whether generated code computes a product; else a BLAS does, which is as fast or faster."""
    return math.prod(product.shape[-2:]) * product.args[0].shape[-1] <= LARGEST


class Tiles:
    """A product by tiles: a kernel, as those of `loops`.

    Parameters
    ----------
    product : Product
    module : Module
        Collects declarations.
    vector, registers : int
        The bytes of a vector register, and their number.

    Attributes
    ----------
    memory : list of Core
        The values whose addresses are in the table: the operands, the result, scratch memory.
    numbers : list of int
        What follows in the table: where the operands start.
    scratch : list of Core
        Memory for copies: each chunk has a part of its own.
    """

    def __init__(self, product: Product, module: Module, vector: int, registers: int) -> None:
        self.product = product
        (self.numbers, layout) = _layout(product)
        code = tile_text(layout, vector, registers)
        module.take_over(code.module)
        self.text, self.tile, self.width = code.text, code.tile, code.width
        self.chunks = code.chunks
        self.scratch = [Core((code.room,), product.dtype)] if code.room else []
        self.memory = [*map(base_of, product.args), product, *self.scratch]
        self.written: list[Core] = [product]
        self.partial: list[Core] = []
        self.collected: list[tuple[Core, Fold]] = []
        self.folds: dict[Core, Fold] = {}
        self.cost = product.count


def _layout(product: Product) -> tuple[list[int], Factors]:
    """Where the operands start in memory, and how all are laid out."""
    (start_a, a), (start_b, b) = map(_steps, product.args)
    *batch, m, n = product.shape
    # The rows of a batch are those of one matrix, if all its matrices are multiplied by the same.
    while batch and (batch[-1] == 1 or (not b[-3] and a[-3] == m * a[-2])):
        m *= batch.pop()
        a, b = [*a[:-3], *a[-2:]], [*b[:-3], *b[-2:]]
    k = product.args[0].shape[-1]
    steps = [Steps(tuple(x[:-2]), x[-2], x[-1]) for x in (a, b)]
    return [start_a, start_b], Factors(TYPES[product.dtype], tuple(batch), m, n, k, *steps)


def _steps(x: Core) -> tuple[int, list[int]]:
    """Where a value starts in memory, and its strides, in elements."""
    if not isinstance(x, View):
        return 0, strides(x.shape)
    start, found = address(x.map, x.args[0].shape)
    return start, [found.get(axis, 0) for axis in range(len(x.shape))]
