"""Running SciPy on plain values: of tensors, duals and batches, in arguments and in functions.

A function that closes over arrays of arraygrad is copied, with their plain values in its closure:
so it runs at NumPy's speed. Arrays that it meets elsewhere, in global variables or attributes, show
in its results, whose values are taken. Of a batch, SciPy runs once for each member.

A function may keep what it computes: a matrix in a dictionary, for later calls. From plain values,
it would keep a constant. So its first call gets the arrays that the user gave, and notes its ops;
if it keeps something, all its calls do. What it keeps of its own argument has no derivative later.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Sequence
from numbers import Number
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

import numpy as np

from ..arrays.batched import Batched, batched_type
from ..arrays.creation import new as new_tensor
from ..arrays.numbers import numbers_keep_derivatives
from ..arrays.tensor import Tensor
from ..backends import backend_of
from ..backends.filled import zeros_like
from ..compiler.call.reachable import reachable
from ..core.array import AnyFunction, Array
from ..errors import DataDependentError, NoGradientError
from ..func.trees import lowered
from ..ops.define import Own
from ..ops.define.library import declare
from ..ops.padding import repeated
from .formula import Formula, as_array, capturing, carries, const, is_kept
from .substitution import is_record, substituted, with_attributes


class Runs:
    """What SciPy returned, for each member of the batches that took part.

    Attributes
    ----------
    results : list
        One result if there is no batch.
    reports : list
        What else is known of each result; see `solving.solver`.
    has_derivatives : bool
        Whether an array with derivatives took part.
    """

    def __init__(self) -> None:
        self.results: list[Any] = []
        self.reports: list[Any] = []
        self.has_derivatives = False
        self._has_tensors = False
        self._sizes: dict[float, int] = {}  # of the batches, by level
        self._member: dict[float, int] = {}
        # By identity: what SciPy gets, and what the user gave.
        self._given: dict[int, tuple[Any, Any]] = {}
        self._function: Any = None  # the first function among the arguments
        self._keeps = False
        self._first: tuple[Formula, Any, list[Any]] | None = None  # what that did in its first call

    def formula(self, of_numbers: bool = False) -> Formula | None:
        """The first function among the arguments, as a formula of its first argument.

        None unless it computes in the same way everywhere: only numbers, or, unless `of_numbers`,
        arrays without further arguments of its own.
        """
        if self._first is None or self._keeps:
            return None
        formula, result, more = self._first
        formula.finish(lowered(result, formula.level))
        if formula.has_branches:
            return None
        if formula.is_of_numbers:
            return formula.of_numbers(more)
        return None if more or of_numbers else formula

    def split(self) -> None:
        """Take pairs of results and reports apart."""
        pairs, self.results, self.reports = self.results, [], []
        for result, report in pairs:
            self.results.append(result)
            self.reports.append(report)

    @property
    def is_single(self) -> bool:
        """Whether no batch takes part."""
        return not self._sizes

    def join(self, values: Sequence[Any]) -> Any:
        """One value from the values of all members: arrays become a batch."""
        if self.is_single:
            return values[0]
        first = values[0]
        if isinstance(first, dict):
            joined = copy.copy(first)
            joined.update({key: self.join([v[key] for v in values]) for key in first})
            return joined
        if isinstance(first, tuple):
            parts = [self.join(column) for column in zip(*values, strict=True)]
            return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
        if isinstance(first, list) and len({len(v) for v in values}) == 1:
            return [self.join(column) for column in zip(*values, strict=True)]
        if isinstance(first, bool | np.bool_) and all(v == first for v in values):
            return first
        if isinstance(first, np.ndarray | np.generic | int | float | complex):
            if len({np.shape(v) for v in values}) == 1:
                return self._batch(np.stack([np.asarray(v) for v in values]))
            return Ragged(values)
        same = isinstance(first, str | type(None)) and all(v == first for v in values)
        return first if same else list(values)

    def _batch(self, stacked: Any) -> Any:
        levels = sorted(self._sizes)
        sizes = [self._sizes[level] for level in levels]
        array: Any = np.reshape(stacked, (*sizes, *stacked.shape[1:]))
        for level in levels:
            array = batched_type(level)(array)
        return array

    def as_given(self, result: Any) -> Any:
        """A plain result, or its parts, as tensors if a tensor took part."""
        if not self._has_tensors:
            return result
        if isinstance(result, np.ndarray | np.generic | float):
            return new_tensor(np.asarray(result))
        if isinstance(result, dict):
            result.update({k: self.as_given(result[k]) for k in ("x", "root") if k in result})
        if type(result) is tuple:
            arrays = [i for i, part in enumerate(result) if not i or isinstance(part, np.ndarray)]
            return tuple(self.as_given(p) if i in arrays else p for i, p in enumerate(result))
        return result

    # --- plain values ---

    def value(self, x: Any) -> Any:
        """The plain value of an array, for the present member."""
        self.has_derivatives = self.has_derivatives or carries(x)
        levels = []
        inner = x
        while isinstance(inner, Array):
            if isinstance(inner, Batched):
                levels.append(inner.level)
            self._has_tensors = self._has_tensors or isinstance(inner, Tensor)
            if (formula := getattr(inner, "formula", None)) is not None:
                formula.has_branches = True  # what the solver finds differs elsewhere
            inner = inner._array
        try:
            array = backend_of(inner).to_numpy(inner)
        except TypeError:  # it stands for a value of a program
            raise DataDependentError(
                "a solver of SciPy was called while a function was compiled, when no values are "
                "known: compile the function that the solver calls, or call the solver outside of "
                "ag.compile"
            ) from None
        for level, size in zip(levels[::-1], array.shape, strict=False):
            if level not in self._member:
                raise _BatchFound(level, size)
        return array[tuple(self._member[level] for level in levels[::-1])]

    def members(self, run: AnyFunction, given: Sequence[Any]) -> None:
        """Call `run` for each member of the batches that are found."""
        while True:
            self.results = []
            levels = sorted(self._sizes)
            try:
                for member in itertools.product(*(range(self._sizes[lv]) for lv in levels)):
                    self._member = dict(zip(levels, member, strict=True))
                    with numbers_keep_derivatives():
                        self.results.append(run(*self._plain(given)))
            except _BatchFound as found:
                if found.level in self._sizes:
                    raise
                self._sizes[found.level] = found.size
                continue
            if not self.results:
                raise ValueError("SciPy's function cannot run on an empty batch")
            return

    def _plain(self, given: Sequence[Any]) -> list[Any]:
        known: dict[int, Any] = {}

        def replace(array: Any) -> Any:
            value = array if is_kept(array) else self.value(array)
            self._given[id(value)] = value, array
            return value

        plain = [substituted(item, replace, known) for item in given]
        self._given.update({id(new): (new, old) for old, new in known.values()})
        return [self._argument(item) for item in plain]

    def _argument(self, item: Any) -> Any:
        """An argument for SciPy: results of functions in it are plain values."""
        if is_record(item):
            return with_attributes(item, self._argument(dict(vars(item))))
        if callable(item) and not isinstance(item, type):
            # Arrays, and functions of other languages, which SciPy calls directly, stay.
            stays = hasattr(item, "shape") or hasattr(item, "argtypes")
            return item if stays else self._valued(item)
        if type(item) in (list, tuple):
            parts = [self._argument(part) for part in item]
            same = all(a is b for a, b in zip(parts, item, strict=True))
            return item if same else type(item)(parts)
        if type(item) is dict:
            return {key: self._argument(part) for key, part in item.items()}
        return item

    def _valued(self, function: AnyFunction) -> Valued:
        """The function, with the arrays that the user gave in calls that may keep them."""
        original = self._as_given(function)
        if self._function is None:
            self._function = original
        if not self.has_derivatives or original is not self._function:
            return Valued(function, function, self.value)  # derivatives, callbacks, events
        is_first = True

        def called(*args: Any, **kwargs: Any) -> Any:
            nonlocal is_first
            if not is_first and not self._keeps:
                return function(*args, **kwargs)
            before = reachable(original).found if is_first else ()
            given = [self._as_given(x) for x in args]
            more = {name: self._as_given(x) for name, x in kwargs.items()}
            is_own = [new is x for new, x in zip(given, args, strict=True)]
            result = self._captured(original, given, more, is_own)
            if is_first:
                is_first = False
                known = {id(found.value) for found in before}
                now = [found.value for found in reachable(original).found]
                self._keeps = any(id(v) not in known and not isinstance(v, _PLAIN) for v in now)
                if not self._keeps:
                    valued.__wrapped__ = function
            return result

        valued = Valued(function, _named_as(function, called), self.value)
        return valued

    def _captured(
        self, function: AnyFunction, args: list[Any], kwargs: dict[str, Any], is_own: list[bool]
    ) -> Any:
        """The value of a function that computes with the arrays that the user gave.

        `is_own` says which arguments are the solver's, which may differentiate by them.
        """
        kinds = (np.ndarray, float, Array)
        places = [i for i, x in enumerate(args) if is_own[i] and isinstance(x, kinds)]
        formula = Formula(len(places))
        values = [args[i] if isinstance(args[i], Array) else np.asarray(args[i]) for i in places]
        with capturing(formula, values) as (own, inside):
            args, kwargs = inside(args), inside(kwargs)
            for i, value in zip(places, own, strict=True):
                args[i] = value
            result = inside(function)(*args, **kwargs)
            if isinstance(result, np.ndarray):
                result = as_array(result)  # its elements may be arrays
        if formula.met_numpy and any(isinstance(v, Array) for v in values):
            raise NoGradientError("in its other calls, numpy.array() of tensors would raise")
        for array in formula.outside:
            self.value(array)  # it takes part
        if places[:1] == [0] and getattr(result, "formula", None) is formula:
            self._first = formula, result, values[1:]
        return substituted(result, formula.result, {})

    def _as_given(self, x: Any) -> Any:
        return self._given.get(id(x), (x, x))[1]


class Valued:
    """A function that returns plain values: those of the arrays that the user's function returns.

    Attributes
    ----------
    __wrapped__ : callable
        What is called: the user's function, or what calls it.
    value_of : callable
        The plain value of an array.
    """

    def __init__(self, function: AnyFunction, called: AnyFunction, value_of: AnyFunction) -> None:
        vars(self).update(_function=function, value_of=value_of)
        _named_as(called, self, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.__wrapped__(*args, **kwargs)
        kind = type(result)
        if kind is np.float64 or kind is np.ndarray or kind is float:
            return result
        if isinstance(result, Array):
            return self.value_of(result)
        return substituted(result, self.value_of, {}) if kind in (list, tuple) else result

    def __getattr__(self, name: str) -> Any:  # an object may be more than a function
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._function, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            object.__setattr__(self, name, value)
        else:  # SciPy changes the objects that take its steps
            setattr(self._function, name, value)

    def __reduce__(self) -> Any:  # for a solver with workers, which are processes
        return _itself, (self._function,)


def _itself(function: AnyFunction) -> AnyFunction:
    return function


def _named_as(
    function: AnyFunction, wrapper: AnyFunction, updated: Any = functools.WRAPPER_UPDATES
) -> AnyFunction:
    """A wrapper that SciPy takes for the function itself, when it asks for its parameters."""
    try:
        functools.update_wrapper(wrapper, function, updated=updated)
    except (AttributeError, TypeError):  # an object with attributes of its own
        wrapper.__wrapped__ = function  # type: ignore[attr-defined]
    return wrapper


# What a function may keep without derivatives, and what the walk makes anew.
_PLAIN: tuple[type, ...] = (
    *(np.ndarray, np.generic, Number, str, bytes, type(None), list, dict, tuple, set, type),
    *(FunctionType, MethodType, BuiltinMethodType, MethodWrapperType, ModuleType),
)


class Ragged(list[Any]):
    """The results of the members of a batch, if their shapes differ."""

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, tuple):
            return super().__getitem__(index)
        shapes = ", ".join(dict.fromkeys(str(np.shape(member)) for member in self))
        raise ValueError(
            f"the members of the batch have results of different shapes here: {shapes}. This is a "
            "list with one result for each member; in solve_ivp, t_eval gives all of them one shape"
        )


class _BatchFound(Exception):
    """A batch takes part that was not known yet: start again, for each of its members."""

    def __init__(self, level: float, size: int) -> None:
        self.level, self.size = level, size


def on_values(run: Callable[..., Any], *given: Any) -> Runs:
    """Call `run` with plain values in place of all arrays of arraygrad in `given`.

    Functions in `given` return plain values. Without such arrays, `run` gets what was given.
    """
    runs = Runs()
    runs.members(run, given)
    return runs


# --- a value of SciPy's with derivatives of our own ----------------------------------------------


attach = declare(
    "attach",
    "value",
    "x",
    compute=lambda xp, value, x: value,
    own=Own(batch=lambda op, arrays, flags, params: op.function(*repeated(arrays, flags))),
    vjp_x=lambda g: g,
    jvp=lambda t_x: t_x,
    holomorphic=False,
    doc="The values of `value`, which is a constant, with the derivatives of `x`.",
)


def _refusal(g: Any, of: str) -> Any:
    raise NotImplementedError(
        f"{of} has no derivatives here: use x of the result, or detach() {of} if it is meant as a "
        "constant"
    )


_without = declare(
    "without_derivatives",
    "value",
    "x",
    compute=lambda xp, value, x, of: value,
    own=Own(
        batch=lambda op, arrays, flags, params: op.function(*repeated(arrays, flags), **params)
    ),
    vjp_x=_refusal,
    jvp=lambda t_x, out: zeros_like(out) + np.nan,
    holomorphic=False,
    doc="The values of `value`, which depend on `x` in a way that has no derivatives here.",
)


once = declare(
    "differentiable_once",
    "x",
    compute=lambda xp, x, of: x,
    own=Own(batch=lambda op, arrays, flags, params: op.function(*arrays, **params)),
    vjp_x=lambda g, of: _without(const(g), g, of=of),
    jvp=lambda t_x, x, of: _without(const(t_x), t_x + 0 * x, of=of),
    holomorphic=False,
    doc="The values of `x`, with first derivatives; further ones are refused.",
)


def _refusing_products(operator: Any, x: Any, of: str) -> dict[str, AnyFunction]:
    """The methods of a linear operator that return arrays, which refuse to be differentiated."""

    def refusing_as(method: str) -> AnyFunction:
        return lambda *args: _without(np.asarray(getattr(operator, method)(*args)), x, of=of)

    return {method: refusing_as(method) for method in ("matvec", "matmat", "todense")}


def refusing(result: dict[str, Any], x: Any, name: str, known: Sequence[str]) -> None:
    """Let all arrays in a result, except the known ones, refuse to be differentiated, by name.

    They depend on the parameters as `x` does, and must not pass for constants. In forward mode,
    their tangents are NaN.
    """
    for key, value in result.items():
        if key in known:
            continue
        if isinstance(value, dict):
            refusing(value, x, f"{name}.{key}", ())
        elif type(value) in (list, tuple):
            parts = {f"{key}[{i}]": part for i, part in enumerate(value)}
            refusing(parts, x, name, ())
            result[key] = type(value)(parts.values())
        elif isinstance(value, np.inexact):
            result[key] = _without(np.asarray(value), x, of=f"{name}.{key}")
        elif hasattr(value, "matvec"):
            result[key] = copy.copy(value)
            vars(result[key]).update(_refusing_products(value, x, f"{name}.{key}"))
        elif isinstance(value, np.ndarray | Array) and backend_of(value).kind(value.dtype) in "fc":
            result[key] = _without(value, x, of=f"{name}.{key}")
