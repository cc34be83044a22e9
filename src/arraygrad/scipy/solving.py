"""Twins of SciPy's solvers: functions that call a function of the user.

SciPy solves on plain values. The function that the user gave may depend on arrays that are not
among the arguments, so SciPy's function runs first; then it is known whether they have derivatives.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..core.array import AnyFunction
from ..errors import DataDependentError
from .checking import compare, state
from .formula import unframed
from .twins import Binding
from .values import on_values


def solver(
    original: AnyFunction, run: AnyFunction | None = None, *, is_whole: bool = False
) -> Callable[[AnyFunction], AnyFunction]:
    """Make a function the differentiable twin of a solver of SciPy's.

    SciPy's function gets the plain values of all arguments. If an array with derivatives took part,
    our function is called: with the `Runs`, with SciPy's result, and with those of SciPy's
    parameters that it names. It returns the result with derivatives.

    `run`, if given, is called in place of SciPy's function. It returns the result, and what our
    function needs besides: this is in ``runs.reports``, for each member of a batch.

    `is_whole` says that our function can do without SciPy's result, and takes None for it. So it
    can be compiled.
    """
    place = original.__module__.split("._")[0]
    name = f"{place}.{original.__name__}"

    def decorate(function: AnyFunction) -> AnyFunction:
        binding = Binding(name, original, function)

        @functools.wraps(function)
        def solve(*args: Any, **kwargs: Any) -> Any:
            if state.on:
                compare(name, solve, args, kwargs)
            given = {k: unframed(v) for k, v in binding.given(args, kwargs).items()}
            try:
                runs = on_values(run or (lambda given: original(**given)), given)
            except DataDependentError:
                if not is_whole:
                    raise
                return function(None, None, **binding.named(given))
            if run is not None:
                runs.split()
            result = runs.join(runs.results)
            if runs.has_derivatives:
                result = function(runs, result, **binding.named(given))
            return runs.as_given(result)

        solve.__name__ = solve.__qualname__ = original.__name__
        solve.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        return solve

    return decorate
