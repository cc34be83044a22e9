"""Cases of `scipy.stats`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats
from crossing import Case

_rng = np.random.default_rng(13)


def _between(low: float, high: float, size: int = 3) -> Any:
    return _rng.uniform(low, high, size)


# The shape parameters of each distribution, and a range inside of its support.
CONTINUOUS: dict[str, tuple[tuple[Any, ...], tuple[float, float]]] = {
    "norm": ((), (-2, 2)),
    "t": ((_between(2.5, 6),), (-2, 2)),
    "gamma": ((_between(0.8, 4),), (0.3, 4)),
    "beta": ((_between(0.8, 4), _between(0.8, 4)), (0.2, 0.8)),
    "expon": ((), (0.2, 3)),
    "lognorm": ((_between(0.5, 1.5),), (0.3, 3)),
    "weibull_min": ((_between(0.8, 3),), (0.3, 2)),
    "pareto": ((_between(2.5, 4),), (1.2, 3)),
    "laplace": ((), (0.2, 2)),
    "logistic": ((), (-3, 3)),
    "cauchy": ((), (-3, 3)),
    "chi2": ((_between(1.5, 5),), (0.5, 5)),
    "f": ((_between(2, 5), _between(4.5, 7)), (0.5, 2)),
    "gumbel_r": ((), (-1, 3)),
    "gumbel_l": ((), (-3, 1)),
    "uniform": ((), (0.2, 0.8)),
    "truncnorm": ((_between(-1.5, -1), _between(1, 2)), (-0.5, 0.5)),
    "vonmises": ((_between(0.8, 3),), (-2, 2)),
    "halfnorm": ((), (0.2, 2)),
    "rayleigh": ((), (0.3, 2)),
    "maxwell": ((), (0.5, 3)),
    "invgamma": ((_between(2.5, 4),), (0.3, 2)),
}
# What has no moment, or one that takes SciPy seconds.
_WITHOUT = {("cauchy", "mean"), ("cauchy", "var"), ("vonmises", "mean"), ("vonmises", "var")}


def _methods(name: str, methods: str, *arrays: Any, label: str = "", **flags: Any) -> Case:
    """Several methods with the same arguments."""
    names = [n for n in methods.split() if (name, n.replace("std", "var")) not in _WITHOUT]
    return Case(
        f"stats.{name}.{'/'.join(names)}{label}",
        lambda sp, *args: tuple(getattr(getattr(sp.stats, name), n)(*args) for n in names),
        arrays,
        **flags,
    )


CASES = []
for _name, (_shapes, (_low, _high)) in CONTINUOUS.items():
    _loc, _scale = _between(-0.1, 0.1), _between(1, 1.5)
    _x = _between(_low, _high) * _scale + _loc
    _given = (*_shapes, _loc, _scale)
    CASES.append(_methods(_name, "pdf logpdf cdf sf logcdf logsf", _x, *_given))
    if _name != "vonmises":
        CASES.append(_methods(_name, "ppf isf", _between(0.2, 0.8), *_given, tolerance=5e-6))
    if _name != "cauchy":
        CASES.append(_methods(_name, "mean var std entropy", *_given))

# Far out in both tails, where a probability has few digits, but its logarithm has all.
for _name, (_shapes, _) in CONTINUOUS.items():
    _rare = 1e-3 if _name in ("pareto", "uniform") else 1e-5  # at an end, differences need room
    for _q in (_rare, 1 - _rare):
        _x = getattr(scipy.stats, _name).ppf(_q, *_shapes) * np.ones(3)
        CASES.append(
            _methods(
                _name,
                "logpdf logcdf logsf",
                *(_x, *_shapes, np.zeros(3), np.ones(3)),
                label=f" at the quantile of {_q:.5f}",
                second=False,
                batch=False,  # a batch moves the points by more than there is room
                step=1e-6 * min(1.0, np.min(np.abs(_x))),
                tolerance=1e-5,
            )
        )

# Between an end and infinity, on both sides and in both tails.
for _low, _high, _x in ((None, 1.0, -0.5), (None, -2.0, -3.0), (1.0, None, 2.0)):
    CASES.append(
        Case(
            f"stats.truncnorm from {_low} to {_high}",
            lambda sp, x, end, low=_low: tuple(
                getattr(sp.stats.truncnorm, n)(
                    x, *((-np.inf, end) if low is None else (end, np.inf))
                )
                for n in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
            ),
            (np.array([_x]), np.array([_high if _low is None else _low])),
        )
    )

_counts = np.array([0, 1, 3])


def _discrete(name: str, methods: str, first: Any, *arrays: Any) -> Case:
    return Case(
        f"stats.{name}.{methods.replace(' ', '/')}",
        lambda sp, *args: tuple(
            getattr(getattr(sp.stats, name), n)(*first, *args) for n in methods.split()
        ),
        arrays,
    )


_DISCRETE: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "binom": ((5,), (_between(0.2, 0.8),)),
    "poisson": ((), (_between(0.5, 3),)),
    "nbinom": ((), (_between(1, 4), _between(0.2, 0.8))),
    "geom": ((), (_between(0.2, 0.8),)),
    "bernoulli": ((), (_between(0.2, 0.8),)),
}
for _name, (_constants, _arrays) in _DISCRETE.items():
    _k = np.array([1, 2, 3]) if _name == "geom" else np.array([0, 1, 0])
    _k = _k if _name in ("geom", "bernoulli") else _counts
    CASES.append(_discrete(_name, "pmf logpmf", (_k, *_constants), *_arrays))
    _k = np.array([0, 0, 0]) if _name == "bernoulli" else _k
    CASES.append(_discrete(_name, "cdf sf logcdf logsf", (_k, *_constants), *_arrays))
    CASES.append(_discrete(_name, "mean var", _constants, *_arrays))
    CASES.append(_discrete(_name, "entropy", _constants, *_arrays))


def _scalar(x: Any) -> Any:
    """A number where SciPy takes no arrays."""
    return float(x) if isinstance(x, np.ndarray | np.generic) else x


def _cov(a: Any) -> Any:
    return a @ a.T + np.eye(2)


_a = _rng.normal(size=(2, 2))
CASES += [
    Case(
        "stats.norm.rvs",
        lambda sp, loc, scale: sp.stats.norm.rvs(loc, scale, size=4, random_state=3),
        (np.array(0.3), np.array(1.4)),
        batch=False,
    ),
    Case(
        "stats.norm frozen",
        lambda sp, x, loc, scale: sp.stats.norm(loc, scale=scale).logpdf(x),
        (_between(-1, 1), np.array(0.3), np.array(1.4)),
    ),
    Case(
        "stats.multivariate_normal.logpdf",
        lambda sp, x, m, a: sp.stats.multivariate_normal.logpdf(x, m, _cov(a)),
        (_rng.normal(size=(3, 2)), _rng.normal(size=2), _a),
    ),
    Case(
        "stats.multivariate_normal.pdf",
        lambda sp, x, m, a: sp.stats.multivariate_normal(m, _cov(a)).pdf(x),
        (_rng.normal(size=2), _rng.normal(size=2), _a),
    ),
    Case(
        "stats.multivariate_normal.entropy",
        lambda sp, a: sp.stats.multivariate_normal.entropy(np.zeros(2), _cov(a)),
        (_a,),
    ),
    Case(
        "stats.multivariate_t.logpdf",
        lambda sp, x, m, a, df: sp.stats.multivariate_t.logpdf(x, m, _cov(a), df),
        (_rng.normal(size=(3, 2)), _rng.normal(size=2), _a, np.array(3.5)),
    ),
    Case(
        "stats.dirichlet.logpdf",
        lambda sp, x, alpha: sp.stats.dirichlet.logpdf(x[:2] / x.sum(), alpha),
        (_between(0.2, 1), _between(1, 3)),
    ),
    _methods("dirichlet", "entropy mean var", _between(1, 3)),
    Case(
        "stats.wishart.logpdf",
        lambda sp, x, df, a: sp.stats.wishart.logpdf(_cov(x), _scalar(df), _cov(a)),
        (_rng.normal(size=(2, 2)), np.array(3.5), _a),
    ),
    Case(
        "stats.multinomial.logpmf",
        lambda sp, p: sp.stats.multinomial.logpmf([1, 2, 1], 4, p / p.sum()),
        (_between(0.2, 0.8),),
    ),
    *[
        Case(
            f"stats.gaussian_kde.{method}",
            lambda sp, data, x, m=method: getattr(sp.stats.gaussian_kde(data), m)(x),
            (_rng.normal(size=(2, 6)), _rng.normal(size=(2, 3))),
        )
        for method in ("evaluate", "logpdf")
    ],
    Case(
        "stats.gaussian_kde, bandwidth by a function",
        lambda sp, data, x: sp.stats.gaussian_kde(data, lambda k: 0.7 * k.scotts_factor())(x),
        (_rng.normal(size=6), _rng.normal(size=3)),
    ),
    Case(
        "stats.gaussian_kde of weights",
        lambda sp, data, w, x: sp.stats.gaussian_kde(data, "silverman", weights=w)(x),
        (_rng.normal(size=6), _between(0.5, 1, 6), _rng.normal(size=3)),
    ),
    Case(
        "stats.gaussian_kde at tensors",
        lambda sp, x: sp.stats.gaussian_kde(np.arange(5.0))(x),
        (_rng.normal(size=3),),
    ),
]

CASES += [
    _methods("gamma", "median stats", _between(1, 3), _between(0, 1), _between(1, 2)),
    Case(
        "stats.beta.interval frozen, support",
        lambda sp, a, loc: (
            sp.stats.beta(a, 2.0, loc=loc).interval(0.8),
            sp.stats.beta.support(a, 2.0, loc=loc),
        ),
        (_between(1, 3), np.array(0.3)),
    ),
    Case(
        "stats.norm.nnlf",
        lambda sp, x, loc, scale: sp.stats.norm.nnlf((loc, scale), x),
        (_between(-1, 1), np.array(0.2), np.array(1.3)),
    ),
    Case(
        "stats.gaussian_kde.integrate_box_1d",
        lambda sp, data: sp.stats.gaussian_kde(data).integrate_box_1d(-0.5, 1.0),
        (_rng.normal(size=6),),
    ),
    _methods("dirichlet", "cov", _between(1, 3)),
]
