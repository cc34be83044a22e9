"""Distributions, beyond the table: random numbers, ends of supports, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import arraygrad as ag
from arraygrad.scipy import stats


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("gamma", (2.5,)), ("beta", (0.8, 2.0)), ("t", (3.5,)), ("truncnorm", (-0.5, 1.5))],
)
def test_random_numbers_move_like_quantiles(name: str, shapes: tuple[float, ...]) -> None:
    tensors = [ag.tensor(s, requires_grad=True) for s in shapes]
    drawn = getattr(stats, name).rvs(*tensors, size=5, random_state=1)
    original = getattr(scipy.stats, name)
    expected = original.rvs(*shapes, size=5, random_state=1)
    np.testing.assert_allclose(drawn.detach(), expected, rtol=1e-14)
    q = original.cdf(expected, *shapes)
    for i, gradient in enumerate(ag.grad(drawn.sum(), tensors)):
        step = np.eye(len(shapes))[i] * 1e-5
        above, below = (original.ppf(q, *(shapes + s)) for s in (step, -step))
        assert gradient.item() == pytest.approx(((above - below) / 2e-5).sum(), rel=1e-5)


def test_random_normal_vectors() -> None:
    root = ag.tensor([[1.0, 0.3], [0.0, 0.8]], requires_grad=True)
    mean = ag.tensor([1.0, -1.0], requires_grad=True)
    drawn = stats.multivariate_normal.rvs(mean, root @ root.T, size=3, random_state=2)
    values = root.detach().numpy()
    expected = scipy.stats.multivariate_normal.rvs(
        [1.0, -1.0], values @ values.T, size=3, random_state=2
    )
    np.testing.assert_allclose(drawn.detach(), expected, rtol=1e-12)
    by_mean, by_root = ag.grad(drawn.sum(), [mean, root])
    assert by_mean.tolist() == [3.0, 3.0]
    assert np.abs(by_root.numpy()).max() > 0


def test_outside_of_the_support() -> None:
    x = ag.tensor([-1.0, 0.5, np.nan], requires_grad=True)
    density = stats.gamma.pdf(x, 2.0)
    np.testing.assert_array_equal(density.detach(), scipy.stats.gamma.pdf(x.detach(), 2.0))
    assert stats.gamma.cdf(x, 2.0)[0].item() == 0.0
    gradient = ag.grad(density[:2].sum(), x)
    assert gradient[0].item() == 0.0
    assert np.isfinite(gradient[1].item())


def test_parameters_that_are_not_valid_give_nan() -> None:
    a = ag.tensor([-1.0, 2.0], requires_grad=True)
    assert np.isnan(stats.gamma.logpdf(1.0, a).detach().numpy()).tolist() == [True, False]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: stats.norm.fit(x), "norm.fit has no derivative by the data"),
        (lambda x: stats.gamma.logpdf(x), "missing the parameters a"),
        (lambda x: stats.norm.pdf(x, shape=1.0), "unexpected parameter 'shape'"),
        (lambda x: stats.f.entropy(x, 3.0), "f has no derivative of this moment"),
        (lambda x: ag.grad(stats.vonmises.cdf(0.3, x[0]), x), "respect to kappa"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises((TypeError, NotImplementedError), match=message):
        call(x)
