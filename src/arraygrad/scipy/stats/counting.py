"""The base of discrete distributions: derivatives are by the parameters, not by the counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.array import AnyFunction, plain
from ...ops import (
    equal,
    exp,
    expand_dims,
    floor,
    greater,
    greater_equal,
    isnan,
    less,
    less_equal,
    logical_and,
    where,
)
from ...ops import sum as _sum
from ...ops.define.library import constant
from ..twins import any_arrays, by_scipy, double
from .distribution import Distribution, method
from .frozen import no_batch
from .quantiles import of_numbers

# The probability of the upper half of the counts in a sum, which has some more.
_IMPROBABLE, _MORE = 1e-12, 50
_MOST = 1e7  # counts in a sum
_NEVER = -700.0  # the logarithm of a probability that does not matter


class Discrete(Distribution):
    """The base of discrete distributions: derivatives are by the parameters, not by the counts."""

    is_discrete = True
    methods = ("pmf", "logpmf", "cdf", "sf", "logcdf", "logsf", "mean", "var", "std", "entropy")

    def __init__(self) -> None:
        super().__init__()
        inputs = ("q", *(f"shape_{name}" for name in self.shapes))
        self._steps = {
            which: constant(
                f"scipy.stats.{self.name}.{which}",
                *inputs,
                compute=by_scipy(of_numbers(getattr(self.scipy, which))),
            )
            for which in ("ppf", "isf")
        }

    @method
    def logpmf(self, k: Any, *given: Any) -> Any:
        """The logarithm of the probability of `k`."""
        return self._log_pmf(k, *given)

    @method
    def pmf(self, k: Any, *given: Any) -> Any:
        """The probability of `k`."""
        return exp(self._log_pmf(k, *given))

    def _log_pmf(self, k: Any, shapes: Any, loc: Any, scale: Any) -> Any:
        y = double(k) - loc
        low, high = self._ends(shapes)
        inside = logical_and(greater_equal(y, low), less_equal(y, high))
        inside = logical_and(logical_and(inside, equal(floor(y), y)), less(y, math.inf))
        out = type(self).log_density(where(inside, y, low), *shapes)
        return where(inside, out, where(isnan(y), math.nan, -math.inf))

    def _function(
        self, of: AnyFunction, given: tuple[Any, Any, Any, Any], below: float, above: float
    ) -> Any:
        x, shapes, loc, _ = given
        y = floor(double(x) - loc)
        low, high = self._ends(shapes)
        inside = logical_and(greater_equal(y, low), less(y, high))
        beyond = where(less(y, low), below, where(isnan(y), math.nan, above))
        return where(inside, of(where(inside, y, low), *shapes), beyond)

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """The quantiles: steps, which are constants."""
        return self._step("ppf", q, args, kwargs)

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> Any:
        """The inverse of `sf`: steps, which are constants."""
        return self._step("isf", q, args, kwargs)

    def _step(self, which: str, q: Any, args: Any, kwargs: Any) -> Any:
        if not any_arrays((q, *args), kwargs):
            return getattr(self.scipy, which)(q, *args, **kwargs)
        shapes, loc, _ = self._parameters(args, kwargs)
        return self._steps[which](double(q), *shapes) + loc

    @method
    def entropy(self, shapes: Any, loc: Any, scale: Any) -> Any:
        """The entropy: a sum over all counts that are not too improbable to matter."""
        likely = np.asarray(self.scipy.isf(_IMPROBABLE, *map(plain, shapes)))
        low, _ = self._ends(shapes)
        end = 2 * np.max(likely, where=np.isfinite(likely), initial=low) + _MORE
        if end > _MOST:
            raise NotImplementedError(
                f"the entropy of {self.name} is a sum over {end:.0e} counts for these parameters, "
                f"too many here (at most {_MOST:.0e}): use the entropy of a continuous "
                "distribution with the same mean and variance, or detach() the parameters"
            )
        k = np.arange(low, end)
        columns = [expand_dims(s, axis=-1) for s in shapes]
        _, high = self._ends(columns)
        inside = less_equal(k, high)
        log_p = type(self).log_density(where(inside, k, low), *columns)
        possible = logical_and(inside, greater(log_p, _NEVER))
        log_p = where(possible, log_p, 0.0)
        return _sum(-exp(log_p) * log_p, axis=-1) + 0 * loc

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **kwargs: Any) -> Any:
        """Random counts: constants, because they depend on the parameters by steps."""
        no_batch((*args, *kwargs.values()))
        values = [plain(v) for v in args]
        given = {k: plain(v) for k, v in kwargs.items()}
        return self.scipy.rvs(*values, size=size, random_state=random_state, **given)
