"""Quantiles: values are SciPy's, derivatives those of an implicit function.

At a fixed probability q, the distribution function F(x, shapes) = q gives
``dx = (dq - F_shapes d(shapes)) / density``.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...core.array import AnyFunction
from ...core.kinds import Elementwise
from ...func import vjp
from ...ops import clip, equal, exp, logical_or, where
from ...ops.define.library import declare
from ..twins import by_scipy


def implicit_quantiles(distribution: Any, which: str) -> AnyFunction:
    """The op of the quantiles "ppf", or "isf", of a distribution."""
    side = 1 if which == "ppf" else -1  # a larger q moves the quantile up, or down

    def joint(g: Any, wanted: Any, out: Any, parameters: Any) -> Any:
        ends = distribution._ends(parameters)
        out = clip(out, *ends)  # SciPy may round beyond an end
        w = g / exp(type(distribution).log_density(out, *parameters)) * side
        if not any(wanted[1:]):
            return w, *(None for _ in parameters)
        # Ends of the support do not move with the shapes, unless they are functions of these.
        masks = (equal(out, end) for end in ends if isinstance(end, float))
        at_end = functools.reduce(logical_or, masks, np.asarray(False))
        inside, at = distribution._inside(out, parameters, at_end)
        at = where(at_end, 0.0, out) if inside is None else at
        of = distribution._cdf_of if which == "ppf" else distribution._sf_of
        _, pull = vjp(lambda *moving: of(at, *moving), *parameters)
        found = pull(where(at_end, 0.0, -w))
        return w, *(found if isinstance(found, tuple) else (found,))

    compute = getattr(distribution.scipy, which)
    return declare(
        f"scipy.stats.{distribution.name}.{which}",
        "q",
        "*parameters",
        kind=Elementwise(),
        compute=by_scipy(of_numbers(compute)),
        joint=joint,
    )


def of_numbers(function: AnyFunction) -> AnyFunction:
    """A function of numbers whose result is an array."""

    def made(*given: Any) -> Any:
        return np.asarray(function(*given))

    return made
