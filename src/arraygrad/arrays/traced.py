"""The traced array: turns a computation into a program, which then runs on blocks of large arrays.

The computation runs once, on single elements. The kernels that it calls are the steps of the
program. Run on a block, the program reuses as few arrays as possible, so that the intermediate
values of a block stay in the processor's cache. Only the results are written to large arrays.
`backends.numpy.blocks` cuts arrays into blocks; `sweep.blocks` traces the rules of a sweep.
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

# Ufuncs can write over an argument: they read an element before they write it.
_UFUNCS: dict[Kernel, Kernel] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.neg: np.negative,
}


class NotTraceable(Exception):
    """A computation mixes elements, or depends on the values or the shape of an array."""


class Traced(TransformMethods, Array):
    """A value in a program, computed for a single element."""

    __slots__ = ("_array", "is_whole", "number", "program")
    level = math.inf  # stands for a plain array, inside all transforms

    def __init__(self, array: Any, program: Program, is_whole: bool) -> None:
        self._array = array
        self.program = weakref.ref(program)  # weak, as the program refers to its values
        self.number = next(program.numbers)
        self.is_whole = is_whole  # has the program's shape, without broadcasting

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if not op.runs_in_blocks or params:
            raise NotTraceable
        program = None
        for a in arrays:
            if type(a) is cls:
                program = a.program()
        assert program is not None
        ones = program.ones
        if op is multiply.op and ones is not None:  # type: ignore[attr-defined]
            for one, other in (arrays, arrays[::-1]):
                if one is ones and program.is_like(other, ones):
                    return other
        kernel = default.kernel(op)
        return program.add(_UFUNCS.get(kernel, kernel), arrays, op)

    @property
    def shape(self) -> tuple[int, ...]:
        """Refused: blocks have other shapes than the single element."""
        raise NotTraceable

    def item(self) -> Any:
        """Refused: blocks have other values than the single element."""
        raise NotTraceable

    __bool__ = __float__ = __int__ = __complex__ = __index__ = detach = item

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise NotTraceable


class _Step(NamedTuple):
    kernel: Kernel
    arguments: Sequence[Any]
    value: Traced
    op: Op | None  # that the kernel computes, if it is one of arraygrad


class Program:
    """The steps of a computation on arrays that have one shape, or are broadcast to it.

    Attributes
    ----------
    inputs : list
        The arrays that the program starts from.
    steps : list
        How each value that is not an input is computed.
    numbers : iterator of int
        Gives each new value its own number.
    ones : Traced or None
        An input that is one everywhere: products with it are left out.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.inputs: list[Any] = []
        self.steps: list[_Step] = []
        self.numbers = itertools.count()
        self.ones: Traced | None = None
        self._shape = shape
        self._known: dict[int, Traced] = {}  # the inputs, by the identity of their array

    def input(self, array: Any) -> Any:
        """The value that stands for an input array; numbers stand for themselves."""
        if not (isinstance(array, np.ndarray) and array.ndim):
            return array
        value = self._known.get(id(array))
        if value is None:
            first = np.asarray(array)[(slice(1),) * array.ndim]
            value = self._known[id(array)] = Traced(first, self, array.shape == self._shape)
            self.inputs.append(array)
            if value.is_whole and not any(array.strides) and first == 1:
                self.ones = value
        return value

    def scalar(self, array: Any) -> Traced:
        """The value that stands for a 0-d array: a number that is another one in each run."""
        value = self._known[id(array)] = Traced(array, self, is_whole=False)
        self.inputs.append(array)
        return value

    @property
    def given(self) -> list[int]:
        """The numbers of the inputs' values."""
        return [value.number for value in self._known.values()]

    def add(self, kernel: Kernel, arguments: Sequence[Any], op: Op | None = None) -> Traced:
        """Add a step: a kernel, maybe an op's kernel, computes a new value from others."""
        elements, is_whole = [], False
        for a in arguments:
            if type(a) is Traced:
                elements.append(a._array)
                is_whole = is_whole or a.is_whole
            elif getattr(a, "ndim", 0):
                raise NotTraceable  # a rule made this array, for the single element only
            else:
                elements.append(a)
        value = Traced(kernel(*elements), self, is_whole)
        self.steps.append(_Step(kernel, arguments, value, op if op and op.is_library else None))
        return value

    def is_like(self, value: Any, other: Traced) -> bool:
        """Whether `value` is traced and has the shape and dtype of `other`, which is whole."""
        if type(value) is not Traced or not value.is_whole:
            return False
        one, another = value._array, other._array
        return bool(one.shape == another.shape and one.dtype == another.dtype)

    def length(self) -> tuple[int, int]:
        """The numbers of inputs and steps, for `shorten`."""
        return len(self.inputs), len(self.steps)

    def shorten(self, length: tuple[int, int]) -> None:
        """Remove all inputs and steps that were added since the program had this length."""
        inputs, steps = length
        for array in self.inputs[inputs:]:
            del self._known[id(array)]
        del self.inputs[inputs:], self.steps[steps:]

    def compiled(self, results: list[Traced], over: list[Any]) -> Callable[..., None]:
        """The function `run(block, places)`, which writes the results for a block of the inputs.

        Results may overwrite inputs: for each result, `over` has the input array that it is written
        to, or None.
        """
        under = [None if array is None else self._known[id(array)].number for array in over]
        compiled = _Compiled(self.given, results, under)
        for index, step in enumerate(self.steps):
            for a in step.arguments:
                if type(a) is Traced:
                    compiled.last[a.number] = index
        for value in results:
            compiled.last[value.number] = len(self.steps)
        for index, step in enumerate(self.steps):
            compiled.add(index, step)
        return compiled.run


class _Compiled:
    """A program with a register for every value. Values share a register, one after the other.

    The first registers hold the inputs, the next ones the places of the results. The others hold
    constants, work arrays, and the results of kernels that make their own array.
    """

    def __init__(self, inputs: list[int], results: list[Traced], under: list[int | None]) -> None:
        self.last: dict[int, int] = {}  # for each value, the last step that reads it
        self._of = {number: register for register, number in enumerate(inputs)}
        first = len(inputs)
        self._places = {value.number: first + i for i, value in enumerate(results)}
        self._under = dict(zip(self._places, under, strict=True))
        self._count = first + len(results)
        self._constants: dict[int, Any] = {}
        self._dtypes: dict[int, str] = {}  # of work arrays; empty if the kernel makes the array
        self._free: dict[str, list[int]] = {}  # unused registers, by dtype
        self._code: list[tuple[Kernel, list[int], int, bool]] = []

    def add(self, index: int, step: _Step) -> None:
        """Choose registers for a step."""
        kernel, arguments, value, _ = step
        takes, done = [], []
        for a in arguments:
            if type(a) is Traced:
                takes.append(self._of[a.number])
                if self.last[a.number] == index and takes[-1] in self._dtypes:
                    done.append(takes[-1])
            else:
                takes.append(self._new())
                self._constants[takes[-1]] = a
        in_place = isinstance(kernel, np.ufunc)  # reads each element before writing it
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

    def _is_free(self, value: Traced, index: int) -> bool:
        """Whether a value is a result, and no step from `index` on reads the place it goes to."""
        if value.number not in self._places:
            return False
        under = self._under[value.number]
        return under is None or self.last.get(under, -1) < index

    def run(self, block: list[Any], places: list[Any]) -> None:
        """Compute the results for one block of the inputs, and write them to `places`."""
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
    """Whether a kernel other than a ufunc can write to an array with the dtype of its arguments."""
    dtype = step.value.dtype
    alike = all(type(a) is Traced and a.dtype == dtype for a in step.arguments)
    return alike and dtype.char in "fd" and takes_out(step.kernel)
