"""`torch.distributions` beside PyTorch's: densities, entropies, moments, divergences, samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad.compat.torch as ours

theirs = pytest.importorskip("torch")

# A law, and two values of each of its parameters.
LAWS: dict[str, tuple[Any, Any]] = {
    "Bernoulli": ({"probs": [0.2, 0.7]}, {"logits": [0.3, -1.0]}),
    "Beta": ({"concentration1": [2.0, 0.7], "concentration0": 1.5},) * 1
    + ({"concentration1": [1.0, 3.0], "concentration0": 0.5},),
    "Categorical": ({"probs": [[0.2, 0.3, 0.5]]}, {"logits": [[0.1, 2.0, -1.0]]}),
    "Cauchy": ({"loc": [0.5, 2.0], "scale": 3.0}, {"loc": [1.5, 1.0], "scale": 2.0}),
    "Chi2": ({"df": [1.5, 4.0]}, {"df": [2.0, 3.0]}),
    "Dirichlet": ({"concentration": [0.5, 2.0, 3.0]}, {"concentration": [1.5, 1.0, 4.0]}),
    "Exponential": ({"rate": [0.5, 2.0]}, {"rate": [1.5, 1.0]}),
    "Gamma": (
        {"concentration": [0.5, 2.0], "rate": 3.0},
        {"concentration": [1.5, 1.0], "rate": 2.0},
    ),
    "Gumbel": ({"loc": [0.5, 2.0], "scale": 3.0}, {"loc": [1.5, 1.0], "scale": 2.0}),
    "HalfNormal": ({"scale": [0.5, 2.0]}, {"scale": [1.5, 1.0]}),
    "Laplace": ({"loc": [0.5, 2.0], "scale": 3.0}, {"loc": [1.5, 1.0], "scale": 2.0}),
    "LogNormal": ({"loc": [0.5, 0.2], "scale": 0.3}, {"loc": [0.0, 1.0], "scale": 1.0}),
    "MultivariateNormal": (
        {"loc": [0.5, 2.0], "covariance_matrix": [[2.0, 0.5], [0.5, 1.0]]},
        {"loc": [1.5, 1.0], "scale_tril": [[1.0, 0.0], [0.5, 2.0]]},
    ),
    "Normal": ({"loc": [0.5, 2.0], "scale": 3.0}, {"loc": [1.5, 1.0], "scale": 2.0}),
    "OneHotCategorical": ({"probs": [[0.2, 0.3, 0.5]]}, {"logits": [[0.1, 2.0, -1.0]]}),
    "Poisson": ({"rate": [0.5, 2.0]}, {"rate": [1.5, 1.0]}),
    "StudentT": (
        {"df": [4.0, 2.5], "loc": 0.5, "scale": 2.0},
        {"df": [3.0, 7.0], "loc": [1.5, 1.0], "scale": 1.0},
    ),
    "Uniform": ({"low": [0.5, 2.0], "high": 3.0}, {"low": [0.0, 1.0], "high": 4.0}),
}


def made(m: Any, name: str, parameters: dict[str, Any]) -> tuple[Any, list[Any]]:
    """A law in double precision, and the tensors that it has derivatives with respect to."""
    given = {k: m.tensor(v, dtype=m.float64, requires_grad=True) for k, v in parameters.items()}
    return getattr(m.distributions, name)(**given), list(given.values())


def same(found: Any, expected: Any, leaves: Any, others: Any) -> None:
    np.testing.assert_allclose(found.detach(), expected.detach(), rtol=1e-10, atol=1e-12)
    if not expected.requires_grad:
        return
    mine = ours.autograd.grad(found.sum(), leaves, retain_graph=True, allow_unused=True)
    try:
        wanted = theirs.autograd.grad(expected.sum(), others, retain_graph=True, allow_unused=True)
    except NotImplementedError:  # of gammainc by its parameter
        assert all(np.isfinite(g).all() for g in mine)
        return
    for a, b in zip(mine, wanted, strict=True):
        derivative = np.asarray(0.0 if b is None else b)
        # A derivative that is zero is one rounding of the others: no digit of it must agree.
        largest = max(abs(derivative).max(initial=0.0), float(expected.detach().abs().max()))
        zero = 4 * np.finfo(float).eps * (largest if np.isfinite(largest) else 0.0)
        np.testing.assert_allclose(0.0 if a is None else a, derivative, rtol=1e-8, atol=zero)


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_that_of_pytorch(name: str) -> None:
    for parameters in LAWS[name]:
        law, leaves = made(ours, name, parameters)
        other, others = made(theirs, name, parameters)
        assert (law.batch_shape, law.event_shape) == (other.batch_shape, other.event_shape)
        assert law.has_rsample == other.has_rsample
        value = other.sample((3,))
        same(law.log_prob(ours.tensor(value.numpy())), other.log_prob(value), leaves, others)
        calls: dict[str, Callable[[Any], Any]] = {
            "entropy": lambda d: d.entropy(),
            "mean": lambda d: d.mean,
            "stddev": lambda d: d.stddev,
            "mode": lambda d: d.mode,
        }
        for what, call in calls.items():
            if what not in law._formulas and what != "stddev":
                continue
            same(call(law), call(other), leaves, others)
        if "cdf" in law._formulas:
            same(law.cdf(ours.tensor(value.numpy())), other.cdf(value), leaves, others)
        if "icdf" in law._formulas:
            share = theirs.full(other.batch_shape, 0.3, dtype=theirs.float64)
            same(law.icdf(ours.tensor(share.numpy())), other.icdf(share), leaves, others)
        if name != "MultivariateNormal":
            assert law.expand((4, 2)).batch_shape == (4, 2)


# PyTorch has no divergences of these; of Gumbel and Chi2, it has, and the facade has none.
APART = {"StudentT", "Cauchy", "Gumbel", "Chi2"}


@pytest.mark.parametrize("name", [n for n in LAWS if n not in APART])
def test_divergences_are_those_of_pytorch(name: str) -> None:
    first, second = LAWS[name]
    (p, a), (q, b) = made(ours, name, first), made(ours, name, second)
    (r, c), (s, d) = made(theirs, name, first), made(theirs, name, second)
    mine, wanted = ours.distributions.kl_divergence(p, q), theirs.distributions.kl_divergence(r, s)
    same(mine, wanted, a + b, c + d)


@pytest.mark.parametrize("name", [n for n in LAWS if n != "Cauchy"])  # which has no mean
def test_samples_have_the_mean_of_their_law(name: str) -> None:
    ours.manual_seed(0)
    law, leaves = made(ours, name, LAWS[name][0])
    drawn = law.sample((4000,)).double()
    assert tuple(drawn.shape) == (4000, *law.batch_shape, *law.event_shape)
    assert not drawn.requires_grad
    if name == "Categorical":
        share = np.bincount(drawn.numpy().ravel().astype(int), minlength=3) / 4000
        np.testing.assert_allclose(share, law.probs.detach()[0], atol=0.05)
        return
    error = 5 * law.stddev.detach().numpy() / np.sqrt(4000)
    assert (np.abs(drawn.mean(0).numpy() - law.mean.detach().numpy()) < error).all()
    if not law.has_rsample:
        with pytest.raises(NotImplementedError, match="rsample"):
            law.rsample()
        return
    # The mean of samples changes with the parameters as the mean of the law does.
    found = ours.autograd.grad(law.rsample((4000,)).mean(0).sum(), leaves, allow_unused=True)
    wanted = ours.autograd.grad(law.mean.sum(), leaves, allow_unused=True)
    for a, b in zip(found, wanted, strict=True):
        if b is not None:
            np.testing.assert_allclose(a, b, atol=0.2)


@pytest.mark.parametrize("chain", ["tanh", "sigmoid", "affine exp", "affine tanh"])
def test_laws_of_functions_are_those_of_pytorch(chain: str) -> None:
    drawn = np.array([[0.3, 0.6], [0.1, 0.9]])
    found = []
    for m in (ours, theirs):
        d = m.distributions
        steps = {
            "affine": d.AffineTransform(0.05, 0.3),
            "exp": d.transforms.ExpTransform() if m is theirs else d.ExpTransform(),
            "sigmoid": d.SigmoidTransform(),
            "tanh": d.TanhTransform(cache_size=1),
        }
        loc = m.tensor([0.5, -0.2], dtype=m.float64, requires_grad=True)
        base = d.Independent(d.Normal(loc, m.tensor([1.0, 2.0], dtype=m.float64)), 1)
        law = d.TransformedDistribution(base, [steps[name] for name in chain.split()])
        density = law.log_prob(m.tensor(drawn))
        density.sum().backward()
        found.append((density.detach().numpy(), loc.grad.numpy()))
        sample = law.rsample((3,))
        assert sample.requires_grad
        assert m.isfinite(law.log_prob(sample)).all()
        assert tuple(law.sample((3,)).shape) == (3, 2)
    for mine, wanted in zip(*found, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-10)


def test_independent_laws_and_bad_parameters() -> None:
    for m in (ours, theirs):
        base = m.distributions.Normal(m.zeros(3, 2), m.ones(3, 2))
        law = m.distributions.Independent(base, 1)
        assert (law.batch_shape, law.event_shape) == ((3,), (2,))
        assert tuple(law.log_prob(m.zeros(3, 2)).shape) == (3,)
        assert tuple(m.distributions.kl_divergence(law, law).shape) == (3,)
        assert tuple(law.rsample((5,)).shape) == (5, 3, 2)
        with pytest.raises(ValueError, match="Expected parameter scale"):
            m.distributions.Normal(0.0, -1.0)
        with pytest.raises(ValueError, match="Either `probs` or `logits`"):
            m.distributions.Bernoulli()
        with pytest.raises(NotImplementedError):
            m.distributions.kl_divergence(base, m.distributions.Bernoulli(0.5))


def test_policy_gradients() -> None:
    """The classic use: a step towards the actions that are rewarded."""
    ours.manual_seed(0)
    logits = ours.zeros(3, requires_grad=True)
    optimizer = ours.optim.Adam([logits], lr=0.1)
    for _ in range(60):
        law = ours.distributions.Categorical(logits=logits)
        action = law.sample((32,))
        reward = (action == 2).float()
        loss = -(law.log_prob(action) * (reward - reward.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert law.probs[2].item() > 0.9


def test_divergence_of_classes_without_probability() -> None:
    found = []
    for m in (ours, theirs):
        p = m.tensor([[0.0, 1.0, -math.inf], [0.0, -math.inf, 1.0], [1.0, 2.0, 3.0]])
        q = m.tensor([[0.0, 1.0, 2.0], [0.0, -math.inf, 2.0], [0.0, -math.inf, 2.0]])
        laws = m.distributions.Categorical(logits=p), m.distributions.Categorical(logits=q)
        found.append(m.distributions.kl_divergence(*laws).tolist())
    assert found[0] == pytest.approx(found[1])
    assert found[0][2] == math.inf


def test_a_mixture_is_that_of_pytorch() -> None:
    def run(m: Any) -> list[Any]:
        d, weights = m.distributions, m.tensor([[0.2, 0.8], [0.5, 0.5]], dtype=m.float64)
        means = m.tensor([[[0.0, 1.0], [2.0, 3.0]]] * 2, dtype=m.float64, requires_grad=True)
        each = d.Independent(d.Normal(means, m.ones_like(means)), 1)
        law = d.MixtureSameFamily(d.Categorical(weights), each)
        density = law.log_prob(m.tensor([[0.3, 0.4], [1.0, 2.0]], dtype=m.float64))
        (gradient,) = m.autograd.grad(density.sum(), [means])
        assert law.sample((3,)).shape == (3, 2, 2)
        assert (law.batch_shape, law.event_shape) == ((2,), (2,))
        return [t.detach().numpy() for t in (density, gradient, law.mean, law.variance)]

    for found, expected in zip(run(ours), run(theirs), strict=True):
        np.testing.assert_allclose(found, expected)
    law = ours.distributions.MixtureSameFamily(
        ours.distributions.Categorical(ours.tensor([0.25, 0.75])),
        ours.distributions.Normal(ours.tensor([-10.0, 10.0]), ours.tensor([1.0, 1.0])),
    )
    ours.manual_seed(0)
    drawn = law.sample((2000,))
    assert abs((drawn > 0).float().mean().item() - 0.75) < 0.05
