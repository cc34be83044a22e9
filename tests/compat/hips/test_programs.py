"""Programs as HIPS autograd's users write them: their gradients against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

import arraygrad.compat.hips.numpy as np
from arraygrad.compat.hips import grad, hessian, value_and_grad
from arraygrad.compat.hips.misc import flatten
from arraygrad.compat.hips.misc.optimizers import adam
from arraygrad.compat.hips.test_util import check_grads

pytest.importorskip("scipy")

from scipy.optimize import minimize

from arraygrad.compat.hips.scipy.signal import convolve
from arraygrad.compat.hips.scipy.special import logsumexp
from arraygrad.compat.hips.scipy.stats import multivariate_normal, norm, t

RNG = onp.random.default_rng(0)


def hidden_markov_model(logits: Any) -> Any:
    """The likelihood of a string of letters, by the forward algorithm."""
    start, move, emit = (x - logsumexp(x, axis=-1, keepdims=True) for x in logits)
    alpha = start + emit[:, 1]
    for letter in (0, 2, 1, 1, 0):
        alpha = logsumexp(alpha[:, None] + move, axis=0) + emit[:, letter]
    return logsumexp(alpha)


def gaussian_process(parameters: Any) -> Any:
    """The marginal likelihood of points, with a mean, two scales and a noise."""
    mean, scale, noise, length = parameters
    x, y = np.linspace(-1.0, 1.0, 6), onp.sin(onp.arange(6.0))
    differences = (x[:, None] - x[None, :]) / np.exp(length)
    kernel = np.exp(scale - differences**2 / 2) + np.exp(noise) * np.eye(6)
    return multivariate_normal.logpdf(y, mean * np.ones(6), kernel)


def mixture_of_gaussians(parameters: Any) -> Any:
    """The likelihood of points, with logits, means and factors of covariances."""
    logits, means, roots = parameters
    points = onp.sin(onp.arange(10.0)).reshape(5, 2)
    parts = [
        logit + multivariate_normal.logpdf(points, mean, np.dot(root, root.T))
        for logit, mean, root in zip(logits - logsumexp(logits), means, roots)  # noqa: B905
    ]
    return np.sum(logsumexp(np.vstack(parts), axis=0))


def variational_bound(parameters: Any) -> Any:
    """The bound of evidence, from normal samples."""
    mean, log_scale = parameters[:2], parameters[2:]
    samples = onp.sin(onp.arange(8.0)).reshape(4, 2) * np.exp(log_scale) + mean
    funnel = norm.logpdf(samples[:, 0], 0.0, np.exp(samples[:, 1]))
    density = funnel + norm.logpdf(samples[:, 1], 0.0, 1.35)
    return 0.5 * 2 * (1.0 + np.log(2 * np.pi)) + np.sum(log_scale) + np.mean(density)


def fluid(velocity: Any) -> Any:
    """Smoke that is carried by a flow without sources, some steps on a periodic grid."""
    vx, vy = velocity.reshape((2, 5, 5))
    pressure = np.zeros((5, 5))
    for _ in range(4):
        divergence = np.roll(vx, -1, 1) - np.roll(vx, 1, 1) + np.roll(vy, -1, 0) - np.roll(vy, 1, 0)
        around = sum(np.roll(pressure, shift, axis) for shift in (-1, 1) for axis in (0, 1))
        pressure = (divergence + around) / 4
    vx = vx - (np.roll(pressure, -1, 1) - np.roll(pressure, 1, 1)) / 2
    smoke = np.outer(np.arange(5.0), np.ones(5))
    for _ in range(2):
        smoke = np.clip(smoke + vx * (np.roll(smoke, 1, 0) - smoke), 0, 4)
    return np.mean(smoke**2)


def convolutional_network(weights: Any) -> Any:
    """Filters, the largest of each pair, a layer, and the likelihood of classes."""
    filters, layer = weights
    images = onp.cos(onp.arange(2 * 25.0)).reshape(2, 1, 5, 5)
    seen = convolve(images, filters, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")
    pooled = np.max(np.reshape(seen, (2, 2, 2, 2, 4)), axis=3)
    logits = np.dot(np.tanh(np.reshape(pooled, (2, 16))), layer)
    return np.sum((logits - logsumexp(logits, axis=1, keepdims=True)) * np.eye(2))


def independent_components(parameters: Any) -> Any:
    """Mixed signals with heavy tails and normal noise."""
    mixing, log_noise = parameters
    data = onp.sin(onp.arange(6.0)).reshape(3, 2)
    cov = np.dot(mixing, mixing.T) + np.exp(log_noise) * np.eye(2)
    tails = t.logpdf(np.linalg.solve(mixing, data.T), 4.0)
    return np.sum(multivariate_normal.logpdf(data, np.zeros(2), cov)) + np.sum(tails)


def _normal(*shape: int) -> Any:
    return RNG.standard_normal(shape)


PROGRAMS = {
    hidden_markov_model: (_normal(3), _normal(3, 3), _normal(3, 3)),
    gaussian_process: 0.3 * _normal(4),
    mixture_of_gaussians: (_normal(2), _normal(2, 2), _normal(2, 2, 2) + 2 * onp.eye(2)),
    variational_bound: _normal(4),
    fluid: 0.1 * _normal(50),
    convolutional_network: [_normal(1, 2, 2, 2), _normal(16, 2)],
    independent_components: [_normal(2, 2), -1.0],
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(program: Any) -> None:
    check_grads(program, modes=["rev", "fwd"], order=1)(PROGRAMS[program])
    flat, unflatten = flatten(PROGRAMS[program])
    found = hessian(lambda x: program(unflatten(x)))(flat)
    gradient, step = grad(lambda x: program(unflatten(x))), onp.cos(onp.arange(flat.size))
    numeric = (gradient(flat + 1e-5 * step) - gradient(flat - 1e-5 * step)) / 2e-5
    onp.testing.assert_allclose(found @ step, numeric, rtol=1e-4, atol=1e-6)


def test_minima() -> None:
    def rosenbrock(x: Any) -> Any:
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

    found = minimize(value_and_grad(rosenbrock), onp.zeros(2), jac=True, method="CG")
    onp.testing.assert_allclose(found.x, [1.0, 1.0], rtol=1e-4)

    def distance(x: Any, step: int) -> Any:
        return np.sum((x["a"] - 3.0) ** 2) + np.sum((x["b"][0] + 1.0) ** 2)

    start = {"a": onp.zeros(2), "b": [onp.zeros(1)]}
    found = adam(grad(distance), start, num_iters=300, step_size=0.1)
    onp.testing.assert_allclose(found["a"], [3.0, 3.0], rtol=1e-3)
    onp.testing.assert_allclose(found["b"][0], [-1.0], rtol=1e-3)
