"""Quantiles that no formula gives: values are SciPy's, derivatives those of an implicit function.

At a fixed probability q, the distribution function F(x, shapes) = q gives
``dx = (dq - F_shapes d(shapes)) / density``.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ...core.array import AnyFunction
from ...core.kinds import Elementwise
from ...func import vjp
from ...ops import exp
from ...ops.define.library import declare
from ..twins import by_scipy


def implicit_quantiles(distribution: Any, which: str) -> AnyFunction:
    """The op of the quantiles "ppf", or "isf", of a distribution."""
    side = 1 if which == "ppf" else -1  # a larger q moves the quantile up, or down
    names = tuple(f"shape_{name}" for name in distribution.shapes)

    def rule(g: Any, wanted: Any, out: Any, **shapes: Any) -> Any:
        values = tuple(shapes[name] for name in names)
        _, at = distribution._inside(out, values)
        w = g / exp(type(distribution).log_density(at, *values)) * side
        if not any(wanted[1:]):
            return w, *(None for _ in names)
        _, pull = vjp(lambda *moving: distribution._cdf_of(out, *moving), *values)
        found = pull(w * -side)
        return w, *(found if isinstance(found, tuple) else (found,))

    # Rules name what they need: all shape parameters.
    takes = ", ".join(names)
    given = ", ".join(f"{name}={name}" for name in names)
    source = f"lambda g, wanted, out, {takes}: rule(g, wanted, out, {given})"
    joint = eval(source.replace(", :", ":"), {"rule": rule})
    compute = getattr(distribution.scipy, which)
    return declare(
        f"scipy.stats.{distribution.name}.{which}",
        "q",
        *names,
        kind=Elementwise(),
        compute=by_scipy(of_numbers(compute, len(names) + 1)),
        joint=joint,
    )


def of_numbers(function: AnyFunction, count: int) -> AnyFunction:
    """A function with as many positional parameters as an op has inputs."""

    def made(*given: Any) -> Any:
        return np.asarray(function(*given))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = [inspect.Parameter(f"p{i}", kind) for i in range(count)]
    made.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]
    return made
