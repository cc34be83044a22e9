"""Distributions of vectors and matrices: normal, t, Dirichlet, Wishart, multinomial."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import linalg
from ... import special as ours
from ...core.array import plain
from ...ops import all as all_of
from ...ops import (
    concat,
    diagonal,
    equal,
    exp,
    expand_dims,
    floor,
    log,
    log1p,
    logical_and,
    matmul,
    matrix_transpose,
    moveaxis,
    reshape,
    take,
    where,
)
from ...ops import sum as _sum
from ..linalg import solve_triangular
from ..special import multigammaln
from ..twins import any_arrays, floating, has_arrays, has_values, in_precision_of
from .distribution import SCIPY
from .frozen import Frozen, no_batch

__all__ = ["dirichlet", "multinomial", "multivariate_normal", "multivariate_t", "wishart"]

_LOG_2PI = math.log(2 * math.pi)


class _Multivariate:
    """A distribution of SciPy whose methods take tensors; other attributes are SciPy's."""

    name: str
    parameters: tuple[str, ...]

    def __init__(self) -> None:
        self.scipy = getattr(SCIPY, self.name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "scipy":
            raise AttributeError(name)
        return getattr(self.scipy, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The distribution with fixed parameters."""
        frozen = None
        if not any_arrays(args, kwargs):
            frozen = self.scipy(*args, **kwargs)
        return Frozen(self, frozen, args, kwargs)

    def _run(self, method: str, args: Any, kwargs: Any) -> Any:
        if any_arrays(args, kwargs):
            return getattr(self, f"_{method}")(*args, **kwargs)
        return getattr(self.scipy, method)(*args, **kwargs)

    def logpdf(self, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the density."""
        return self._run("logpdf", args, kwargs)

    def pdf(self, *args: Any, **kwargs: Any) -> Any:
        """The density."""
        if any_arrays(args, kwargs):
            return exp(self.logpdf(*args, **kwargs))
        return self.scipy.pdf(*args, **kwargs)

    def entropy(self, *args: Any, **kwargs: Any) -> Any:
        """The differential entropy."""
        return self._run("entropy", args, kwargs)

    def rvs(self, *args: Any, **kwargs: Any) -> Any:
        """Random vectors; only those of the normal distribution depend on the parameters here."""
        return self._run("rvs", args, kwargs)

    def _logpdf(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"this method of {self.name} has no derivative here")

    _entropy = _rvs = _refused


def _matrix(value: Any, size: int) -> Any:
    """A covariance: a number and a vector stand for diagonal matrices."""
    value = floating(value)
    if value.ndim < 2:
        return (value if value.ndim == 0 else expand_dims(value, axis=-1)) * np.eye(size)
    return value


def _log_det(factor: Any) -> Any:
    """The logarithm of the determinant, by a Cholesky factor."""
    return 2 * _sum(log(diagonal(factor, axis1=-2, axis2=-1)), axis=-1)


def _squared(factor: Any, deviations: Any) -> Any:
    """Mahalanobis' squared distances of vectors in the last axis."""
    d = deviations.shape[-1]
    flat = matrix_transpose(reshape(deviations, (-1, d)))
    z = solve_triangular(factor, flat, lower=True)
    return reshape(_sum(z * z, axis=0), deviations.shape[:-1])


def _location(mean: Any, scale: Any) -> tuple[Any, int]:
    if mean is not None:
        mean = floating(mean)
        mean = reshape(mean, (1,)) if mean.ndim == 0 else mean
        return mean, mean.shape[0]
    shape = np.shape(scale) if not hasattr(scale, "shape") else scale.shape
    size = shape[0] if shape else 1
    return np.zeros(size), size


def _points(x: Any, size: int) -> Any:
    """Points with their components in the last axis, as SciPy reads them."""
    x = floating(x)
    if x.ndim == 0:
        return reshape(x, (1,))
    if x.ndim == 1 and size == 1:
        return expand_dims(x, axis=-1)
    return x


def _in_subspace(cov: Any, deviations: Any) -> Any:
    """The logarithm of a normal density in the subspace that a covariance spans; -inf outside.

    Its derivative is for changes of the covariance that keep the subspace's dimension.
    """
    matrix, distances = np.asarray(plain(cov)), np.asarray(plain(deviations))
    if matrix.ndim != 2 or distances.ndim != deviations.ndim:
        raise NotImplementedError("allow_singular=True needs values: call it outside vmap")
    values, vectors = np.linalg.eigh(matrix)
    # Which eigenvalues count as zero is as in SciPy.
    tolerance = (1e3 if matrix.dtype.char == "f" else 1e6) * np.finfo(matrix.dtype).eps
    smallest = tolerance * np.abs(values).max()
    if values.min() < -smallest:
        raise ValueError("the covariance must be symmetric and positive semidefinite")
    kept = values > smallest
    log_det = _sum(log(take(linalg.eigvalsh(cov), np.flatnonzero(kept), axis=0)))
    inverse = linalg.pinv(cov, rtol=tolerance)
    squares = _sum(matmul(deviations, inverse) * deviations, axis=-1)
    out = -0.5 * (int(kept.sum()) * _LOG_2PI + log_det + squares)
    inside = np.linalg.norm(distances @ vectors[:, ~kept], axis=-1) < 10 * smallest
    return where(inside, out, -math.inf)


class _MultivariateNormal(_Multivariate):
    name = "multivariate_normal"

    def _logpdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
        mean, d = _location(mean, cov)
        cov, deviations = _matrix(cov, d), _points(x, d) - mean
        if allow_singular:
            return _in_subspace(cov, deviations)
        factor = linalg.cholesky(cov)
        return -0.5 * (d * _LOG_2PI + _log_det(factor) + _squared(factor, deviations))

    def _entropy(self, mean: Any = None, cov: Any = 1) -> Any:
        _, d = _location(mean, cov)
        return 0.5 * (d * (_LOG_2PI + 1) + _log_det(linalg.cholesky(_matrix(cov, d))))

    def _rvs(self, mean: Any = None, cov: Any = 1, size: Any = 1, random_state: Any = None) -> Any:
        mean, d = _location(mean, cov)
        cov = _matrix(cov, d)
        no_batch((mean, cov))
        numbers = plain(mean), plain(cov)
        drawn = np.asarray(self.scipy.rvs(*numbers, size=size, random_state=random_state))
        drawn = drawn.reshape(*drawn.shape, 1) if d == 1 and drawn.shape[-1:] != (1,) else drawn
        plain_factor = np.linalg.cholesky(numbers[1])
        standard = np.linalg.solve(plain_factor, (drawn - numbers[0]).reshape(-1, d).T)
        factor = linalg.cholesky(cov)
        moved = reshape(matrix_transpose(matmul(factor, standard)), drawn.shape)
        return mean + moved


class _MultivariateT(_Multivariate):
    name = "multivariate_t"

    def _logpdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        loc, d = _location(loc, shape)
        df = floating(df)
        factor = linalg.cholesky(_matrix(shape, d))
        squares = _squared(factor, _points(x, d) - loc)
        constant = ours.gammaln((df + d) * 0.5) - ours.gammaln(df * 0.5)
        constant = constant - d * 0.5 * log(df * math.pi) - 0.5 * _log_det(factor)
        return constant - (df + d) * 0.5 * log1p(squares / df)


def _have_sum_one(x: Any, axis: int) -> bool:
    return bool((np.abs(plain(_sum(x, axis=axis)) - 1) <= 1e-9).all())


class _Dirichlet(_Multivariate):
    name = "dirichlet"

    def _logpdf(self, x: Any, alpha: Any) -> Any:
        x, alpha = floating(x), floating(alpha)
        if x.shape[0] == alpha.shape[0] - 1:  # the last component follows from the others
            x = concat((x, expand_dims(1 - _sum(x, axis=0), axis=0)), axis=0)
        if has_values(x) and not ((plain(x) >= 0).all() and _have_sum_one(x, 0)):
            raise ValueError(
                "dirichlet: the entries of x must not be negative, and their sum along the first "
                "axis must be one"
            )
        norm = _sum(ours.gammaln(alpha)) - ours.gammaln(_sum(alpha))
        return _sum(ours.xlogy(alpha - 1, moveaxis(x, 0, -1)), axis=-1) - norm

    def _entropy(self, alpha: Any) -> Any:
        alpha = floating(alpha)
        total, count = _sum(alpha), alpha.shape[0]
        norm = _sum(ours.gammaln(alpha)) - ours.gammaln(total)
        return (
            norm + (total - count) * ours.digamma(total) - _sum((alpha - 1) * ours.digamma(alpha))
        )

    def mean(self, alpha: Any) -> Any:
        """The mean."""
        if not has_arrays((alpha,)):
            return self.scipy.mean(alpha)
        return floating(alpha) / _sum(floating(alpha))

    def var(self, alpha: Any) -> Any:
        """The variances of the components."""
        if not has_arrays((alpha,)):
            return self.scipy.var(alpha)
        alpha = floating(alpha)
        total = _sum(alpha)
        return alpha * (total - alpha) / (total * total * (total + 1))

    def cov(self, alpha: Any) -> Any:
        """The covariance matrix of the components."""
        if not has_arrays((alpha,)):
            return self.scipy.cov(alpha)
        mean = self.mean(alpha)
        outer = expand_dims(mean, axis=-1) * mean
        return in_precision_of(
            (np.eye(mean.shape[0]) * mean - outer) / (_sum(floating(alpha)) + 1), mean
        )


class _Wishart(_Multivariate):
    name = "wishart"

    def _logpdf(self, x: Any, df: Any, scale: Any) -> Any:
        x, df = floating(x), floating(df)
        d = x.shape[0] if x.ndim else 1
        x = reshape(x, (1, 1)) if x.ndim == 0 else x
        if x.ndim == 3:  # the last axis counts matrices
            x = moveaxis(x, -1, 0)
        if x.ndim == 1 or x.ndim > 3 or x.shape[-1] != x.shape[-2]:
            raise ValueError(
                f"wishart: x must be a square matrix, or more of them along the last axis; it has "
                f"the shape {tuple(x.shape)}"
            )
        if has_values(df) and (plain(df) <= d - 1).any():
            raise ValueError(f"wishart: df must be larger than {d - 1} for matrices of {d} rows")
        scale = _matrix(scale, d)
        factor, own = linalg.cholesky(scale), linalg.cholesky(x)
        trace = _sum(solve_triangular(factor, own, lower=True) ** 2, axis=(-2, -1))
        return (
            0.5 * (df - d - 1) * _log_det(own)
            - 0.5 * trace
            - 0.5 * df * (d * math.log(2) + _log_det(factor))
            - multigammaln(df * 0.5, d)
        )


class _Multinomial(_Multivariate):
    name = "multinomial"

    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """The logarithm of the probability of counts."""
        if not has_arrays((x, n, p)):
            return self.scipy.logpmf(x, n, p)
        x, n, p = floating(x), floating(n), floating(p)
        if has_values(p) and not _have_sum_one(p, -1):
            raise ValueError("multinomial: the probabilities p must have the sum one")
        # As SciPy has it, the last probability is what the others leave.
        p = concat((p[..., :-1], 1 - _sum(p[..., :-1], axis=-1, keepdims=True)), axis=-1)
        whole = all_of(logical_and(x >= 0, equal(floor(x), x)), axis=-1)
        possible = logical_and(whole, equal(_sum(x, axis=-1), n))
        counts = where(x >= 0, x, 0.0)
        out = ours.gammaln(n + 1) + _sum(ours.xlogy(counts, p) - ours.gammaln(counts + 1), axis=-1)
        out = where(possible, out, -math.inf)
        valid = all_of(logical_and(p >= 0, p <= 1), axis=-1)
        return where(logical_and(valid, n >= 0), out, math.nan)

    def pmf(self, x: Any, n: Any, p: Any) -> Any:
        """The probability of counts."""
        if not has_arrays((x, n, p)):
            return self.scipy.pmf(x, n, p)
        return exp(self.logpmf(x, n, p))


multivariate_normal, multivariate_t = _MultivariateNormal(), _MultivariateT()
dirichlet, wishart, multinomial = _Dirichlet(), _Wishart(), _Multinomial()
