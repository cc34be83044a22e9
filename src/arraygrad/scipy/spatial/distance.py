"""`scipy.spatial.distance` with derivatives, for all metrics of real vectors that are smooth.

A distance of zero has the derivative zero, as a norm has. Names that have no derivatives here are
SciPy's own.

>>> import arraygrad as ag
>>> from arraygrad.scipy.spatial import distance
>>> x = ag.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
>>> ag.grad(distance.pdist(x)[0], x)
tensor([[-0.6, -0.8],
        [ 0.6,  0.8]])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import linalg
from ...backends.filled import zeros_like
from ...core.array import AnyFunction, plain
from ...ops import (
    abs,
    concat,
    equal,
    expand_dims,
    is_complex,
    matmul,
    max,
    reshape,
    sqrt,
    sum,
    take,
    where,
)
from ...ops.special.entropies import rel_entr as _rel_entr
from ..names import others_from, scipy_module
from ..twins import double, floating, refuse, twin

__all__ = [
    "braycurtis",
    "canberra",
    "cdist",
    "chebyshev",
    "cityblock",
    "correlation",
    "cosine",
    "euclidean",
    "mahalanobis",
    "minkowski",
    "pdist",
    "seuclidean",
    "sqeuclidean",
    "squareform",
]

SCIPY = scipy_module("scipy.spatial.distance")

__getattr__ = others_from("scipy.spatial.distance")


def _ratio(x: Any, y: Any) -> Any:
    """`x / y`, and zero where `y` is zero."""
    zero = equal(y, 0)
    return where(zero, 0, x / where(zero, 1, y))


def _root(x: Any) -> Any:
    """The root, with the derivative zero at zero."""
    zero = equal(x, 0)
    return where(zero, 0, sqrt(where(zero, 1, x)))


def _weighted(x: Any, w: Any) -> Any:
    return sum(x if w is None else x * w, axis=-1)


def _euclidean(u: Any, v: Any, w: Any = None) -> Any:
    if w is None:
        return linalg.vector_norm(u - v, axis=-1)
    return _root(_weighted((u - v) ** 2, w))


def _minkowski(u: Any, v: Any, p: float = 2, w: Any = None) -> Any:
    if w is None:
        return linalg.vector_norm(u - v, axis=-1, ord=p)
    if math.isinf(p):
        return max(where(w > 0, abs(u - v), 0), axis=-1)
    return linalg.vector_norm((u - v) * w ** (1 / p), axis=-1, ord=p)


def _cosine(u: Any, v: Any, w: Any = None) -> Any:
    product = _weighted(u * v, w)
    return 1 - product / sqrt(_weighted(u * u, w) * _weighted(v * v, w))


def _correlation(u: Any, v: Any, w: Any = None) -> Any:
    if w is not None:
        w = w / sum(w)
        return _cosine(
            u - sum(u * w, axis=-1, keepdims=True), v - sum(v * w, axis=-1, keepdims=True), w
        )
    n = u.shape[-1]
    return _cosine(u - sum(u, axis=-1, keepdims=True) / n, v - sum(v, axis=-1, keepdims=True) / n)


def _mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    d = u - v
    return _root(sum(matmul(d, VI) * d, axis=-1))


def _jensenshannon(u: Any, v: Any, base: Any = None) -> Any:
    u = u / sum(u, axis=-1, keepdims=True)
    v = v / sum(v, axis=-1, keepdims=True)
    m = (u + v) / 2
    total = sum(_rel_entr(u, m) + _rel_entr(v, m), axis=-1)
    if base is not None:
        total = total / math.log(base)
    return _root(total / 2)


_METRICS: dict[str, AnyFunction] = {
    "euclidean": _euclidean,
    "sqeuclidean": lambda u, v, w=None: _weighted((u - v) ** 2, w),
    "cityblock": lambda u, v, w=None: _weighted(abs(u - v), w),
    "chebyshev": lambda u, v, w=None: _minkowski(u, v, math.inf, w),
    "minkowski": _minkowski,
    "seuclidean": lambda u, v, V: _root(sum((u - v) ** 2 / V, axis=-1)),
    "mahalanobis": _mahalanobis,
    "cosine": _cosine,
    "correlation": _correlation,
    "canberra": lambda u, v, w=None: _weighted(_ratio(abs(u - v), abs(u) + abs(v)), w),
    "braycurtis": lambda u, v, w=None: _weighted(abs(u - v), w) / _weighted(abs(u + v), w),
    "jensenshannon": _jensenshannon,
}


# Options that are arrays; SciPy takes weights in double precision.
_ARRAYS: dict[str, AnyFunction] = {"w": double, "V": floating, "VI": floating}


def _metric(name: Any, options: dict[str, Any], samples: Any) -> Any:
    """The function of two arrays of vectors, for a metric's name and options."""
    refuse("a distance", out=(options.pop("out", None), None))
    if callable(name):
        name = name.__name__
    name = str(name).lower()
    known = SCIPY._METRIC_ALIAS.get(name)
    name = name if known is None else known.canonical_name
    if name not in _METRICS:
        raise NotImplementedError(
            f"the metric {name!r} has no derivative here; these have: {', '.join(_METRICS)}"
        )
    given = {k: _ARRAYS[k](v) if k in _ARRAYS and v is not None else v for k, v in options.items()}
    if name == "seuclidean" and given.get("V") is None:
        centred = samples - sum(samples, axis=0) / samples.shape[0]
        given["V"] = sum(centred**2, axis=0) / (samples.shape[0] - 1)
    if name == "mahalanobis" and given.get("VI") is None:
        if samples.shape[0] <= samples.shape[1]:
            raise ValueError(
                f"The number of observations ({samples.shape[0]}) is too small; the covariance "
                f"matrix is singular. For observations with {samples.shape[1]} dimensions, at "
                f"least {samples.shape[1] + 1} observations are required."
            )
        centred = samples - sum(samples, axis=0) / samples.shape[0]
        given["VI"] = linalg.inv(matmul(centred.T, centred) / (samples.shape[0] - 1)).T
    function = _METRICS[name]
    return lambda u, v: function(u, v, **given)


def _real(x: Any, ndim: int, convert: AnyFunction = double) -> Any:
    """Vectors (of one axis), or sets of vectors (of two), of real numbers."""
    x = convert(x)
    if x.ndim != ndim:
        raise ValueError(f"expected an array with {ndim} axes, got shape {tuple(x.shape)}")
    if is_complex(x):
        raise NotImplementedError(
            "distances between complex vectors have no derivative here: join the real and the "
            "imaginary parts to real vectors"
        )
    return x


@twin(SCIPY.cdist)
def cdist(XA: Any, XB: Any, metric: Any, **options: Any) -> Any:
    """The distances between all vectors of one set and all of another."""
    a, b = _real(XA, 2), _real(XB, 2)
    if a.shape[1] != b.shape[1]:
        raise ValueError("XA and XB must have the same number of columns")
    function = _metric(metric, options, concat((a, b), axis=0))
    return function(expand_dims(a, axis=1), expand_dims(b, axis=0))


@twin(SCIPY.pdist)
def pdist(X: Any, metric: Any, **options: Any) -> Any:
    """The distances between all pairs of vectors of a set."""
    x = _real(X, 2)
    first, second = np.triu_indices(x.shape[0], 1)
    function = _metric(metric, options, x)
    return function(take(x, first, axis=0), take(x, second, axis=0))


@twin(SCIPY.squareform)
def squareform(X: Any, force: str, checks: bool) -> Any:
    """A vector of distances as a matrix, or a matrix as a vector."""
    x = floating(X)
    if x.ndim == 1 and force.lower() not in ("tovector", "no", "tomatrix"):
        raise ValueError(f"force must be 'no', 'tomatrix' or 'tovector', not {force!r}")
    if x.ndim == 1 and force.lower() != "tovector":
        n = math.ceil(math.sqrt(2 * x.shape[0]))
        if n * (n - 1) != 2 * x.shape[0]:
            raise ValueError(
                "Incompatible vector size. It must be a binomial coefficient n choose 2 for some "
                "integer n >= 2."
            )
        place = np.full((n, n), x.shape[0])
        rows = np.triu_indices(n, 1)
        place[rows] = place.T[rows] = np.arange(x.shape[0])
        padded = concat((x, zeros_like(x, (1,))), axis=0)
        return reshape(take(padded, place.reshape(-1), axis=0), (n, n))
    if x.ndim == 2 and x.shape[0] == x.shape[1] and force.lower() != "tomatrix":
        if checks:
            SCIPY.is_valid_dm(_values(x), throw=True, name="X")
        n = x.shape[0]
        first, second = np.triu_indices(n, 1)
        return take(reshape(x, (n * n,)), first * n + second, axis=0)
    raise ValueError("squareform needs a vector, or a square matrix that is symmetric")


def _values(x: Any) -> Any:
    values = plain(x)
    return values if values.ndim == 2 else values.reshape(-1, *x.shape)[0]


_KEEP_PRECISION = "sqeuclidean cityblock chebyshev cosine correlation mahalanobis".split()


def _of_pair(name: str) -> Any:
    convert = floating if name in _KEEP_PRECISION else double

    @twin(getattr(SCIPY, name))
    def run(u: Any, v: Any, **options: Any) -> Any:
        refuse(name, centered=(options.pop("centered", True), True))
        return _metric(name, options, None)(_real(u, 1, convert), _real(v, 1, convert))

    return run


euclidean, sqeuclidean, cityblock, chebyshev = map(
    _of_pair, "euclidean sqeuclidean cityblock chebyshev".split()
)
minkowski, seuclidean, mahalanobis, cosine = map(
    _of_pair, "minkowski seuclidean mahalanobis cosine".split()
)
correlation, canberra, braycurtis = map(_of_pair, "correlation canberra braycurtis".split())


def __dir__() -> list[str]:
    return __all__
