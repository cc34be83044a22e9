"""Hamiltonian Monte Carlo: how much a course helps in eight schools.

The log density is written with SciPy's distributions, and compiled with its gradient.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag
from arraygrad.scipy import stats

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])  # measured in each school
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def log_density(state: Any) -> Any:
    """The density of the mean effect, the logarithm of its spread, and each school's deviation."""
    mean, spread, deviations = state[0], np.exp(state[1]), state[2:]
    seen = stats.norm.logpdf(EFFECTS, mean + spread * deviations, ERRORS).sum()
    before = stats.norm.logpdf(deviations).sum() + stats.norm.logpdf(mean, 0.0, 5.0)
    return seen + before + stats.cauchy.logpdf(spread, 0.0, 5.0) + state[1]


def samples(count: int, step: float = 0.25, steps: int = 12) -> Any:
    """Draw states; each is the end of a short flight along the density."""
    density, rng = ag.compile(ag.func.value_and_grad(log_density)), np.random.default_rng(0)
    found = [(np.zeros(10), *density(np.zeros(10)))]
    for _ in range(count):
        (state, height, slope), speed = found[-1], rng.standard_normal(10)
        energy = speed @ speed / 2 - height
        for _ in range(steps):
            speed = speed + step / 2 * slope
            state = state + step * speed
            height, slope = density(state)
            speed = speed + step / 2 * slope
        is_accepted = np.log(rng.uniform()) < energy - (speed @ speed / 2 - height)
        found.append((state, height, slope) if is_accepted else found[-1])
    return np.array([state for state, *_ in found])


def main() -> Any:
    """Draw states, and what they say about each school."""
    states = samples(2000)
    effects = (states[:, :1] + np.exp(states[:, 1:2]) * states[:, 2:])[200:]
    low, middle, high = np.quantile(effects, [0.1, 0.5, 0.9], axis=0)
    fig, ax = plt.subplots(figsize=(5.6, 2.8))
    at, spread = np.arange(8), [middle - low, high - middle]
    ax.errorbar(at - 0.1, EFFECTS, ERRORS, fmt="o", color="#9aa3ad", ms=4, label="measured")
    ax.errorbar(at + 0.1, middle, spread, fmt="o", color="#2a6fbb", ms=4, label="together")
    ax.set_xticks(at, list("ABCDEFGH"))
    ax.legend(loc="upper right", ncols=2)
    ax.set_title(f"Effects in eight schools; accepted: {np.mean(np.diff(states[:, 0]) != 0):.0%}")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
