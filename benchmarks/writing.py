"""Programs that write in place, beside the same programs without: the gradient of each."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import arraygrad as ag

from .transforms import Job, Jobs

EXAMPLES = Path(__file__).parents[1] / "examples"


def _gradient(function: Callable[[Any], Any], x: Any) -> Job:
    def job() -> Any:
        leaf = ag.tensor(x, requires_grad=True)
        return ag.grad(function(leaf), leaf)

    return job


def heat_equation() -> Jobs:
    """An explicit solver: 200 steps on 1,000 points."""
    example = runpy.run_path(str(EXAMPLES / "heat_equation.py"))
    start = np.exp(-(np.linspace(-3, 3, 1000) ** 2))
    solve, apart = example["solve"], example["solve_without_writing"]
    return {
        "arraygrad": _gradient(lambda k: (solve(k, start) ** 2).sum(), 0.7),
        "without writing": _gradient(lambda k: (apart(k, start) ** 2).sum(), 0.7),
    }


def kalman_filter() -> Jobs:
    """A filter over 200 times, with its means and covariances in arrays or in lists."""
    move, observations = np.array([[1.0, 1.0], [0.0, 1.0]]), np.sin(np.arange(200.0))
    shape = np.array([[0.25, 0.5], [0.5, 1.0]])

    def step(mean: Any, cov: Any, noise: Any, t: int) -> tuple[Any, Any]:
        mean, cov = move @ mean, move @ cov @ move.T + noise[0] * shape
        gain = cov[:, 0] / (cov[0, 0] + noise[1])
        return mean + gain * (observations[t] - mean[0]), cov - gain[:, None] * cov[0]

    def arrays(noise: Any) -> Any:
        mean, cov = ag.zeros((201, 2)), ag.zeros((201, 2, 2))
        cov[0] = 10 * np.eye(2)
        for t in range(200):
            mean[t + 1], cov[t + 1] = step(mean[t], cov[t], noise, t)
        return (mean[:, 0] ** 2).sum()

    def lists(noise: Any) -> Any:
        means, cov = [ag.zeros(2)], ag.asarray(10 * np.eye(2))
        for t in range(200):
            mean, cov = step(means[-1], cov, noise, t)
            means.append(mean)
        return (ag.stack(means)[:, 0] ** 2).sum()

    noise = np.array([0.1, 1.0])
    return {"arraygrad": _gradient(arrays, noise), "without writing": _gradient(lists, noise)}


def lattice() -> Jobs:
    """The forward algorithm: 200 times, 50 states."""
    rng = np.random.default_rng(0)
    scores, moves = rng.standard_normal((200, 50)), rng.standard_normal((50, 50))

    def arrays(scores: Any) -> Any:
        alpha = ag.zeros(scores.shape)
        alpha[0] = scores[0]
        for t in range(1, 200):
            alpha[t] = scores[t] + ag.special.logsumexp(alpha[t - 1][:, None] + moves, axis=0)
        return ag.special.logsumexp(alpha[-1])

    def lists(scores: Any) -> Any:
        alpha = [scores[0]]
        for t in range(1, 200):
            alpha.append(scores[t] + ag.special.logsumexp(alpha[-1][:, None] + moves, axis=0))
        return ag.special.logsumexp(alpha[-1])

    return {"arraygrad": _gradient(arrays, scores), "without writing": _gradient(lists, scores)}


def back_substitution() -> Jobs:
    """A triangular system with 100 unknowns."""
    upper = np.triu(np.random.default_rng(0).standard_normal((100, 100))) + 20 * np.eye(100)
    solve = runpy.run_path(str(EXAMPLES / "lattice.py"))["back_substitution"]

    def joined(right: Any) -> Any:
        x = right[-1:] / upper[-1, -1]
        for i in range(98, -1, -1):
            x = ag.concat([(right[i : i + 1] - upper[i, i + 1 :] @ x) / upper[i, i], x])
        return x

    right = np.ones(100)
    return {
        "arraygrad": _gradient(lambda b: (solve(upper, b) ** 2).sum(), right),
        "without writing": _gradient(lambda b: (joined(b) ** 2).sum(), right),
    }


WRITING: dict[str, Callable[[], Jobs]] = {
    "in place: heat equation": heat_equation,
    "in place: Kalman filter": kalman_filter,
    "in place: lattice": lattice,
    "in place: back-substitution": back_substitution,
}
