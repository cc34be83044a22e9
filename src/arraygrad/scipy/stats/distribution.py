"""`Distribution`: a distribution of SciPy with derivatives, by its formulas in standard form.

A distribution gives formulas of the standardised variable and the shape parameters, made of ops.
Location, scale, the support, and what one function says about another follow here. All values are
SciPy's; the formulas give their derivatives. Those of quantiles and of random numbers follow from
the distribution function: ``dx = (dq - F_shapes d(shapes)) / density``.
"""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

import numpy as np

from ...core.array import AnyFunction, plain
from ...core.kinds import Elementwise
from ...func import stop_gradient
from ...ops import (
    broadcast_to,
    equal,
    exp,
    greater,
    greater_equal,
    isinf,
    isnan,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    where,
)
from ...ops import sum as _sum
from ...ops.define.library import constant
from ...ops.define.rules import parameters
from ...ops.elementwise import choose
from ...special import xlog1py, xlogy
from ..checking import compare, state
from ..names import scipy_module
from ..optimize import minimize
from ..twins import any_arrays, array_like, by_scipy, double, has_arrays, has_values, refuse
from ..values import attach
from .frozen import _OF_PARAMETERS, Frozen, no_batch
from .quantiles import implicit_quantiles, of_numbers

SCIPY = scipy_module("scipy.stats")

# Methods whose formula gives SciPy's values to the last digits everywhere, tails, limits and values
# that are not finite included. A compiled function computes them by the formula, in native code.
AS_EXACT = {
    "bernoulli": "pmf logpmf cdf sf",
    "beta": "logpdf",
    "binom": "logpmf",
    "cauchy": "pdf logpdf cdf sf logcdf logsf",
    "chi2": "logpdf cdf sf logcdf logsf",
    "expon": "pdf logpdf cdf sf logcdf logsf",
    "gamma": "logpdf cdf sf logcdf logsf",
    "geom": "pmf logpmf cdf sf",
    "gumbel_l": "logpdf cdf sf logcdf logsf",
    "gumbel_r": "logpdf cdf sf logcdf logsf",
    "halfnorm": "pdf logpdf cdf sf logcdf logsf",
    "laplace": "pdf cdf sf logcdf logsf",
    "logistic": "pdf logpdf cdf sf logcdf logsf",
    "lognorm": "cdf sf logcdf logsf",
    "maxwell": "logpdf",
    "nbinom": "logpmf",
    "norm": "pdf logpdf cdf sf logcdf logsf",
    "poisson": "pmf logpmf",
    "rayleigh": "pdf logpdf cdf sf logcdf logsf",
    "t": "pdf logpdf cdf sf logcdf logsf",
    "uniform": "pdf logpdf cdf sf logcdf logsf",
    "weibull_min": "logpdf cdf sf logcdf logsf",
}


def method(formula: AnyFunction) -> AnyFunction:
    """A method of a distribution, from its formula of the point and all parameters.

    Without tensors, it is SciPy's own. Otherwise the value is SciPy's, the derivatives are those of
    the formula. In compiled functions, the methods in `AS_EXACT` have the formula's value, too. The
    result is NaN where a parameter is not valid.
    """
    which = formula.__name__
    point = None if which in _OF_PARAMETERS else parameters(formula)[1]

    @functools.wraps(formula)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not any_arrays(args, kwargs):
            return getattr(self.scipy, which)(*args, **kwargs)
        if state.on:
            compare(f"scipy.stats.{self.name}.{which}", functools.partial(run, self), args, kwargs)
        if point in kwargs:
            args = (kwargs.pop(point), *args)
        count = 0 if point is None else 1
        points, (shapes, loc, scale) = args[:count], self._parameters(args[count:], kwargs)
        out = self._checked(formula(self, *points, shapes, loc, scale), shapes, scale)
        given = (*map(double, points), *shapes, loc, *(() if self.is_discrete else (scale,)))
        shape = np.broadcast_shapes(*(tuple(x.shape) for x in given))
        if tuple(out.shape) != shape:
            out = broadcast_to(out, shape)
        if which in AS_EXACT.get(self.name, "").split() and not all(map(has_values, given)):
            return out
        return attach(self._values[which](*given), out)

    return run


class Distribution:
    """The base of distributions with derivatives.

    The class attributes are formulas of the standardised variable ``y``, or of a probability ``q``,
    and of the shape parameters. Those that are None follow from others.

    All other attributes are those of SciPy's distribution.
    """

    name: ClassVar[str]
    # The support: numbers, or functions of the shape parameters.
    support_: ClassVar[tuple[Any, Any]] = (-math.inf, math.inf)
    valid: ClassVar[AnyFunction | None] = None  # for which shapes it exists; None: positive ones
    log_density: AnyFunction
    distribution: AnyFunction
    upper: ClassVar[AnyFunction | None] = None
    log_distribution: ClassVar[AnyFunction | None] = None
    log_upper: ClassVar[AnyFunction | None] = None
    average: AnyFunction
    variance: AnyFunction
    information: AnyFunction  # the entropy
    is_discrete = False
    methods: ClassVar[tuple[str, ...]] = (
        *("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"),
        *("mean", "var", "std", "entropy"),
    )

    def __init__(self) -> None:
        self.scipy = getattr(SCIPY, self.name)
        shapes = self.scipy.shapes
        self.shapes = tuple(s.strip() for s in shapes.split(",")) if shapes else ()
        # Ops are declared at once: another process finds them by their names.
        names = () if self.is_discrete else ("ppf", "isf")
        self._quantiles = {which: implicit_quantiles(self, which) for which in names}
        self._values = {which: self._value_of(which) for which in self.methods}

    def _value_of(self, which: str) -> AnyFunction:
        """The op of SciPy's values of a method."""
        names = [f"shape_{name}" for name in self.shapes]
        names += ["loc"] if self.is_discrete else ["loc", "scale"]
        inputs = names if which in _OF_PARAMETERS else ["x", *names]
        return constant(
            f"scipy.stats.{self.name}.{which}_values",
            *inputs,
            kind=Elementwise(),
            compute=by_scipy(of_numbers(getattr(self.scipy, which))),
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "scipy":
            raise AttributeError(name)
        return getattr(self.scipy, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The distribution with fixed parameters."""
        if not any_arrays(args, kwargs):
            return Frozen(self, self.scipy(*args, **kwargs), args, kwargs)
        return Frozen(self, None, args, kwargs)

    def freeze(self, *args: Any, **kwargs: Any) -> Any:
        """The distribution with fixed parameters."""
        return self(*args, **kwargs)

    # --- arguments ---

    def _parameters(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        """The shape parameters, the location and the scale, as arrays."""
        names = (*self.shapes, "loc") if self.is_discrete else (*self.shapes, "loc", "scale")
        if len(args) > len(names):
            raise TypeError(
                f"{self.name} takes at most {len(names)} parameters: {', '.join(names)}"
            )
        given = dict(zip(names, args, strict=False))
        for key, value in kwargs.items():
            if key not in names or key in given:
                raise TypeError(f"{self.name} got an unexpected parameter {key!r}")
            given[key] = value
        missing = [n for n in self.shapes if n not in given]
        if missing:
            raise TypeError(f"{self.name} is missing the parameters {', '.join(missing)}")
        shapes = tuple(double(given[n]) for n in self.shapes)
        return shapes, double(given.get("loc", 0.0)), double(given.get("scale", 1.0))

    def _checked(self, out: Any, shapes: Any, scale: Any) -> Any:
        """NaN where a parameter is not valid, as SciPy has it."""
        good = greater(scale, 0)
        valid = type(self).valid
        for part in [greater(s, 0) for s in shapes] if valid is None else [valid(*shapes)]:
            good = logical_and(good, part)
        return out if has_values(good) and plain(good).all() else where(good, out, math.nan)

    def _ends(self, shapes: Any) -> tuple[Any, Any]:
        low, high = (end(*shapes) if callable(end) else end for end in self.support_)
        return low, high

    def _inside(self, y: Any, shapes: Any, far: Any = None) -> tuple[Any, Any]:
        """Which elements are in the support and not `far`, and the elements with others replaced.

        The mask is None if the support is the whole line.
        """
        low, high = self._ends(shapes)
        if _is_infinite(low):
            if _is_infinite(high):
                return None, y
            within = high - 0.5
        else:
            within = low + 0.5 if _is_infinite(high) else 0.5 * (low + high)
        inside = logical_and(greater_equal(y, low), less_equal(y, high))
        if far is not None:
            inside = logical_and(inside, logical_not(far))
        return inside, where(inside, y, within)

    # --- densities ---

    @method
    def logpdf(self, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
        """The logarithm of the density."""
        return self._log_pdf(x, shapes, loc, scale)

    @method
    def pdf(self, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
        """The density."""
        x = double(x)
        far = isinf(x)  # there, location and scale change nothing
        return where(far, 0.0, exp(self._log_pdf(where(far, 0.0, x), shapes, loc, scale, far)))

    def _log_pdf(self, x: Any, shapes: Any, loc: Any, scale: Any, far: Any = None) -> Any:
        """The logarithm of the density; with `far`, it is a constant where the density is zero."""
        y = (double(x) - loc) / scale
        if far is not None:
            zero, _ = self._ends_without_slope(y, shapes)
            far = far if zero is None else logical_or(far, zero)
        inside, at = self._inside(y, shapes, far)
        out = type(self).log_density(at, *shapes) - log(scale)
        if inside is None:
            return out
        return where(inside, out, where(isnan(y), math.nan, -math.inf))

    def _ends_without_slope(self, y: Any, shapes: Any) -> tuple[Any, Any]:
        """Which elements are at an end of the support where the density is zero, or infinite.

        There, formulas have no derivatives by the shape parameters. None if no element is there.
        """
        ends = [equal(y, end) for end in self._ends(shapes) if not _is_infinite(end)]
        if not ends or (all(map(has_values, ends)) and not any(plain(e).any() for e in ends)):
            return None, None
        at_end = functools.reduce(logical_or, ends)
        with np.errstate(all="ignore"):
            density = type(self).log_density(*map(stop_gradient, (y, *shapes)))
        known = equal(density, -math.inf), greater(density, 1e308)
        zero, infinite = (logical_and(at_end, mask) for mask in known)
        return zero, infinite

    # --- distribution functions ---

    def _function(
        self, of: AnyFunction, given: tuple[Any, Any, Any, Any], below: float, above: float
    ) -> Any:
        """A function of the standardised variable, and its values beyond the support."""
        x, shapes, loc, scale = given
        x = double(x)
        far = isinf(x)  # there, location and scale change nothing
        y = (where(far, 0.0, x) - loc) / scale
        zero, infinite = self._ends_without_slope(y, shapes)
        if infinite is not None:  # the value there does not depend on shapes and scale
            shapes = [choose(infinite, stop_gradient(shape), shape) for shape in shapes]
            scale = choose(logical_and(infinite, equal(y, 0)), stop_gradient(scale), scale)
            y = (where(far, 0.0, x) - loc) / scale
        inside, at = self._inside(y, shapes, far if zero is None else logical_or(far, zero))
        out = of(at, *shapes)
        if inside is not None:
            low, _ = self._ends(shapes)
            beyond = where(less_equal(y, low), below, above)
            out = where(inside, out, where(isnan(y), math.nan, beyond))
        return where(far, where(greater(x, 0), above, below), out)

    def _cdf_of(self, y: Any, *shapes: Any) -> Any:
        return type(self).distribution(y, *shapes)

    def _sf_of(self, y: Any, *shapes: Any) -> Any:
        upper = type(self).upper
        return 1 - self._cdf_of(y, *shapes) if upper is None else upper(y, *shapes)

    def _logcdf_of(self, y: Any, *shapes: Any) -> Any:
        found = type(self).log_distribution
        if found is not None:
            return found(y, *shapes)
        return self._log_of(self._cdf_of, self._sf_of, y, shapes)

    def _logsf_of(self, y: Any, *shapes: Any) -> Any:
        found = type(self).log_upper
        if found is not None:
            return found(y, *shapes)
        return self._log_of(self._sf_of, self._cdf_of, y, shapes)

    def _log_of(self, own: AnyFunction, other: AnyFunction, y: Any, shapes: Any) -> Any:
        """The logarithm of a probability; if it is almost one, by the small rest."""
        p = own(y, *shapes)
        close = greater(p, 0.9)
        if type(self).upper is None or (has_values(close) and not plain(close).any()):
            return log(p)
        rest = where(close, other(y, *shapes), 0.0)
        return where(close, log1p(-rest), log(where(close, 1.0, p)))

    @method
    def cdf(self, x: Any, *given: Any) -> Any:
        """The distribution function."""
        return self._function(self._cdf_of, (x, *given), 0.0, 1.0)

    @method
    def sf(self, x: Any, *given: Any) -> Any:
        """One minus the distribution function."""
        return self._function(self._sf_of, (x, *given), 1.0, 0.0)

    @method
    def logcdf(self, x: Any, *given: Any) -> Any:
        """The logarithm of the distribution function."""
        return self._function(self._logcdf_of, (x, *given), -math.inf, 0.0)

    @method
    def logsf(self, x: Any, *given: Any) -> Any:
        """The logarithm of one minus the distribution function."""
        return self._function(self._logsf_of, (x, *given), 0.0, -math.inf)

    # --- quantiles ---

    @method
    def ppf(self, q: Any, *given: Any) -> Any:
        """The quantiles: the inverse of the distribution function."""
        return self._inverse("ppf", q, *given)

    @method
    def isf(self, q: Any, *given: Any) -> Any:
        """The inverse of `sf`."""
        return self._inverse("isf", q, *given)

    def _inverse(self, which: str, q: Any, shapes: Any, loc: Any, scale: Any) -> Any:
        q = double(q)
        possible = logical_and(greater_equal(q, 0), less_equal(q, 1))
        with np.errstate(divide="ignore", invalid="ignore"):  # as SciPy
            y = self._quantiles[which](where(possible, q, 0.5), *shapes)
        return where(possible, y * scale + loc, math.nan)

    def median(self, *args: Any, **kwargs: Any) -> Any:
        """The median."""
        return self.ppf(0.5, *args, **kwargs)

    def interval(self, confidence: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The interval around the median that has a probability."""
        if not any_arrays((confidence, *args), kwargs):
            return self.scipy.interval(confidence, *args, **kwargs)  # type: ignore[no-any-return]
        rest = (1 - double(confidence)) * 0.5
        return self.ppf(rest, *args, **kwargs), self.ppf(1 - rest, *args, **kwargs)

    def support(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The ends of the support."""
        if not any_arrays(args, kwargs):
            return self.scipy.support(*args, **kwargs)  # type: ignore[no-any-return]
        shapes, loc, scale = self._parameters(args, kwargs)
        zeros = np.zeros(np.broadcast_shapes(*(p.shape for p in (*shapes, loc, scale))))
        low, high = self._ends(shapes)
        return (
            self._checked(low * scale + loc + zeros, shapes, scale),
            self._checked(high * scale + loc + zeros, shapes, scale),
        )

    # --- moments ---

    @method
    def mean(self, shapes: Any, loc: Any, scale: Any) -> Any:
        """The mean."""
        return type(self).average(*shapes) * scale + loc

    @method
    def var(self, shapes: Any, loc: Any, scale: Any) -> Any:
        """The variance."""
        return type(self).variance(*shapes) * scale * scale + 0 * loc

    @method
    def std(self, shapes: Any, loc: Any, scale: Any) -> Any:
        """The standard deviation."""
        return type(self).variance(*shapes) ** 0.5 * scale + 0 * loc

    @method
    def entropy(self, shapes: Any, loc: Any, scale: Any) -> Any:
        """The differential entropy."""
        return type(self).information(*shapes) + log(scale) + 0 * loc

    def stats(self, *args: Any, moments: str = "mv", **kwargs: Any) -> Any:
        """The mean and the variance."""
        if not any_arrays(args, kwargs):
            return self.scipy.stats(*args, moments=moments, **kwargs)
        refuse(f"{self.name}.stats", moments=(moments, "mv"))
        return self.mean(*args, **kwargs), self.var(*args, **kwargs)

    # --- random numbers, and fits ---

    def rvs(self, *args: Any, size: Any = None, random_state: Any = None, **kwargs: Any) -> Any:
        """Random numbers, which depend on the parameters as quantiles at fixed probabilities do."""
        if not any_arrays(args, kwargs):
            return self.scipy.rvs(*args, size=size, random_state=random_state, **kwargs)
        shapes, loc, scale = self._parameters(args, kwargs)
        no_batch((*shapes, loc, scale))
        values = [plain(p) for p in (*shapes, loc, scale)]
        shape = np.broadcast_shapes(*(np.shape(v) for v in values))
        if size is None:
            size = shape
        elif np.broadcast_shapes(shape, size) != np.empty(size).shape:
            raise ValueError("size does not match the broadcast shape of the parameters.")
        drawn = self.scipy.rvs(*values[: len(shapes)], size=size, random_state=random_state)
        drawn = np.asarray(drawn, float)
        if self.shapes:
            drawn = self._drawn(drawn, shapes)
        return self._checked(drawn * scale + loc, shapes, scale)

    def _drawn(self, values: Any, shapes: Any) -> Any:
        """Numbers as a function of the shape parameters: their probabilities are constants."""
        q = self.scipy.cdf(values, *map(plain, shapes))
        y = self._quantiles["ppf"](q, *shapes)
        return y + (values - plain(y))  # the numbers that were drawn, to the last digit

    def nnlf(self, theta: Any, x: Any) -> Any:
        """Minus the logarithm of the likelihood of data, by all parameters together."""
        if not has_arrays((*theta, x)):
            return self.scipy.nnlf(theta, x)
        return -_sum(self.logpdf(x, *theta))

    def fit(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        """The parameters of largest likelihood, by the data.

        SciPy's result is the start of a minimisation that ends where the gradient is zero, so that
        the parameters are an implicit function of the data.
        """
        if not has_arrays((data,)):
            return self.scipy.fit(data, *args, **kwargs)
        if kwargs.get("method", "MLE").upper() != "MLE":
            raise NotImplementedError(f"{self.name}.fit of tensors has method='MLE' only")
        values = plain(data)
        if values.ndim != 1:
            raise NotImplementedError(f"{self.name}.fit of tensors takes one vector of data")
        start = self.scipy.fit(values, *args, **kwargs)
        free = [k for k, fixed in enumerate(self._fixed(kwargs)) if not fixed]

        def loss(moving: Any) -> Any:
            parameters = list(start)
            for k, place in enumerate(free):
                parameters[place] = moving[k]
            return -_sum(self.logpdf(data, *parameters))

        found = minimize(loss, np.array([start[k] for k in free]), method="BFGS", tol=1e-9).x
        parameters = [array_like(p) for p in start]
        for k, place in enumerate(free):
            parameters[place] = found[k]
        return tuple(parameters)

    def _fixed(self, kwargs: dict[str, Any]) -> list[bool]:
        """Which parameters the keywords of `fit` fix."""
        names: list[tuple[str, ...]] = [
            (f"f{i}", f"f{name}", f"fix_{name}") for i, name in enumerate(self.shapes)
        ]
        names += [("floc",), ("fscale",)]
        return [any(n in kwargs for n in given) for given in names]


def _is_infinite(end: Any) -> bool:
    return isinstance(end, float) and math.isinf(end)


def power_log(exponent: Any, y: Any) -> Any:
    """The logarithm of a power of y, which is constant at zero, too, if the exponent is zero."""
    return xlogy(exponent, where(logical_and(equal(exponent, 0), equal(y, 0)), 1.0, y))


def power_log1m(exponent: Any, y: Any) -> Any:
    """The logarithm of a power of 1 - y, which is constant at one, too."""
    return xlog1py(exponent, -where(logical_and(equal(exponent, 0), equal(y, 1)), 0.0, y))


def constant_formula(value: float) -> AnyFunction:
    """A moment that does not depend on shape parameters."""
    return lambda *shapes: value
