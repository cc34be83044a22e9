"""Primitives: functions with derivative rules in HIPS autograd's form.

A primitive takes any arguments. Arrays that are differentiated are found in them, also in tuples,
lists and dicts, and become the inputs of an op of arraygrad. Its rules put the arguments together
again, and run the rules of the primitive.

HIPS autograd's cotangents are the complex conjugates of arraygrad's.
"""

from __future__ import annotations

import functools
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...core.array import Array
from ...func import custom
from .boxes import getval, number
from .structures import Hole, filled, holds_boxes, leaves_like, mapped, taken

__all__ = [
    "SparseObject", "apply", "as_cotangent", "notrace_primitive", "notrace_primitives", "primitive",
    "primitive_jvps", "primitive_vjps", "register_notrace",
]  # fmt: skip

AnyFunction = Callable[..., Any]

# The rules: from a primitive to ``maker(argnums, ans, args, kwargs)``, which returns a function
# from the cotangent of the result to the cotangents of these arguments; and to
# ``rule(argnums, gs, ans, args, kwargs)``, which returns the tangent of the result.
primitive_vjps: dict[Any, AnyFunction] = {}
primitive_jvps: dict[Any, AnyFunction] = {}
# The primitives that are not traced, by the type of node.
notrace_primitives: defaultdict[Any, set[Any]] = defaultdict(set)


def primitive(f_raw: AnyFunction) -> AnyFunction:
    """A function that is differentiated by rules of its own, which `defvjp` and `defjvp` give.

    It is called with plain values only.
    """

    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if isinstance(arg, Array) or holds_boxes(arg):
                return apply(f_wrapped, f_raw, args, kwargs)
        return f_raw(*args, **kwargs)

    _describe(f_wrapped, f_raw)
    return f_wrapped


def notrace_primitive(f_raw: AnyFunction) -> AnyFunction:
    """A function that has no derivative, and is called with the values of its arguments."""

    def f_wrapped(*args: Any, **kwargs: Any) -> Any:
        return f_raw(*map(getval, args), **kwargs)

    _describe(f_wrapped, f_raw)
    return f_wrapped


def _describe(wrapped: Any, raw: Any) -> None:
    functools.update_wrapper(wrapped, raw, updated=())
    if not hasattr(raw, "__name__"):
        wrapped.__name__ = type(raw).__name__
    wrapped.fun = raw
    wrapped._is_autograd_primitive = True


def register_notrace(trace_type: Any, primitive_fun: Any) -> None:
    """Say that a primitive has no derivative: its results are plain values."""
    notrace_primitives[trace_type].add(primitive_fun)


def is_notrace(fun: Any) -> bool:
    """Whether a primitive was said to have no derivative, for any type of node."""
    return any(fun in functions for functions in notrace_primitives.values())


class SparseObject:
    """A cotangent that adds itself to another: ``mut_add(x)`` returns the sum with `x`."""

    __slots__ = ("mut_add", "vs")

    def __init__(self, vs: Any, mut_add: AnyFunction) -> None:
        self.vs = vs
        self.mut_add = mut_add


class Call:
    """One call of a primitive: its arguments without their arrays, and the form of its result."""

    __slots__ = ("args", "fun", "kept", "kwargs", "raw", "result")

    def __init__(self, fun: Any, raw: AnyFunction, args: tuple[Any, ...], kwargs: Any) -> None:
        self.fun, self.raw, self.args, self.kwargs = fun, raw, args, kwargs
        self.result: Any = None  # with holes for its arrays
        self.kept: tuple[Any, Any, Any] | None = None

    def arguments(self, arrays: Any) -> tuple[Any, ...]:
        """The arguments with these arrays in their places."""
        return filled(self.args, list(map(number, arrays)))  # type: ignore[no-any-return]

    def places(self) -> list[list[int]]:
        """For each argument, the numbers of the arrays in it."""
        found = []
        for arg in self.args:
            places: list[int] = []
            mapped(lambda x, places=places: type(x) is Hole and places.append(x.index), arg)
            found.append(places)
        return found

    def vjp(self, argnums: tuple[int, ...], arrays: Any, out: Any) -> AnyFunction:
        """The function from the cotangent of the result to those of arguments, made once."""
        if self.kept is None or self.kept[0] != argnums or self.kept[1] is not out:
            if self.fun not in primitive_vjps:
                raise _undefined("VJP", self.fun, argnums)
            ans = self.answer(out)
            made = primitive_vjps[self.fun](argnums, ans, self.arguments(arrays), self.kwargs)
            self.kept = argnums, out, made
        return self.kept[2]  # type: ignore[no-any-return]

    def push(self, argnums: tuple[int, ...], gs: list[Any], arrays: Any, out: Any) -> Any:
        """The tangent of the result, from those of arguments."""
        if self.fun not in primitive_jvps:
            raise _undefined("JVP", self.fun, argnums)
        rule = primitive_jvps[self.fun]
        return rule(argnums, gs, self.answer(out), self.arguments(arrays), self.kwargs)

    def answer(self, out: Any) -> Any:
        """The result of the primitive, from its arrays."""
        return filled(self.result, list(map(number, out)))


class SimpleCall(Call):
    """A call of a primitive with one traced array for an argument, and an array for a result."""

    __slots__ = ("position",)

    def __init__(self, fun: Any, raw: AnyFunction, args: Any, kwargs: Any, position: int) -> None:
        super().__init__(fun, raw, args, kwargs)
        self.position = position

    def arguments(self, arrays: Any) -> tuple[Any, ...]:
        args = list(self.args)
        args[self.position] = number(arrays)
        return tuple(args)

    def answer(self, out: Any) -> Any:
        return number(out)


class _SeveralResults(Exception):
    """The result of a primitive is a structure, or has no derivative."""


def _undefined(what: str, fun: Any, argnums: tuple[int, ...]) -> NotImplementedError:
    name = getattr(fun, "__name__", fun)
    return NotImplementedError(f"{what} of {name} wrt argnums {argnums} not defined")


def apply(fun: Any, raw: AnyFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a primitive on arguments that have arrays to be differentiated in them."""
    if notrace_primitives and is_notrace(fun):
        return fun(*mapped(getval, args), **kwargs)
    traced = [i for i, arg in enumerate(args) if holds_boxes(arg)]
    if len(traced) == 1 and isinstance(args[traced[0]], Array) and fun not in _several:
        try:
            return number(
                _call_one(args[traced[0]], call=SimpleCall(fun, raw, args, kwargs, traced[0]))
            )
        except _SeveralResults:
            _several.add(fun)
    arrays: list[Any] = []
    call = Call(fun, raw, taken(args, lambda x: isinstance(x, Array), arrays), kwargs)
    results = _call(*arrays, call=call)
    return filled(call.result, list(map(number, results)))


# The primitives that have given a structure.
_several: weakref.WeakSet[Any] = weakref.WeakSet()


def _is_number(x: Any) -> bool:
    """Whether a result has a derivative: it is an array or number, and not of integers."""
    if isinstance(x, float | complex):
        return True
    return isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc"


# --- one array to one array, which most primitives are -------------------------------------------


def _pull_one(g: Any, x: Any, out: Any, call: SimpleCall) -> Any:
    (found,) = call.vjp((call.position,), x, out)(number(_conj(g)))
    return _conj(as_cotangent(found))


def _push_one(t: Any, x: Any, out: Any, call: SimpleCall) -> Any:
    return as_cotangent(call.push((call.position,), [number(t)], x, out))


@custom(vjp=_pull_one, jvp=_push_one, holomorphic=False, batched_rules=False)
def _call_one(x: Any, *, call: SimpleCall) -> Any:
    """The op for a primitive of one array."""
    # What the function knows of by itself may be a box. Its derivative is that of the rules.
    result = getval(call.raw(*call.arguments(x), **call.kwargs))
    if not _is_number(result):
        raise _SeveralResults
    return result if isinstance(result, np.ndarray | np.generic) else np.asarray(result)


# --- any number of arrays ------------------------------------------------------------------------


def _pull(gs: Any, arrays: Any, out: Any, call: Call, wanted: Any) -> list[Any]:
    last = len(wanted)  # of arrays after that, no cotangent is wanted
    argnums = tuple(
        i for i, places in enumerate(call.places()) if any(p < last and wanted[p] for p in places)
    )
    given = [ops.zeros_like(o) if g is None else _conj(g) for g, o in zip(gs, out, strict=True)]
    cotangent = filled(call.result, list(map(number, given)))
    parts = call.vjp(argnums, arrays, out)(cotangent)
    found: list[Any] = [None] * len(arrays)
    for argnum, part in zip(argnums, parts, strict=True):
        for place, leaf in _leaves(part, call.args[argnum], call.fun):
            found[place] = _conj(as_cotangent(leaf))
    return found


def _push(arrays: Any, t_arrays: Any, out: Any, call: Call) -> tuple[Any, ...]:
    argnums = tuple(
        i for i, places in enumerate(call.places()) if any(t_arrays[p] is not None for p in places)
    )
    pairs = zip(arrays, t_arrays, strict=True)
    values = [number(ops.zeros_like(a) if t is None else t) for a, t in pairs]
    gs = [filled(call.args[i], values, _zero) for i in argnums]
    pushed = call.push(argnums, gs, arrays, out)
    return tuple(as_cotangent(leaf) for _, leaf in _leaves(pushed, call.result, call.fun))


@custom(vjp=_pull, jvp=_push, multiple=True, holomorphic=False, batched_rules=False)
def _call(*arrays: Any, call: Call) -> tuple[Any, ...]:
    """The op for a primitive of any arguments."""
    result = mapped(getval, call.raw(*call.arguments(arrays), **call.kwargs))
    found: list[Any] = []
    call.result = taken(result, _is_number, found)
    if not found:
        raise TypeError(
            f"Can't differentiate w.r.t. type {type(result)}: {call.fun.__name__} must return "
            "floating-point numbers, or be registered by register_notrace"
        )
    return tuple(map(np.asarray, found))


def _leaves(value: Any, tree: Any, fun: Any) -> list[tuple[int, Any]]:
    """The leaves of a value at the holes of a structure, with the holes' numbers."""
    name = f"what a rule of {getattr(fun, '__name__', fun)} returned"
    if isinstance(value, SparseObject):
        value = value.mut_add(value.vs.zeros())
    holes = leaves_like(tree, tree, name)
    leaves = leaves_like(value, tree, name)
    pairs = zip(holes, leaves, strict=True)
    return [(hole.index, leaf) for hole, leaf in pairs if type(hole) is Hole]


def as_cotangent(value: Any) -> Any:
    """What a rule returned, as an array."""
    if isinstance(value, SparseObject):
        value = value.mut_add(value.vs.zeros())
    return value if isinstance(value, Array) else np.asarray(value)


def _conj(g: Any) -> Any:
    return ops.conj(g) if g.dtype.kind == "c" else g


def _zero(value: Any) -> Any:
    """The zero tangent of what is no traced array."""
    return np.zeros_like(value) if _is_number(value) else value
