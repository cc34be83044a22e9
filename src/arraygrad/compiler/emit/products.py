"""Matrix products as steps of a program: which are native, and where their operands are in memory.

The native code is in `tiles`. Products that are too large for it are left to NumPy's BLAS.
"""

from __future__ import annotations

import math

from ..fuse.fusion import base_of
from ..llvm.vectors import TYPES, Module
from ..lower.core import Core, Filtered, Fold, Product, layout, strides
from .tiles import Factors, Ints, Steps, tile_text

LARGEST = 2**29  # products of numbers for a matrix, up to which tiles are as fast as a BLAS


def is_small(product: Product) -> bool:
    """Whether generated code computes a product; else a BLAS does, which is as fast or faster."""
    is_one = isinstance(product, Filtered)
    return is_one or math.prod(product.shape[-2:]) * product.args[0].shape[-1] <= LARGEST


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
        (start_a, a), (start_b, b) = map(layout, product.args)
        self.numbers = [start_a, start_b]
        if isinstance(product, Filtered):
            factors = _filters(product, a, b)
        else:
            factors = _factors(product, a, b)
        code = tile_text(factors, vector, registers)
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


def _factors(product: Product, a: list[int], b: list[int]) -> Factors:
    """A product of matrices with some strides."""
    *batch, m, n = product.shape
    # The rows of a batch are those of one matrix, if all its matrices are multiplied by the same.
    while batch and (batch[-1] == 1 or (not b[-3] and a[-3] == m * a[-2])):
        m *= batch.pop()
        a, b = [*a[:-3], *a[-2:]], [*b[:-3], *b[-2:]]
    k = product.args[0].shape[-1]
    out = strides((*batch, m, n))
    steps = [Steps(tuple(x[:-2]), (x[-2],), (x[-1],)) for x in (a, b, out)]
    return Factors(TYPES[product.dtype], tuple(batch), (m,), (n,), (k,), *steps)


def _filters(product: Filtered, a: list[int], b: list[int]) -> Factors:
    """Filters, which slide over an array, as a product of matrices."""
    kind, windows, turned = TYPES[product.dtype], product.windows, product.turned
    in_x, in_w = (a, b) if turned else (b, a)
    x, w = product.args if turned else product.args[::-1]
    by_window, by_place = (
        tuple(n * s for n, s in zip(steps, in_x[3:], strict=True))
        for steps in (product.stride, product.dilation)
    )
    out = strides(product.shape)
    k, k_x, k_w = _merged(w.shape[2:], (in_x[2], *by_place), tuple(in_w[2:]))
    if turned:
        m, m_x, _ = _merged((x.shape[0], *windows), (in_x[0], *by_window), tuple(out[1:-1]))
        left, right = Steps((in_x[1],), m_x, k_x), Steps((in_w[0],), k_w, (in_w[1],))
        result = Steps((out[0],), (out[-2],), (out[-1],))
        return Factors(kind, x.shape[1:2], m, w.shape[1:2], k, left, right, result)
    left, right = Steps((0, in_w[0]), (in_w[1],), k_w), Steps((in_x[0], in_x[1]), k_x, by_window)
    result = Steps((out[0], out[1]), (out[2],), tuple(out[3:]))
    return Factors(kind, x.shape[:2], w.shape[1:2], windows, k, left, right, result)


def _merged(lengths: Ints, *steps: Ints) -> list[Ints]:
    """The lengths and strides of axes, of which those that follow each other in memory are one."""
    found: list[Ints] = []
    for n, *along in zip(lengths, *steps, strict=True):
        if n == 1:
            continue
        if found and all(s == n * t for s, t in zip(found[-1][1:], along, strict=True)):
            n *= found.pop()[0]
        found.append((n, *along))
    return list(zip(*found or [(1,) * (1 + len(steps))], strict=True))
