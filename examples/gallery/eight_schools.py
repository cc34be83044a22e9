"""Hamiltonian Monte Carlo: how much a course helps in eight schools.

The log density is written with SciPy's distributions. Compiled, it and its gradient are one native
program.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag
from arraygrad.scipy import stats

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])  # measured in each school
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def log_density(state: Any) -> Any:
    """The density of the mean effect, the logarithm of its spread, and each school's deviation."""
    mean, log_spread, deviations = state[0], state[1], state[2:]
    spread = np.exp(log_spread)
    return (
        stats.norm.logpdf(EFFECTS, mean + spread * deviations, ERRORS).sum()
        + stats.norm.logpdf(deviations).sum()
        + stats.norm.logpdf(mean, 0.0, 5.0)
        + stats.cauchy.logpdf(spread, 0.0, 5.0)
        + log_spread
    )


def samples(count: int, step: float = 0.25, steps: int = 12, seed: int = 0) -> Any:
    """Draw states; each is the end of a short flight along the density."""
    density = ag.compile(ag.func.value_and_grad(log_density))
    rng = np.random.default_rng(seed)
    state, found = np.zeros(10), []
    (height, slope), accepted = density(state), 0
    for _ in range(count):
        speed = rng.standard_normal(10)
        energy = speed @ speed / 2 - height
        new, new_height, new_slope = state, height, slope
        for _ in range(steps):
            speed = speed + step / 2 * new_slope
            new = new + step * speed
            new_height, new_slope = density(new)
            speed = speed + step / 2 * new_slope
        if np.log(rng.uniform()) < energy - (speed @ speed / 2 - new_height):
            state, height, slope = new, new_height, new_slope
            accepted += 1
        found.append(state)
    return np.array(found), accepted / count


def main() -> Any:
    """Draw states, and what they say about each school."""
    states, accepted = samples(2000)
    effects = states[:, :1] + np.exp(states[:, 1:2]) * states[:, 2:]
    fig, ax = plt.subplots(figsize=(5.6, 2.8))
    low, middle, high = np.quantile(effects[200:], [0.1, 0.5, 0.9], axis=0)
    places = np.arange(8)
    ax.errorbar(places - 0.1, EFFECTS, ERRORS, fmt="o", color="#9aa3ad", ms=4, label="measured")
    spread = [middle - low, high - middle]
    ax.errorbar(places + 0.1, middle, spread, fmt="o", color="#2a6fbb", ms=4, label="together")
    ax.set_xticks(places, list("ABCDEFGH"))
    ax.legend(loc="upper right", ncols=2)
    ax.set_title(f"Effects in eight schools; {accepted:.0%} of the flights accepted")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
