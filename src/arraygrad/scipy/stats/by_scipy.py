"""Continuous distributions by the formulas in SciPy's own code.

SciPy's formulas are made of functions of NumPy and of `scipy.special`. On tensors, these give
tensors. A formula that would lose derivatives raises an error, as everywhere. Moments and entropies
are refused: SciPy's code for them makes Python numbers.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...core.array import AnyFunction
from ..formula import carries
from .distribution import SCIPY, Distribution

# Their formulas choose between results of which one is NaN, and so are the derivatives.
NOT_BY_FORMULAS = ("dgamma", "dweibull", "gennorm")


@functools.cache
def by_scipy_formulas(name: str) -> Distribution:
    """The distribution of SciPy with this name, with derivatives by SciPy's formulas."""
    scipy = getattr(SCIPY, name)

    def end(which: int) -> AnyFunction:
        return lambda *shapes: scipy._get_support(*shapes)[which]

    def refused(*given: Any) -> Any:
        raise NotImplementedError(
            f"scipy.stats.{name} has derivatives of its density, its distribution function and "
            "its quantiles only: detach() the parameters if they are meant as constants"
        )

    def checked(formula: AnyFunction) -> AnyFunction:
        def run(*given: Any) -> Any:
            out = formula(*given)
            return out if carries(out) or not any(map(carries, given)) else refused()

        return run

    formulas = {
        "name": name,
        "support_": (end(0), end(1)) if scipy.shapes else (float(scipy.a), float(scipy.b)),
        "valid": lambda *shapes: np.asarray(True) & scipy._argcheck(*shapes),
        "log_density": checked(scipy._logpdf),
        "distribution": checked(scipy._cdf),
        "upper": checked(scipy._sf),
        "average": refused,
        "variance": refused,
        "information": refused,
    }
    if type(scipy)._argcheck is SCIPY.rv_continuous._argcheck:
        del formulas["valid"]  # positive shapes
    parts = {k: staticmethod(v) if callable(v) else v for k, v in formulas.items()}
    made: Distribution = type(name, (Distribution,), parts)()
    return made
