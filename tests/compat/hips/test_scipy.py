"""`autograd.scipy`: what is not a function of `arraygrad.scipy`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from arraygrad.compat.hips import grad
from arraygrad.compat.hips.test_util import check_grads

pytest.importorskip("scipy")

import scipy.signal
import scipy.stats

import arraygrad.compat.hips.numpy as anp
from arraygrad.compat.hips.scipy import integrate, linalg, signal, special, stats
from arraygrad.compat.hips.scipy.stats import multivariate_normal

X = np.array([0.2, 0.5, 0.7])
COV = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.5], [0.1, 0.5, 3.0]])


@pytest.mark.parametrize(
    ("f", "arguments"),
    [
        (stats.norm.logcdf, (X, 0.1, 2.0)),
        (stats.norm.pdf, (X, 0.1, 2.0)),
        (stats.norm.logsf, (X, 0.1, 2.0)),
        (stats.t.logpdf, (X, 4.0, 0.1, 2.0)),
        (lambda x, m: stats.t.cdf(x, 4.0, m), (X, 0.3)),
        (stats.beta.logpdf, (X, 2.0, 3.0)),
        (stats.gamma.pdf, (X, 2.0)),
        (stats.chi2.logpdf, (X, 4.0)),
        (lambda mu: stats.poisson.logpmf(np.arange(3.0), mu), (X,)),
        (lambda mu: stats.poisson.cdf(np.arange(3), mu), (X,)),
        (lambda a: stats.dirichlet.logpdf(np.array([0.2, 0.5, 0.3]), a), (1 + X,)),
        (lambda x, m: multivariate_normal.logpdf(x, m, COV), (X, 0 * X)),
        (lambda c: multivariate_normal.pdf(X, 0 * X, c @ c.T), (COV,)),
        (lambda c: multivariate_normal.entropy(0 * X, c @ c.T), (COV,)),
        (special.gammaln, (X,)),
        (lambda x: special.logsumexp(x, axis=0, b=X), (X,)),
        (lambda x: special.jn(2, x), (X,)),
        (special.beta, (X, 2.0)),
        (lambda a: linalg.solve_triangular(anp.tril(a), X, lower=True), (COV,)),
    ],
)
def test_derivatives(f: Any, arguments: Any) -> None:
    check_grads(f, tuple(range(len(arguments))), modes=["rev"])(*arguments)
    check_grads(f, modes=["fwd"], order=1)(*arguments)


def test_values_for_boxes_are_scipys() -> None:
    def value(f: Any, *args: Any, **kwargs: Any) -> Any:
        found = []
        grad(lambda x: anp.sum(found.append(f(x, *args, **kwargs)._value) or x))(X)
        return found[0]

    for name, parameters in {"norm": (0.1, 2.0), "t": (4.0, 0.1), "gamma": (2.0,)}.items():
        for function in ("pdf", "logpdf", "cdf"):
            expected = getattr(getattr(scipy.stats, name), function)(X, *parameters)
            ours = getattr(getattr(stats, name), function)
            np.testing.assert_allclose(value(ours, *parameters), expected, rtol=1e-12)
    singular = np.diag([1.0, 2.0, 0.0])
    x = X * [1, 1, 0]
    expected = scipy.stats.multivariate_normal.logpdf(x, np.zeros(3), singular, True)
    found = value(lambda y: multivariate_normal.logpdf(y * [1, 1, 0], 0 * X, singular, True))
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
def test_convolutions(mode: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((5, 6)), rng.random((3, 4))
    np.testing.assert_allclose(
        signal.convolve(a, b, mode=mode), scipy.signal.convolve(a, b, mode=mode)
    )
    images, filters = rng.random((2, 3, 5, 6)), rng.random((3, 4, 2, 2))
    found = signal.convolve(images, filters, ([2, 3], [2, 3]), ([1], [0]), mode)
    expected = sum(scipy.signal.convolve2d(images[1, i], filters[i, 2], mode) for i in range(3))
    np.testing.assert_allclose(found[1, 2], expected)
    check_grads(signal.convolve, (0, 1), modes=["rev"], order=1)(a, b, mode=mode)
    check_grads(lambda a: signal.convolve(a, filters[0, 0], mode=mode))(a)


def test_differential_equations() -> None:
    def decay(y: Any, t: Any, rate: Any, other: Any) -> Any:
        return -rate * y * t + other[0]

    t = np.array([0.1, 0.2, 0.4])
    solve = functools.partial(integrate.odeint, rtol=1e-12, atol=1e-12)  # finer than differences
    check_grads(solve, (1, 2, 3), modes=["rev"], order=1)(decay, X, t, (0.7, [0.1]))
