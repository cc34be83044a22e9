"""Differentiable twins of SciPy's functions, and ops that SciPy's functions compute.

A twin calls SciPy's own function if no tensor, and no array of a transform, is among its arguments.
Otherwise it calls ours, which takes the same arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ..arrays.creation import asarray
from ..backends import backend_of
from ..core.array import AnyFunction, Array, plain
from ..ops import astype, stack
from .checking import compare, state
from .formula import unframed
from .names import Missing

_PLAIN = (np.ndarray, float, int, str, type(None))


class Extended(type):
    """The metaclass of classes that extend one of SciPy's: its objects are also theirs.

    So ``isinstance`` has the same result for both, whichever function made an object.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        ours = cls.__module__.startswith("arraygrad.")
        kinds = [k for k in cls.__mro__ if k.__module__.startswith("scipy.")] if ours else ()
        return isinstance(instance, kinds[0]) if kinds else type.__instancecheck__(cls, instance)


class HoldsArrays:
    """The base of objects that are made of arrays, such as sparse matrices of tensors."""


def has_arrays(values: Iterable[Any]) -> bool:
    """Whether a tensor, or an array of a transform, is among the values or inside of them."""
    for value in values:
        if isinstance(value, Array | HoldsArrays):
            return True
        if isinstance(value, _PLAIN):
            continue
        if isinstance(value, list | tuple) and has_arrays(value):
            return True
        if isinstance(value, dict) and has_arrays(value.values()):
            return True
    return False


def any_arrays(args: Iterable[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a tensor, or an array of a transform, is among the arguments of a call."""
    return has_arrays(args) or has_arrays(kwargs.values())


# Parameters that change nothing but the time or memory that a function takes, and `check_finite`,
# which `Binding` treats.
_WITHOUT_EFFECT = {"check_finite", "lwork", "workers"}


class Binding:
    """How a function that names some of the parameters of SciPy's function gets their values.

    SciPy's own signature says which parameters there are, and their defaults. A parameter that our
    function does not name has no derivative here: it must have its default, or an error says so. A
    function of ``**options`` gets all parameters.
    """

    def __init__(self, name: str, original: AnyFunction, function: AnyFunction) -> None:
        self.name, self._signature = name, inspect.signature(original)
        every = self._signature.parameters.values()
        taken = inspect.signature(function).parameters
        self._order = [p.name for p in every if p.kind <= p.POSITIONAL_OR_KEYWORD]
        self._defaults = {p.name: p.default for p in every if p.default is not p.empty}
        named = {p.name for p in every if p.kind is not p.VAR_KEYWORD}
        self._required = named - self._defaults.keys()
        self._is_open = len(named) < len(every)  # to any keyword
        self._takes_all = any(p.kind is p.VAR_KEYWORD for p in taken.values())
        self._taken = [n for n in taken if n in named]
        self._left = {
            n
            for n in self._defaults
            if n not in taken and n not in _WITHOUT_EFFECT and not n.startswith("overwrite_")
        }

    def given(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call, all by name."""
        given = dict(zip(self._order, args, strict=False)) | kwargs
        if (
            len(given) < len(args) + len(kwargs)
            or not self._required <= given.keys()
            or not (self._is_open or given.keys() <= self._signature.parameters.keys())
        ):
            self._signature.bind(*args, **kwargs)  # raises, and says what is wrong
        return given

    def named(self, given: dict[str, Any]) -> dict[str, Any]:
        """The values of the parameters that our function names."""
        every = self._defaults | given
        return every if self._takes_all else {n: every[n] for n in self._taken}

    def __call__(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The values of the parameters that our function names; the others have their defaults."""
        given = self.given(args, kwargs)
        if given.get("check_finite", self._defaults.get("check_finite")):
            _check_finite(given.values())
        if not self._takes_all:
            left = [n for n in given if n in self._left]
            refuse(self.name, **{n: (given[n], self._defaults[n]) for n in left})
        return self.named(given)


def _check_finite(values: Iterable[Any]) -> None:
    """Raise as SciPy does if an array has infinities or NaNs."""
    for x in values:
        if isinstance(x, list | tuple):
            _check_finite(x)
        x = plain(x)
        if isinstance(x, np.ndarray) and x.dtype.kind in "fc" and not np.isfinite(x).all():
            raise ValueError("array must not contain infs or NaNs")


def twin(original: AnyFunction) -> Callable[[AnyFunction], AnyFunction]:
    """Make a function the differentiable twin of SciPy's `original`.

    The function names those of SciPy's parameters that it uses, and gets them as keywords; see
    `Binding`. A function of ``*args`` gets the arguments as they are.
    """
    place = (getattr(original, "__module__", "") or "scipy").split("._")[0]
    name = f"{place}.{original.__name__}"

    def decorate(function: AnyFunction) -> AnyFunction:
        if isinstance(original, Missing):
            return original
        takes = inspect.signature(function).parameters.values()
        as_given = isinstance(original, np.ufunc) or any(p.kind is p.VAR_POSITIONAL for p in takes)
        bound = None if as_given else Binding(name, original, function)

        def run(*args: Any, **kwargs: Any) -> Any:
            if not (has_arrays(args) or (kwargs and has_arrays(kwargs.values()))):
                return original(*args, **kwargs)
            if state.on:
                compare(name, run, args, kwargs)
            args, kwargs = tuple(map(unframed, args)), {k: unframed(v) for k, v in kwargs.items()}
            if bound is not None:
                return function(**bound(args, kwargs))
            if kwargs and isinstance(original, np.ufunc):
                _refuse_keywords(original.__name__, kwargs)
            return function(*args, **kwargs)

        run.__name__ = run.__qualname__ = original.__name__
        run.__module__ = function.__module__
        run.__doc__ = function.__doc__ or f"{name} with derivatives."
        run.__wrapped__ = function  # type: ignore[attr-defined]
        try:
            run.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        except ValueError:  # some compiled functions have none
            del run.__wrapped__  # type: ignore[attr-defined]
        return run

    return decorate


def with_ours(original: AnyFunction, **ours: Any) -> AnyFunction:
    """SciPy's own code of a function that calls ours in the place of some others, by name."""
    own = inspect.unwrap(original)
    return FunctionType(own.__code__, own.__globals__ | ours, own.__name__, own.__defaults__)


def _refuse_keywords(name: str, kwargs: dict[str, Any]) -> None:
    """Raise if a universal function of tensors got keywords, such as out= and where=."""
    raise TypeError(
        f"{name} of tensors takes no {', '.join(f'{key}=' for key in kwargs)}: the result is a new "
        "tensor; choose among results by arraygrad.where(), and convert them by arraygrad.astype()"
    )


def array_like(x: Any) -> Any:
    """An argument as an array: lists of numbers and lists of tensors become arrays."""
    x = unframed(x)
    if isinstance(x, Array) or (hasattr(x, "dtype") and hasattr(x, "shape")):
        return x
    if isinstance(x, list | tuple) and has_arrays(x):
        return stack([_one_type(array_like(item)) for item in x])
    return np.asarray(x)


def floating(x: Any) -> Any:
    """An argument as an array of floating-point numbers."""
    x = array_like(x)
    return x if backend_of(x).kind(x.dtype) in "fc" else x * 1.0


def floating_or_number(x: Any) -> Any:
    """An argument as an array of floating-point numbers; a number of Python's stays one."""
    return x if isinstance(x, int | float) else floating(x)


def double(x: Any) -> Any:
    """An argument as an array of double precision, for functions that SciPy has in no other."""
    x = floating(x)
    kind = np.dtype(np.complex128 if backend_of(x).kind(x.dtype) == "c" else np.float64)
    return x if x.dtype == kind else astype(x, kind)


_SINGLE = ("float32", "complex64")


def is_single(x: Any) -> bool:
    """Whether an array has single precision."""
    return str(x.dtype).rpartition(".")[2] in _SINGLE


def in_precision_of(out: Any, *arrays: Any) -> Any:
    """A result in single precision if all arrays that it was made of have it, as SciPy has it.

    Constants of formulas have double precision, so that what is computed with them has it, too.
    """
    if is_single(out) or not all(map(is_single, arrays)):
        return out
    complex_ = backend_of(out).kind(out.dtype) == "c"
    return astype(out, np.dtype(np.complex64 if complex_ else np.float32))


def has_values(x: Any) -> bool:
    """Whether the values of an array are known, so that they can be checked.

    They are not while a function is compiled.
    """
    values = plain(x)
    return backend_of(values).has_values(values)


def _one_type(x: Any) -> Any:
    return x if isinstance(x, Array) else asarray(x)


def by_scipy(function: AnyFunction) -> AnyFunction:
    """`compute` of an op that a function of SciPy computes, on the host for other libraries."""

    def compute(xp: Any, *arrays: Any, **keywords: Any) -> Any:
        if all(isinstance(a, np.ndarray | np.generic) or not hasattr(a, "dtype") for a in arrays):
            return function(*arrays, **keywords)
        like = next(a for a in arrays if hasattr(a, "dtype") and not isinstance(a, np.ndarray))
        backend = backend_of(like)
        values = [backend_of(a).to_numpy(a) if hasattr(a, "dtype") else a for a in arrays]
        out = function(*values, **keywords)
        device = backend.device(like)
        if isinstance(out, tuple):
            return tuple(backend.xp.asarray(o, device=device) for o in out)
        return backend.xp.asarray(out, device=device)

    takes: list[inspect.Parameter]
    if isinstance(function, np.ufunc):
        takes = [inspect.Parameter("arrays", inspect.Parameter.VAR_POSITIONAL)]
    else:
        takes = list(inspect.signature(function).parameters.values())
    first = inspect.Parameter("xp", inspect.Parameter.POSITIONAL_ONLY)
    compute.__signature__ = inspect.Signature([first, *takes])  # type: ignore[attr-defined]
    return compute


def no_derivative(function: str, argument: str, others: str) -> AnyFunction:
    """The rule of an argument without a formula for its derivative: it raises."""

    def rule(g: Any) -> Any:
        raise NotImplementedError(
            f"{function} has no derivative with respect to {argument} here, only with respect to "
            f"{others}: detach() {argument} if it is meant as a constant"
        )

    return rule


def refuse(name: str, **options: tuple[Any, Any]) -> None:
    """Raise if an option has another value than the only one that has derivatives here.

    Each option is a pair: the value, and the only one that will do.
    """
    for option, (value, only) in options.items():
        is_array = isinstance(value, np.ndarray | Array) and value.ndim > 0
        if is_array or (value is not only and value != only):
            raise NotImplementedError(
                f"{name} with {option}={value!r} has no derivative here, only with "
                f"{option}={only!r}: detach() the arrays if they are meant as constants"
            )
