"""Complex numbers in native code: each is two values, the real and the imaginary part.

The parts of an array in memory lie side by side. A kernel reads them one by one (`Part`), and
writes both (`Pair`). In between, there are real numbers only. The formulas are NumPy's, so that
infinities and NaN give what they give there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops import elementwise, shape
from ...ops.define.op import Op
from . import scalars
from .core import Builder, Core, Scalar

Parts = tuple[Core, Core]
REALS = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(float)}
# Exponentials of numbers beyond these may be too large, while their products with a cosine are not.
_FAR = {np.dtype(np.float32): 80.0, np.dtype(np.float64): 700.0}


_NAMES = {"fadd": "add", "fsub": "subtract", "fmul": "multiply"}


def _op(function: Any) -> Op:
    return function.op  # type: ignore[no-any-return]


def _exact(how: str, name: str) -> Scalar:
    return Scalar(name, lambda w, x, y: w.exact(how, x, y))


_EXACT = {how: _exact(how, name) for how, name in _NAMES.items()}


class Numbers:
    """Arithmetic of real values."""

    def __init__(self, builder: Builder, dtype: Any) -> None:
        self._builder = builder
        self.dtype = dtype

    def of(self, function: Any, *args: Core) -> Core:
        """An op of real numbers."""
        op = _op(function)
        scalar = scalars.NUMBERS.get(op) or scalars.FLOATS[op]
        return self._builder.elements(scalar, args, self.dtype)

    # Rounded after each product, so that a number divided by itself is one.

    def add(self, x: Core, y: Core) -> Core:
        return self._builder.elements(_EXACT["fadd"], [x, y], self.dtype)

    def subtract(self, x: Core, y: Core) -> Core:
        return self._builder.elements(_EXACT["fsub"], [x, y], self.dtype)

    def multiply(self, x: Core, y: Core) -> Core:
        return self._builder.elements(_EXACT["fmul"], [x, y], self.dtype)

    def divide(self, x: Core, y: Core) -> Core:
        return self.of(elementwise.divide, x, y)

    def negative(self, x: Core) -> Core:
        return self.of(elementwise.negative, x)

    def number(self, value: float) -> Core:
        return self._builder.filled(value, (), self.dtype)

    def test(self, scalar: Scalar, *args: Core) -> Core:
        return self._builder.elements(scalar, args, np.dtype(bool))

    def choose(self, condition: Core, x: Core, y: Core) -> Core:
        scalar = scalars.CHOICES[_op(elementwise.where)]
        return self._builder.elements(scalar, [condition, x, y], self.dtype)


_GE, _EQ, _GT = (
    scalars.COMPARISONS[_op(f)]
    for f in (elementwise.greater_equal, elementwise.equal, elementwise.greater)
)
_FINITE = scalars.TESTS[_op(elementwise.isfinite)]
_NOT, _AND = (scalars.LOGIC[_op(f)] for f in (elementwise.logical_not, elementwise.logical_and))


def _by_parts(function: Any) -> Callable[..., Parts]:
    def apply(n: Numbers, *given: Parts) -> Parts:
        return n.of(function, *(x[0] for x in given)), n.of(function, *(x[1] for x in given))

    return apply


def _multiply(n: Numbers, x: Parts, y: Parts) -> Parts:
    (a, b), (c, d) = x, y
    add, subtract, multiply = elementwise.add, elementwise.subtract, elementwise.multiply
    real = n.of(subtract, n.of(multiply, a, c), n.of(multiply, b, d))
    return real, n.of(add, n.of(multiply, a, d), n.of(multiply, b, c))


def _divide(n: Numbers, x: Parts, y: Parts) -> Parts:
    """By the ratio of the parts of `y`, the smaller divided by the larger."""
    (a, b), (c, d) = x, y
    c_size, d_size = n.of(elementwise.abs, c), n.of(elementwise.abs, d)
    flat = n.test(_GE, c_size, d_size)
    large, small = n.choose(flat, c, d), n.choose(flat, d, c)
    ratio = n.divide(small, large)
    scale = n.divide(n.number(1), n.add(large, n.multiply(small, ratio)))
    first, second = n.choose(flat, a, b), n.choose(flat, b, a)
    real = n.multiply(n.add(first, n.multiply(second, ratio)), scale)
    imaginary = n.multiply(n.subtract(second, n.multiply(first, ratio)), scale)
    imaginary = n.choose(flat, imaginary, n.negative(imaginary))
    is_zero = n.test(_AND, n.test(_EQ, c_size, n.number(0)), n.test(_EQ, d_size, n.number(0)))
    return (
        n.choose(is_zero, n.divide(a, c_size), real),
        n.choose(is_zero, n.divide(b, c_size), imaginary),
    )


def _exp(n: Numbers, x: Parts) -> Parts:
    a, b = x
    far = _FAR[n.dtype]
    is_far = n.test(_GT, a, n.number(far))
    size = n.of(elementwise.exp, n.choose(is_far, n.subtract(a, n.number(far)), a))
    back = n.choose(is_far, n.number(math.exp(far)), n.number(1))
    # A real number has a real exponential; that of minus infinity is zero, whatever the angle is.
    is_real = n.test(_EQ, b, n.number(0))
    is_turned = n.test(_NOT, n.test(_FINITE, b))
    is_gone = n.test(_AND, n.test(_EQ, a, n.number(-math.inf)), is_turned)
    is_huge = n.test(_AND, n.test(_EQ, a, n.number(math.inf)), is_turned)
    found = []
    for part, real, huge in ((elementwise.cos, size, math.inf), (elementwise.sin, b, math.nan)):
        value = n.multiply(size, n.of(part, b))
        if part is elementwise.cos:
            value = n.choose(is_real, real, value)
        value = n.multiply(value, back)
        if part is elementwise.sin:
            value = n.choose(is_real, real, value)
        value = n.choose(is_gone, n.number(0), value)
        found.append(n.choose(is_huge, n.number(huge), value))
    return found[0], found[1]


def _sign(n: Numbers, x: Parts) -> Parts:
    """The number of size one in the same direction, or zero."""
    size = n.of(elementwise.hypot, *x)
    is_zero = n.test(_EQ, size, n.number(0))
    is_far = n.test(_EQ, size, n.number(math.inf))
    found = []
    for part, other in (x, x[::-1]):
        # An infinite part next to a finite one leaves its sign; two infinite parts leave NaN.
        is_infinite = n.test(_EQ, n.of(elementwise.abs, part), n.number(math.inf))
        is_other = n.test(_EQ, n.of(elementwise.abs, other), n.number(math.inf))
        far = n.choose(is_infinite, n.of(elementwise.sign, part), n.number(0))
        far = n.choose(n.test(_AND, is_infinite, is_other), n.number(math.nan), far)
        value = n.choose(is_zero, n.number(0), n.divide(part, size))
        found.append(n.choose(is_far, far, value))
    return found[0], found[1]


# From parts to parts.
COMPLEX: dict[Op, Callable[..., Parts]] = {
    _op(elementwise.add): _by_parts(elementwise.add),
    _op(elementwise.subtract): _by_parts(elementwise.subtract),
    _op(elementwise.negative): _by_parts(elementwise.negative),
    _op(elementwise.positive): lambda n, x: x,
    _op(shape.copy): lambda n, x: x,
    _op(shape._astype): lambda n, x: x,
    _op(elementwise.conj): lambda n, x: (x[0], n.negative(x[1])),
    _op(elementwise.multiply): _multiply,
    _op(elementwise.square): lambda n, x: _multiply(n, x, x),
    _op(elementwise.divide): _divide,
    _op(elementwise.exp): _exp,
    _op(elementwise.sign): _sign,
}
# From parts to a real number.
REAL: dict[Op, Callable[..., Core]] = {
    _op(elementwise.real): lambda n, x: x[0],
    _op(elementwise.imag): lambda n, x: x[1],
    _op(elementwise.abs): lambda n, x: n.of(elementwise.hypot, *x),
}
