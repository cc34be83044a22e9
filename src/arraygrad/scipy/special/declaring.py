"""Declaring special functions by SciPy's name and the derivatives of their arguments."""

from __future__ import annotations

from typing import Any

from ...core.array import AnyFunction
from ...core.kinds import Elementwise
from ...ops.define.library import declare
from ...ops.define.rules import product_rule
from ..names import scipy_module
from ..twins import by_scipy, no_derivative, twin

SCIPY = scipy_module("scipy.special")


def special(
    name: str, *inputs: str, compute: AnyFunction | None = None, **derivatives: Any
) -> AnyFunction:
    """The twin of a function of `scipy.special` of arrays that broadcast.

    The derivative by an input is ``d_<input>``, a function of inputs and of ``out``. An input
    without one is refused: an error names it.
    """
    original = getattr(SCIPY, name)
    run = op(name, *inputs, compute=compute or original, **derivatives)
    return twin(original)(run)


def op(name: str, *inputs: str, compute: AnyFunction, **derivatives: Any) -> AnyFunction:
    """An elementwise op that has no name in SciPy, otherwise like `special`."""
    known = [n.removeprefix("d_") for n in derivatives]
    rules: dict[str, Any] = {}
    for n in inputs:
        if n in known:
            rules[f"vjp_{n}"] = product_rule(derivatives[f"d_{n}"])
        else:
            rules[f"vjp_{n}"] = no_derivative(name, n, ", ".join(known))
    return declare(
        f"scipy.special.{name}", *inputs, kind=Elementwise(), compute=by_scipy(compute), **rules
    )
