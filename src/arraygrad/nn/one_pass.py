"""Elementwise functions of several ops as one op, which native code computes in one pass.

The rules of such an op follow from the function: they are its `vjp`, and so are one pass, too. An
op has all that belongs to its kind: forward mode, batches, second derivatives.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..backends.numpy import native
from ..core.array import plain
from ..core.kinds import Elementwise
from ..func.reverse import vjp
from ..ops.define.library import declare
from ..ops.define.rules import Rule
from ..ops.shape import broadcast_to

F = TypeVar("F", bound=Callable[..., Any])


def one_pass(function: F) -> F:
    """The function as an op, where native code computes it; else as it is.

    Its arguments are arrays and numbers. Arrays that broadcast are left to the function itself.
    """
    name = function.__name__.strip("_")
    inputs = tuple(inspect.signature(function).parameters)
    rules: dict[str, Any] = {
        f"vjp_{n}": Rule(("g", *inputs), _rule(function, i)) for i, n in enumerate(inputs)
    }
    of_arrays = declare(
        name,
        *inputs,
        kind=Elementwise(),
        compute=lambda xp, *arrays: function(*arrays),
        **rules,
    )

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        shapes = {a.shape for a in arguments if hasattr(a, "shape")}
        x = plain(arguments[0])
        is_large = type(x) is np.ndarray and x.size >= native.SMALL and len(shapes) == 1
        if is_large and native.compiler() is not None:
            return of_arrays(*arguments)
        return function(*arguments)

    run.op = of_arrays.op  # type: ignore[attr-defined]  # other processes find the op by it
    return run  # type: ignore[return-value]


def _rule(function: Callable[..., Any], position: int) -> Callable[..., Any]:
    """The reverse rule for one of the arguments."""

    def rule(g: Any, *values: Any) -> Any:
        def of_one(x: Any) -> Any:
            return function(*values[:position], x, *values[position + 1 :])

        out, pull = vjp(of_one, values[position])
        (found,) = pull(g if g.shape == out.shape else broadcast_to(g, out.shape))
        return found

    return rule
