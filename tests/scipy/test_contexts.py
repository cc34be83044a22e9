"""Twins inside `compile`, and inside batches of batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.errors import DataDependentError
from arraygrad.scipy import integrate, interpolate, ndimage, signal, stats

_rng = np.random.default_rng(2)
_signal = _rng.normal(size=9)
_COMPILED: dict[str, Any] = {
    "norm": lambda p: stats.norm.logpdf(_signal, p[0], p[1]),
    "gamma": lambda p: stats.gamma.cdf(p * 2, p + 0.5),
    "beta quantile": lambda p: stats.beta.ppf(p / 2, 1.5, 2.5),
    "truncnorm": lambda p: stats.truncnorm.logsf(p, -p - 1, p + 1),
    "binom": lambda p: stats.binom.logpmf([0, 1, 2], 4, p / 2),
    "normal vector": lambda p: stats.multivariate_normal.logpdf(_signal[:3], p, np.eye(3)),
    "dirichlet": lambda p: stats.dirichlet.logpdf(p / p.sum(), p),
    "filter with states": lambda p: signal.lfilter(p, [1.0, 0.3], _signal, zi=p[:2])[0],
    "filter": lambda p: signal.filtfilt(p, [1.0, 0.3], _signal, padlen=3),
    "spline": lambda p: interpolate.CubicSpline(np.arange(4.0), ag.concat((p, p[:1])))(p * 3),
    "trapezoids": lambda p: integrate.trapezoid(p * p, x=ag.cumulative_sum(p)),
    "parabolas": lambda p: integrate.simpson(p * p, x=ag.cumulative_sum(p)),
    "running parabolas": lambda p: integrate.cumulative_simpson(p * p, dx=p[0], initial=p[1]),
    "romberg": lambda p: integrate.romb(p * p, dx=p[0]),
    "nodes": lambda p: integrate.fixed_quad(lambda x, k: p[0] * x**k, 0.0, p[1], (p[2],), 4)[0],
    "image": lambda p: ndimage.gaussian_filter1d(_signal, p[0], radius=3),
}


@pytest.mark.parametrize("name", _COMPILED)
def test_compiled(name: str) -> None:
    """Values of parameters are not known while a function is compiled: no check asks for them."""
    function, p = _COMPILED[name], np.array([0.6, 0.8, 0.7])

    def total(p: Any) -> Any:
        out = function(p)
        return ag.sum(out * np.cos(np.arange(out.size)).reshape(out.shape))

    expected = ag.func.grad(total)(p)
    np.testing.assert_allclose(ag.func.grad(ag.compile(total))(p), expected, rtol=1e-9)
    np.testing.assert_allclose(ag.compile(ag.func.grad(total))(p), expected, rtol=1e-9)
    other = p + 0.05
    np.testing.assert_allclose(ag.compile(total)(other), total(other), rtol=1e-12)


def test_compiled_distributions_check_their_parameters() -> None:
    density = ag.compile(lambda x, scale: stats.norm.pdf(x, 0.0, scale))
    density(np.array([0.5]), np.array([1.0]))
    assert np.isnan(density(np.array([0.5]), np.array([-1.0]))).all()
    quantile = ag.compile(stats.expon.ppf)
    assert np.isnan(quantile(np.array([0.2, 1.2]))).tolist() == [False, True]


def test_what_needs_values_is_refused() -> None:
    """Whether nodes rise, and the length of weights."""
    for call in (
        lambda p: interpolate.CubicSpline(p, np.ones(3))(0.5),
        lambda p: ndimage.gaussian_filter1d(_signal, p[0]),
    ):
        with pytest.raises(DataDependentError):
            ag.compile(call)(np.array([0.6, 0.7, 0.8]))


def test_nodes_of_batches_of_batches() -> None:
    x, y = np.arange(5.0) + _rng.uniform(0, 0.1, (2, 3, 5)), _rng.normal(size=(2, 3, 5))

    def curve(x: Any, y: Any) -> Any:
        return interpolate.make_interp_spline(x, y, k=2)(1.7)

    found = ag.func.vmap(ag.func.vmap(curve))(x, y)
    expected = [[curve(x[i, j], y[i, j]) for j in range(3)] for i in range(2)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_members_that_take_different_numbers_of_steps() -> None:
    def end(rate: Any) -> Any:
        return integrate.solve_ivp(lambda t, y: -rate * y, (0.0, 3.0), [1.0]).y[:, -1]

    for function in (end, ag.func.jacobian(end)):
        with pytest.raises(ValueError, match=r"members of the batch .* t_eval"):
            ag.func.vmap(function)(np.array([0.1, 30.0]))
