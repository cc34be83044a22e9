"""The recorded array: writes down what is computed from it, to be done for many blocks of arrays.

A computation is run once on single elements, and the kernels that it came to are a program. Run on
a block, the program computes in as few arrays as can be, which stay in the processor's cache, and
writes its results to where they are wanted.
"""

from __future__ import annotations

import itertools
import math
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..backends import default
from ..backends.numpy.blocks import takes_out
from ..core.array import Array
from ..ops.define.op import Op
from ..ops.elementwise import multiply
from .methods import TransformMethods

Kernel = Callable[..., Any]

# Those that can write over an argument: for each element, they are done with what they read.
_UFUNCS: dict[Kernel, Kernel] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.neg: np.negative,
}


class NotRecorded(Exception):
    """Raised for what does not compute each element by itself, or takes a course by values."""


class Recorded(TransformMethods, Array):
    """A value in a program, as it is for a single element."""

    __slots__ = ("_array", "is_whole", "number", "program")
    level = math.inf  # it stands for a plain array, inside all transforms

    def __init__(self, array: Any, program: Program, is_whole: bool) -> None:
        self._array = array
        self.program = weakref.ref(program)  # which has this value: no cycle, which would last
        self.number = next(program.numbers)
        self.is_whole = is_whole  # not one that is broadcast to the shape of the others

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if not op.runs_in_blocks or params:
            raise NotRecorded
        program = next(a.program() for a in arrays if type(a) is cls)
        assert program is not None
        ones = program.ones
        if op is multiply.op and ones is not None:  # type: ignore[attr-defined]
            for one, other in (arrays, arrays[::-1]):
                if one is ones and program.is_like(other, ones):
                    return other
        kernel = default.kernel(op)
        return program.add(_UFUNCS.get(kernel, kernel), arrays)

    @property
    def shape(self) -> tuple[int, ...]:
        """Refused: a block has another."""
        raise NotRecorded

    def item(self) -> Any:
        """Refused: in another block there will be other numbers."""
        raise NotRecorded

    __bool__ = __float__ = __int__ = __complex__ = __index__ = detach = item

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise NotRecorded


class _Step(NamedTuple):
    kernel: Kernel
    arguments: Sequence[Any]
    value: Recorded


class Program:
    """Steps of a computation on arrays that have, or are broadcast to, one shape.

    Attributes
    ----------
    inputs : list
        The arrays that it starts from.
    steps : list
        How the values that are no inputs are computed.
    numbers : iterator of int
        The numbers of values to come: each has one of its own.
    ones : Recorded or None
        An input of nothing but ones, by which nothing need be multiplied.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.inputs: list[Any] = []
        self.steps: list[_Step] = []
        self.numbers = itertools.count()
        self.ones: Recorded | None = None
        self._shape = shape
        self._known: dict[int, Recorded] = {}  # the inputs, by the identities of the arrays

    def input(self, array: Any) -> Any:
        """The value of an array that is given; numbers are what they are."""
        if not (isinstance(array, np.ndarray) and array.ndim):
            return array
        value = self._known.get(id(array))
        if value is None:
            first = np.asarray(array)[(slice(1),) * array.ndim]
            value = self._known[id(array)] = Recorded(first, self, array.shape == self._shape)
            self.inputs.append(array)
            if value.is_whole and not any(array.strides) and first == 1:
                self.ones = value
        return value

    def add(self, kernel: Kernel, arguments: Sequence[Any]) -> Recorded:
        """A value that a kernel computes from others."""
        elements = [a._array if type(a) is Recorded else a for a in arguments]
        if any(e is a and np.ndim(e) for e, a in zip(elements, arguments, strict=True)):
            raise NotRecorded  # an array that was made for the single element only
        is_whole = any(type(a) is Recorded and a.is_whole for a in arguments)
        value = Recorded(kernel(*elements), self, is_whole)
        self.steps.append(_Step(kernel, arguments, value))
        return value

    def is_like(self, value: Any, other: Recorded) -> bool:
        """Whether something is a value with the shape and dtype of another, a whole one."""
        if type(value) is not Recorded or not value.is_whole:
            return False
        one, another = value._array, other._array
        return bool(one.shape == another.shape and one.dtype == another.dtype)

    def length(self) -> tuple[int, int]:
        """How many inputs and steps there are: all that `shorten` needs to go back to here."""
        return len(self.inputs), len(self.steps)

    def shorten(self, length: tuple[int, int]) -> None:
        """Forget what was added since the program had this length."""
        inputs, steps = length
        for array in self.inputs[inputs:]:
            del self._known[id(array)]
        del self.inputs[inputs:], self.steps[steps:]

    def compiled(self, results: list[Recorded], over: list[Any]) -> Callable[..., None]:
        """The function `run(block, places)`, which writes results for a block of the inputs.

        Some of the places may be in arrays that are inputs, too: `over` has these, and None for the
        others.
        """
        under = [None if array is None else self._known[id(array)].number for array in over]
        compiled = _Compiled([v.number for v in self._known.values()], results, under)
        for index, step in enumerate(self.steps):
            for a in step.arguments:
                if type(a) is Recorded:
                    compiled.last[a.number] = index
        for value in results:
            compiled.last[value.number] = len(self.steps)
        for index, step in enumerate(self.steps):
            compiled.add(index, step)
        return compiled.run


class _Compiled:
    """A program with a register for every value; many values share one, one after the other.

    The first registers are those of the inputs, the next are the places for results. The others are
    constants, arrays to compute in, and what kernels give that make arrays of their own.
    """

    def __init__(self, inputs: list[int], results: list[Recorded], under: list[int | None]) -> None:
        self.last: dict[int, int] = {}  # the step that is the last to read each value
        self._of = {number: register for register, number in enumerate(inputs)}
        first = len(inputs)
        self._places = {value.number: first + i for i, value in enumerate(results)}
        self._under = dict(zip(self._places, under, strict=True))
        self._count = first + len(results)
        self._constants: dict[int, Any] = {}
        self._dtypes: dict[int, str] = {}  # of the arrays to compute in; none for what is made
        self._free: dict[str, list[int]] = {}  # registers by these dtypes
        self._code: list[tuple[Kernel, list[int], int, bool]] = []

    def add(self, index: int, step: _Step) -> None:
        """Choose registers for a step."""
        kernel, arguments, value = step
        takes, done = [], []
        for a in arguments:
            if type(a) is Recorded:
                takes.append(self._of[a.number])
                if self.last[a.number] == index and takes[-1] in self._dtypes:
                    done.append(takes[-1])
            else:
                takes.append(self._new())
                self._constants[takes[-1]] = a
        in_place = isinstance(kernel, np.ufunc)  # it reads each element before it writes it
        fills = value.is_whole and (in_place or _can_fill(step))
        dtype = value.dtype.str if fills else ""
        like = [register for register in done if self._dtypes[register] == dtype]
        if fills and self._is_free(value, index + in_place):
            register = self._places[value.number]
        elif fills and in_place and like:
            register = like[0]
        elif self._free.get(dtype):
            register = self._free[dtype].pop()
        else:
            register = self._new()
            self._dtypes[register] = dtype
        self._of[value.number] = register
        for one in set(done) - {register}:
            self._free.setdefault(self._dtypes[one], []).append(one)
        self._code.append((kernel, takes, register, fills))

    def _new(self) -> int:
        self._count += 1
        return self._count - 1

    def _is_free(self, value: Recorded, index: int) -> bool:
        """Whether a value can go to a place for it, of which no step from `index` on reads."""
        if value.number not in self._places:
            return False
        under = self._under[value.number]
        return under is None or self.last.get(under, -1) < index

    def run(self, block: list[Any], places: list[Any]) -> None:
        """Compute the results for a block of the inputs."""
        registers = [*block, *places, *[None] * (self._count - len(block) - len(places))]
        for register, constant in self._constants.items():
            registers[register] = constant
        for register, dtype in self._dtypes.items():
            if dtype:
                registers[register] = np.empty(block[0].shape, dtype)
        for kernel, takes, register, fills in self._code:
            arguments = [registers[i] for i in takes]
            if fills:
                kernel(*arguments, out=registers[register])
            else:
                registers[register] = kernel(*arguments)
        for number, place in self._places.items():
            if self._of[number] != place:
                registers[place][...] = registers[self._of[number]]


def _can_fill(step: _Step) -> bool:
    """Whether a kernel that is no ufunc can write to an array with the dtype of its arguments."""
    dtype = step.value.dtype
    alike = all(type(a) is Recorded and a.dtype == dtype for a in step.arguments)
    return alike and dtype.char in "fd" and takes_out(step.kernel)
