"""Declaring special functions by SciPy's name and the derivatives of their arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.array import AnyFunction
from ...core.kinds import Elementwise
from ...ops import astype, is_complex, trunc
from ...ops.define.library import constant, declare
from ...ops.define.rules import parameters, product_rule
from ..names import newer, scipy_module
from ..twins import array_like, by_scipy, floating_or_number, no_derivative, twin
from ..values import attach

SCIPY = scipy_module("scipy.special")


def special(
    name: str, *inputs: str, compute: AnyFunction | None = None, **derivatives: Any
) -> AnyFunction:
    """The twin of a function of `scipy.special` of arrays that broadcast.

    The derivative by an input is ``d_<input>``, a function of inputs and of ``out``. An input
    without one is refused: an error names it.
    """
    original = newer(SCIPY, name)
    run = op(name, *inputs, compute=compute or original, **derivatives)

    def of_lists_too(*args: Any) -> Any:
        return run(*(array_like(x) if isinstance(x, list | tuple) else x for x in args))

    return twin(original)(of_lists_too)


def elementwise(name: str, function: AnyFunction) -> AnyFunction:
    """The twin of a function of arrays and numbers."""

    def run(*args: Any) -> Any:
        return function(*map(floating_or_number, args))

    return twin(getattr(SCIPY, name))(run)


def by_formula(name: str, count: int | None = None) -> Callable[[AnyFunction], AnyFunction]:
    """Make a function the twin of SciPy's: the values are SciPy's, the derivatives its own.

    The function gets all arguments as arrays or numbers. `count` is the number of an argument that
    SciPy wants to be an integer.
    """
    original = getattr(SCIPY, name)

    def compute(*given: Any) -> Any:
        if count is not None and np.all(np.trunc(given[count]) == given[count]):
            given = (*given[:count], np.asarray(given[count], np.int64), *given[count + 1 :])
        return original(*given)

    def decorate(function: AnyFunction) -> AnyFunction:
        value = constant(
            f"scipy.special.{name}",
            *(f"x{i}" for i in range(len(parameters(function)))),
            kind=Elementwise(),
            compute=by_scipy(original if count is None else compute),
        )

        def run(*args: Any) -> Any:
            given = [x if isinstance(x, int | float) else array_like(x) for x in args]
            out, formula = value(*given), function(*map(floating_or_number, given))
            if out.dtype != formula.dtype and not is_complex(formula):
                formula = astype(formula, out.dtype)
            return attach(out, formula)

        run.__doc__ = function.__doc__
        return twin(original)(run)

    return decorate


def whole(n: Any) -> Any:
    """An order without its fraction, as SciPy's functions of integer order take it."""
    return trunc(n) if hasattr(n, "dtype") else math.trunc(n)


def _times(g: Any, slope: Any) -> Any:
    """The product in the cotangent's precision.

    SciPy has some of the functions that formulas are made of in double precision only.
    """
    out = g * slope
    if out.dtype != g.dtype and not is_complex(out):
        out = astype(out, g.dtype)
    return out


def op(name: str, *inputs: str, compute: AnyFunction, **derivatives: Any) -> AnyFunction:
    """An elementwise op that has no name in SciPy, otherwise like `special`."""
    known = [n.removeprefix("d_") for n in derivatives]
    rules: dict[str, Any] = {}
    for n in inputs:
        if n in known:
            rules[f"vjp_{n}"] = product_rule(derivatives[f"d_{n}"], _times)
        else:
            rules[f"vjp_{n}"] = no_derivative(name, n, ", ".join(known))
    return declare(
        f"scipy.special.{name}", *inputs, kind=Elementwise(), compute=by_scipy(compute), **rules
    )
