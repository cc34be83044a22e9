"""Derivatives of a function of one argument: `make_vjp` and `make_jvp`."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...core.array import Array
from ...func.forward import push
from ...func.reverse import Tape
from .boxes import Box, ReverseBox, as_box, forward_box, isbox, number, reverse_box
from .primitives import SparseObject, as_cotangent
from .structures import CONTAINERS, leaves_like, mapped

__all__ = ["Trace", "make_jvp", "make_vjp"]

AnyFunction = Callable[..., Any]

_ARRAYS = (Array, np.ndarray)
_NUMBERS = (np.inexact, float, complex)
_INDEPENDENT = "Output seems independent of input."

# --- reverse mode --------------------------------------------------------------------------------


def make_vjp(fun: AnyFunction, x: Any) -> tuple[AnyFunction, Any]:
    """The function that pulls cotangents back through `fun` at `x`, and the value there.

    >>> from arraygrad.compat.hips.core import make_vjp
    >>> vjp, value = make_vjp(lambda x: x**2, 3.0)
    >>> value, vjp(1.0)
    (np.float64(9.0), np.float64(6.0))
    """
    trace = Trace(fun, x)
    return trace.vjp, trace.value


class Trace:
    """One run of a function on boxes, to be differentiated in reverse mode.

    Attributes
    ----------
    value : structure of arrays
        The function's result, without the boxes of this run.
    outputs : list
        The arrays of the result, still in their boxes.
    tape : Tape
    """

    __slots__ = ("_joined", "outputs", "tape", "value", "x")

    def __init__(self, fun: AnyFunction, x: Any) -> None:
        self.x = x = mapped(_differentiable, x)
        leaves, joined = _taken_apart(x)
        self._joined = joined
        run = fun if joined is _single else lambda *parts: fun(joined(parts))
        self.tape = tape = Tape(run, leaves, "x", kind=reverse_box)
        level, result = tape.level, tape.result
        if isinstance(result, ReverseBox) and result.level == level:
            self.value, self.outputs = number(result._array), [result]
            return
        result = mapped(as_box, result)
        self.value = mapped(lambda leaf: _inside(leaf, level), result)
        self.outputs = leaves_like(result, result, "the result")
        if not any(isbox(out) and out.level == level for out in self.outputs):
            warnings.warn(_INDEPENDENT, stacklevel=4)

    def vjp(self, g: Any) -> Any:
        """The cotangents of the argument, from those of the result."""
        if isinstance(g, SparseObject):
            g = as_cotangent(g)
        leaves = leaves_like(g, self.value, "the cotangent")
        seeds = [_seed(part, out) for part, out in zip(leaves, self.outputs, strict=True)]
        found = [number(_conj(part)) for part in self.tape.pull(self.outputs, seeds)]
        return self._joined(found)


def _taken_apart(x: Any) -> tuple[tuple[Any, ...], AnyFunction]:
    """The arrays in a structure, and the function that makes a structure of others like them."""
    if not isinstance(x, CONTAINERS):
        return (x,), _single
    if type(x) is tuple and not any(isinstance(part, CONTAINERS) for part in x):
        return x, tuple

    def joined(parts: Any) -> Any:
        rest = iter(parts)
        return mapped(lambda _: next(rest), x)

    return tuple(leaves_like(x, x, "x")), joined


_single = operator.itemgetter(0)


def _inside(leaf: Any, level: float) -> Any:
    return leaf._value if isinstance(leaf, Box) and leaf.level == level else leaf  # type: ignore[attr-defined]


def _differentiable(leaf: Any) -> Any:
    """A leaf of an argument as HIPS autograd differentiates by it. Arrays of integers become real.

    >>> from arraygrad.compat.hips import grad
    >>> grad(lambda x: (x**2).sum())([1, 2])
    Traceback (most recent call last):
    TypeError: Can't differentiate w.r.t. type <class 'int'>
    """
    if type(leaf) in Box.type_mappings:
        leaf = np.asarray(Box.type_mappings[type(leaf)](leaf, 0, None)._value)
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biu":
        return leaf.astype(np.float64)
    if isinstance(leaf, _ARRAYS):
        return leaf
    if isinstance(leaf, _NUMBERS):
        return np.asarray(leaf)
    raise TypeError(f"Can't differentiate w.r.t. type {type(leaf)}")


def _seed(g: Any, out: Any) -> Any:
    """A cotangent in arraygrad's convention, with the shape and dtype of an output."""
    if not isinstance(out, Array):
        return g  # a constant, which pulls nothing back
    g = g if hasattr(g, "dtype") else np.asarray(g)
    if g.shape != out.shape:
        g = ops.broadcast_to(g, out.shape)
    dtype = out.dtype
    if g.dtype != dtype:
        if g.dtype.kind == "c" and dtype.kind != "c":
            g = ops.real(g)
        g = ops.astype(g, dtype)
    return _conj(g)


def _conj(g: Any) -> Any:
    return ops.conj(g) if g.dtype.kind == "c" else g


# --- forward mode --------------------------------------------------------------------------------


def make_jvp(fun: AnyFunction, x: Any) -> AnyFunction:
    """A function from a tangent of `x` to the value of `fun` and its tangent.

    >>> from arraygrad.compat.hips.core import make_jvp
    >>> make_jvp(lambda x: x**2, 3.0)(1.0)
    (np.float64(9.0), np.float64(6.0))
    """
    x = mapped(_differentiable, x)

    def jvp(g: Any) -> tuple[Any, Any]:
        leaves = leaves_like(g, x, "the tangent")
        primals, joined = _taken_apart(x)
        tangents = [_tangent(*pair) for pair in zip(leaves, primals, strict=True)]
        moves: list[bool] = []

        def run(*parts: Any) -> Any:
            result = fun(joined(parts))
            mapped(lambda leaf: moves.append(isbox(leaf)), result)
            return result

        value, tangent, _ = push(run, primals, tangents, kind=forward_box)
        if not any(moves):
            warnings.warn(_INDEPENDENT, stacklevel=2)
        return mapped(number, value), mapped(number, tangent)

    return jvp


def _tangent(g: Any, x: Any) -> Any:
    g, x = (v if hasattr(v, "dtype") else np.asarray(v) for v in (g, x))
    if g.shape != x.shape:
        g = ops.broadcast_to(g, x.shape)
    return g if g.dtype == x.dtype else ops.astype(g, x.dtype)
