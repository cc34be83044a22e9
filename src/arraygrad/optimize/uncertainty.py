"""The results of fits, which know how well their parameters are determined."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from .. import linalg, ops
from ..core.array import AnyFunction, plain
from .space import Space, solvers

_AWAY = 1e-4


@functools.cache
def _kind() -> type:
    """The class of results; SciPy is imported when it is first used."""

    class Fit(solvers().OptimizeResult):  # type: ignore[misc]
        """SciPy's result, with the uncertainty of `x`.

        Attributes
        ----------
        covariance : array
            Of all numbers of `x` in order. Of least squares, it is ``s² (JᵀJ)⁻¹``, where s² is
            the variance of the residuals. Of a function to minimise, it is the inverse Hessian:
            that is the covariance if the function is a negative logarithm of a likelihood.
        standard_errors : structure of arrays
            The square roots of the variances, in the structure of `x`.
        """

        @functools.cached_property
        def covariance(self) -> Any:
            return vars(self)["covariance of"]()

        @property
        def standard_errors(self) -> Any:
            return vars(self)["restored"](ops.sqrt(linalg.diagonal(self.covariance)))

    return Fit


def fit(result: Any, space: Space, derivatives: AnyFunction) -> Any:
    """A result with `x` in the structure of the starting point.

    ``derivatives(x)`` are the slope at a vector, and the inverse of the covariance.
    """
    made, vector = _kind()(result), result.x

    def covariance() -> Any:
        slope, precision = derivatives(vector)
        importlib.import_module("arraygrad.scipy.solutions").check_condition(plain(precision))
        found = linalg.inv(precision)
        g, matrix = np.asarray(plain(slope)), np.asarray(plain(found))
        # By how many standard errors a minimum without bounds and constraints is away, squared.
        if not (np.all(np.diagonal(matrix) > 0) and g @ matrix @ g < _AWAY):
            raise ValueError(
                "x is not a minimum of the function alone, so that the curvature there says "
                "nothing of its errors: a bound or a constraint holds it, or the solver stopped "
                "early. Fix what is held, and fit the rest"
            )
        return found

    vars(made).update({"covariance of": covariance, "restored": space.restored})
    made.x = space.restored(vector)
    return made
