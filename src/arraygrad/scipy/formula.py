"""A user's function as a formula: the ops that it applied, to its arguments and to arrays outside.

`capture` runs the function once, on arrays that write down every op. A tensor or an array of a
transform that the function meets on the way (in a closure, a global variable, an attribute)
becomes a further argument of the formula. So a formula depends on nothing but its arguments: it can
be differentiated by all of them, at any later time, and on a batch of all of them.

The values of the run have no derivatives, only batches. Branches are those taken at these values.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from ..arrays.batched import Batched
from ..arrays.creation import from_sequence
from ..arrays.methods import TransformMethods
from ..arrays.numbers import check_not_in_scipy, check_not_refused, numbers_keep_derivatives
from ..arrays.tensor import Tensor
from ..arrays.writes.transforms import Replaceable, link
from ..core.array import AnyFunction, Array
from ..core.kinds import Elementwise
from ..core.levels import new_level, type_at_level
from ..core.modes import enable_grad
from ..core.nodes import recorder
from ..errors import NoGradientError
from ..func.trees import lowered
from ..ops.define.op import Op
from ..ops.elementwise import floor_divide, is_complex
from .substitution import substituted


def const(x: Any) -> Any:
    """The values of an array without tensors, tangents and other transforms, except batches."""
    if not isinstance(x, Array):
        return x
    inner = const(x.array if isinstance(x, Tensor) else x._array)
    return type(x)(inner) if isinstance(x, Batched) else inner


def carries(x: Any) -> bool:
    """Whether an array has derivatives now, or belongs to a transform that asks for dependence."""
    while isinstance(x, Array):
        if isinstance(x, Tensor):
            if x._node is not None and recorder() is not None:
                return True
        elif not isinstance(x, Batched):
            return True
        x = x._array
    return False


OUTSIDE = 1 << 30


@functools.cache
def _is_step(op: Op) -> bool:
    """Whether the results of an op are constant between jumps: comparisons, counts, signs."""
    flat = op.kind.flat == "real" or len(op.kind.flat) == len(op.inputs)
    return flat or (not op.rules and not op.slopes and op.joint is None and op.jvp is None)


class _Step(NamedTuple):
    """One op of a formula. An entry of `places` is the number of a value, or None."""

    op: Op
    places: tuple[int | None, ...]
    constants: tuple[Any, ...]  # where `places` has None
    params: dict[str, Any]
    results: tuple[int, ...]

    def run(self, values: dict[int, Any]) -> None:
        """Compute the results from other values."""
        pairs = zip(self.places, self.constants, strict=True)
        out = self.op.function(*[c if p is None else values[p] for p, c in pairs], **self.params)
        outs = out if self.op.multiple else (out,)
        values.update(zip(self.results, outs, strict=True))

    def run_once(self, values: dict[int, Any], done: dict[Any, _Step]) -> None:
        """Compute the results, unless an equal step among those that are done has them."""
        given = tuple(None if p is None else id(values[p]) for p in self.places)
        key = self.op, given, _hashable(self.constants), _hashable(self.params)
        if done.setdefault(key, self) is self:
            self.run(values)
        else:
            values.update(
                {r: values[s] for r, s in zip(self.results, done[key].results, strict=True)}
            )


class Formula:
    """The ops of a function, as a function of its own arguments and of the arrays outside.

    Attributes
    ----------
    outside : list
        The arrays that the function met, in the order in which the formula takes them.
    count : int
        How many arguments the function itself has.
    has_branches : bool
        Whether the function asked for a value: then its ops may differ elsewhere.
    met_numpy : bool
        Whether NumPy asked a value for an array of objects, or for a number.
    is_of_numbers : bool
        Whether all that depends on the arguments is numbers, element by element: then the formula
        of arrays gives its results for all elements.
    shape : tuple of int
        The shape of the result.
    choices : list of pairs
        The results of comparisons and of other steps, each after the bits of what was compared: bit
        i for argument i, `OUTSIDE` for arrays outside.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.is_open = True  # while the function runs
        self.level = 0
        self.outside: list[Any] = []
        self.steps: list[_Step] = []
        self.values = count
        self.has_branches = self.met_numpy = False
        self.is_of_numbers = True
        self.shape: tuple[int, ...] = ()
        self.choices: list[tuple[int, Any]] = []
        self._bits = {i: 1 << i for i in range(count)}
        self._known: dict[int, tuple[int, Any]] = {}  # by identity: the place, and the values
        self._result: tuple[int | None, Any] = None, None
        self._from_outside: dict[int, Any] | None = None
        self._numbers: set[int] = set()  # results that are numbers made of numbers, one by one
        self._same: list[tuple[int, int]] = []  # values that are another one

    def __call__(self, *arguments: Any) -> Any:
        """The result for the function's arguments, followed by the arrays outside."""
        values: dict[int, Any] = dict(enumerate(arguments[: self.count]))
        for (place, _), array in zip(self._known.values(), arguments[self.count :], strict=True):
            values[place] = array
        for place, other in self._same:
            values[place] = values[other]
        for step in self.steps:
            step.run(values)
        found, constant = self._result
        return constant if found is None else values[found]

    def key(self) -> Any:
        """Equal for two formulas only if they are the same function."""
        steps = [
            (s.op, s.places, s.results, tuple(map(_hashable, (*s.constants, *s.params.items()))))
            for s in self.steps
        ]
        places = tuple(place for place, _ in self._known.values())
        return tuple(steps), places, self._result[0], _hashable(self._result[1])

    def new(self) -> int:
        """The number of a new value."""
        self.values += 1
        return self.values - 1

    def meet(self, array: Any) -> tuple[int | None, Any]:
        """The place of an array from outside, None for a constant; and its values."""
        if not isinstance(array, Array):
            return None, array
        if not carries(array) and not _has_batch(array):
            return None, const(array)
        found = self._known.get(id(array))
        if found is None:
            found = self._known[id(array)] = self.new(), const(array)
            self._bits[found[0]] = OUTSIDE if carries(array) else 0
            self.outside.append(array)
        return found

    def result(self, array: Any) -> Any:
        """A result of the function without arrays of the formula."""
        if getattr(array, "formula", None) is not self:
            return array
        if self.depends_on_arguments(array.number):
            return array._array
        return self.from_outside(array.number)

    def depends_on_arguments(self, number: int) -> bool:
        """Whether a value depends on the arguments of the function, and not only on others."""
        return bool(self._bits[number] & ((1 << self.count) - 1))

    def from_outside(self, number: int) -> Any:
        """A value that depends on the arrays outside only, computed from these."""
        if self._from_outside is None:
            pairs = zip(self._known.values(), self.outside, strict=True)
            self._from_outside = {place: array for (place, _), array in pairs}
            for step in self.steps:
                if not self.depends_on_arguments(step.results[0]):
                    step.run(self._from_outside)
        return self._from_outside[number]

    def of_numbers(self, more: Sequence[Any] = ()) -> Formula:
        """The steps from number to number, as a formula of the first argument and other numbers.

        The other steps, such as p[0], are done now, with the arrays outside, and with `more`: the
        values of the other arguments. Steps from number to number are not: what they give may
        have a derivative only together with others.
        """
        rest = copy.copy(self)
        rest.count, rest.steps = 1, []
        inputs = {self._result[0]}
        for step in reversed(self.steps):
            if step.results[0] in self._numbers and not inputs.isdisjoint(step.results):
                rest.steps.insert(0, step)
                inputs.update(step.places)
        made = {0, None, *(r for step in rest.steps for r in step.results)}
        values = dict(enumerate(more, 1))
        pairs = zip(self._known.values(), self.outside, strict=True)
        values.update({place: array for (place, _), array in pairs})
        wanted, before = inputs - made, []
        for step in reversed(self.steps):
            if not wanted.isdisjoint(step.results):
                before.append(step)
                wanted.update(step.places)
        done: dict[Any, Any] = {}
        for step in reversed(before):
            step.run_once(values, done)
        rest.outside, rest._known, rest._same = [], {}, []
        first: dict[int, int] = {}  # by the identity of a value: its place
        for place in sorted(p for p in inputs - made if p is not None):
            value = values[place]
            if first.setdefault(id(value), place) == place:
                rest.outside.append(value)
                rest._known[place] = place, None
            else:
                rest._same.append((place, first[id(value)]))
        return rest

    def follow(
        self, op: Op, met: Sequence[tuple[int | None, Any]], made: Sequence[_Captured]
    ) -> None:
        """Remember of what results are made; and at which step each value is, if an op jumps."""
        bits = 0
        for place, _ in met:
            bits |= 0 if place is None else self._bits[place]
        for result in made:
            self._bits[result.number] = bits
        kind = op.kind
        if isinstance(kind, Elementwise) and made[0].ndim == 0:
            self._numbers.add(made[0].number)
        elif bits & ~OUTSIDE:
            self.is_of_numbers = False
        if not bits:
            return
        if _is_step(op) and not (kind.flat == "real" and is_complex(met[0][1])):
            self.choices.append((bits, made[0]._array))
        elif isinstance(kind, Elementwise) and kind.wraps:
            self.choices.append((bits, floor_divide(*(value for _, value in met))))

    def finish(self, result: Any) -> None:
        """Say which value is the result, and forget the steps that it does not need."""
        is_own = isinstance(result, _Captured)
        self._result = (result.number, None) if is_own else self.meet(result)
        self.shape = result.shape
        self.is_of_numbers = self.is_of_numbers and result.ndim == 0
        needed = {self._result[0]}
        steps = []
        for step in reversed(self.steps):
            if not needed.isdisjoint(step.results):
                needed.update(step.places)
                steps.append(step)
        self.steps = steps[::-1]
        unused = [key for key, (place, _) in self._known.items() if place not in needed]
        for key in unused:
            del self._known[key]
        self.outside = [array for array in self.outside if id(array) in self._known]


def _hashable(value: Any) -> Any:
    """Equal for equal values; the identity of what cannot be compared."""
    if isinstance(value, np.ndarray | np.generic):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, tuple | list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return tuple((key, _hashable(item)) for key, item in value.items())
    if isinstance(value, slice):
        return "slice", value.start, value.stop, value.step
    try:
        hash(value)
    except TypeError:
        return _Same(value)
    return type(value), value


class _Same:
    """Equal only for one and the same object, which it keeps alive."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


def _has_batch(x: Any) -> bool:
    while isinstance(x, Array):
        if isinstance(x, Batched):
            return True
        x = x._array
    return False


class _Captured(Replaceable, TransformMethods, Array):
    """A value of a formula."""

    __slots__ = ("formula", "number")
    _parts = ("_array", "formula", "number")

    def __init__(self, array: Any, formula: Formula, number: int) -> None:
        self._array = array
        self.formula = formula
        self.number = number

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        arrays = tuple(
            [a.later(op) if type(a) is cls and not a.formula.is_open else a for a in arrays]
        )
        formula: Formula | None = next((a.formula for a in arrays if type(a) is cls), None)
        if formula is None:
            return op.function(*arrays, **params)
        arrays = tuple([as_array(a) if type(a) is np.ndarray else a for a in arrays])
        met = [(a.number, a._array) if type(a) is cls else formula.meet(a) for a in arrays]
        out = op.function(*[value for _, value in met], **params)
        outs = out if op.multiple else (out,)
        made = tuple(cls(o, formula, formula.new()) for o in outs)
        places = tuple(place for place, _ in met)
        constants = tuple(value if place is None else None for place, value in met)
        numbers = tuple(m.number for m in made)
        formula.follow(op, met, made)
        formula.steps.append(_Step(op, places, constants, params, numbers))
        result: Any = made if op.multiple else made[0]
        if op.view and len(arrays) == 1:
            link(op, arrays[0], params, result)
        return result

    def later(self, op: Op) -> Any:
        """What takes its place in an op that is applied after the function has returned."""
        if not self.formula.depends_on_arguments(self.number):
            inside = _inside.get()
            array = self.formula.from_outside(self.number)
            return array if inside is None else inside(array)
        if not _is_step(op):
            raise NoGradientError(
                f"a function that SciPy calls has kept an array of shape {self.shape} that depends "
                f"on its arguments, and {op.name}() is applied to the array in a later call, which "
                "does not know its derivative: compute the array in each call, or keep its "
                "detach() if a constant is meant"
            )
        return self._array

    def over(self, function: AnyFunction) -> Any:
        return type(self)(function(self._array), self.formula, self.number)

    def detach(self) -> Any:
        self.formula.has_branches = True  # elsewhere, the value is another one
        return self._array

    def __bool__(self) -> bool:
        self.formula.has_branches = True
        return bool(self._array)

    def item(self) -> Any:
        """Refused: a Python number would lose the derivative silently."""
        if not self.formula.is_open:
            check_not_refused(float)
            return self._array.item()
        check_not_in_scipy()
        self.formula.met_numpy = True
        raise NoGradientError(
            "a function that is differentiated turns an array that depends on its arguments into a "
            "Python number, by float(), item(), or a function of math, and the number has no "
            "derivative: keep it an array, and use functions of NumPy rather than of math; call "
            "detach() if losing the derivative is meant"
        )

    __float__ = __int__ = __complex__ = item

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The elements as objects, so that ``numpy.array([x[1], -x[0]])`` keeps them."""
        if not self.formula.is_open:
            check_not_refused(float)
            return np.asarray(self._array, dtype)
        check_not_in_scipy()
        self.formula.met_numpy = True
        elements = np.empty(self.shape, object)
        for index in np.ndindex(self.shape):
            elements[index] = self[index]
        return elements

    def __repr__(self) -> str:
        return repr(self._array)


# What takes the place of an array from outside in the formula that notes ops now.
_inside: ContextVar[Callable[[Any], Any] | None] = ContextVar("arraygrad_formula", default=None)


def is_kept(x: Any) -> bool:
    """Whether an array is a value of a formula whose function has returned."""
    return isinstance(x, _Captured) and not x.formula.is_open


@contextmanager
def capturing(
    formula: Formula, arguments: Iterable[Any]
) -> Iterator[tuple[list[Any], Callable[[Any], Any]]]:
    """Let a formula note ops until the end of the block.

    Gives the values of the formula for the arguments; and a function that puts values of the
    formula in the place of arrays from outside, into a function too: what this computes from its
    closure alone is a part of the formula.
    """
    with new_level() as formula.level, enable_grad(), numbers_keep_derivatives():
        make = type_at_level(_Captured, formula.level)
        known: dict[int, Any] = {}

        def from_outside(array: Any) -> Any:
            place, value = (None, array) if is_kept(array) else formula.meet(array)
            return value if place is None else make(value, formula, place)

        own = [make(a, formula, i) for i, a in enumerate(arguments)]
        around = _inside.set(from_outside)
        try:
            yield own, lambda item: substituted(item, from_outside, known)
        except (TypeError, ValueError) as error:
            told = error.__cause__  # by `item`, if NumPy has put it into its own words
            found = told if isinstance(told, NoGradientError) else error
            if formula.met_numpy:
                found.add_note(_STAY_ARRAYS)
            if found is error:
                raise
            raise found.with_traceback(error.__traceback__) from None
        finally:
            _inside.reset(around)
            formula.is_open = False


def capture(function: AnyFunction, *arguments: Any) -> Formula:
    """Run a function at values without derivatives, and return the formula that it computes.

    The result of the function is an array, a number, or nested sequences of numbers.
    """
    formula = Formula(len(arguments))
    with capturing(formula, arguments) as (own, inside):
        result = as_array(inside(function)(*own))
    formula.finish(lowered(result, formula.level))
    return formula


_STAY_ARRAYS = (
    "A function that is differentiated joins numbers that depend on its argument by numpy.array(), "
    "or writes them to a NumPy array, with which NumPy may not be able to compute: join them by "
    "numpy.stack(), or write them to numpy.zeros_like() of the argument."
)


def as_array(x: Any) -> Any:
    """What a function returned, as an array: lists, and arrays of objects, may hold arrays."""
    if isinstance(x, np.ndarray) and x.dtype == object:
        x = x.tolist()
    x = unframed(x)
    return x if hasattr(x, "dtype") else from_sequence(x)


def unframed(x: Any) -> Any:
    """A Series, a DataFrame or an Index of pandas as an array; other objects as they are."""
    return x.to_numpy() if hasattr(x, "to_numpy") and not isinstance(x, Array) else x


def by_ops(function: AnyFunction, *arguments: Any) -> AnyFunction:
    """A function that does the same as another one near some arguments, and consists of ops only.

    So it can be differentiated also where the other one makes arrays by `numpy.array`.
    """
    formula = capture(function, *map(const, arguments))
    return lambda *values: formula(*values, *formula.outside)
