"""A mixed model: counts in 30 groups, and how much groups differ, by Laplace's approximation.

The effect of each group is integrated out, around the most likely one. These come from an inner
`root`, and the outer optimiser gets exact gradients through it.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag
from arraygrad.scipy import stats
from arraygrad.scipy.optimize import root

RNG = np.random.default_rng(3)
X = RNG.standard_normal((30, 8))
EFFECTS = 0.6 * RNG.standard_normal(30)
COUNTS = RNG.poisson(np.exp(0.5 + 0.8 * X + EFFECTS[:, None]))


def rates(effects: Any, p: Any) -> Any:
    """The mean count of each observation, by offset, slope and the logarithm of the spread."""
    return np.exp(p[0] + p[1] * X + effects[:, None])


def likely(p: Any) -> Any:
    """The most likely effects, for given parameters: where the log density has no slope."""

    def slope(effects: Any) -> Any:
        return (COUNTS - rates(effects, p)).sum(axis=1) - effects * np.exp(-2 * p[2])

    return root(slope, np.zeros(30), tol=1e-10).x


def surprise(p: Any) -> Any:
    """Minus the logarithm of the likelihood, with the effects integrated out."""
    effects = likely(p)
    curvature = rates(effects, p).sum(axis=1) + np.exp(-2 * p[2])
    height = stats.norm.logpdf(effects, 0.0, np.exp(p[2])) - np.log(curvature / (2 * np.pi)) / 2
    return -stats.poisson.logpmf(COUNTS, rates(effects, p)).sum() - height.sum()


def main() -> Any:
    """Fit the parameters with their errors, and draw the effects of the groups."""
    found = ag.optimize.minimize(surprise, np.zeros(3), method="BFGS")
    errors = np.sqrt(np.diag(np.linalg.inv(ag.func.hessian(surprise)(found.x))))
    fig, ax = plt.subplots(figsize=(5.0, 3.4))
    ax.plot(EFFECTS, likely(found.x), "o", ms=4, color="#2a6fbb")
    ax.plot([-1.5, 1.5], [-1.5, 1.5], color="#9aa3ad", lw=0.8)
    ax.set(xlabel="true effect of a group", ylabel="found")
    found.x[2], errors[2] = np.exp(found.x[2]), np.exp(found.x[2]) * errors[2]
    text = zip(("offset", "slope", "spread"), found.x, errors, strict=True)
    ax.set_title(", ".join(f"{name} {x:.2f} ± {e:.2f}" for name, x, e in text))
    return fig


if __name__ == "__main__":
    main()
    plt.show()
