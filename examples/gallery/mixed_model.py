"""A mixed model: counts in 30 groups, and how much groups differ, by Laplace's approximation.

Each group has an effect of its own, which must be integrated out. The integral is approximated
around the most likely effects. These come from an inner `root`, and the outer optimiser gets exact
gradients through it.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag
from arraygrad.scipy import stats
from arraygrad.scipy.optimize import root

GROUPS, EACH = 30, 8
TRUTH = np.array([0.5, 0.8, np.log(0.6)])  # offset, slope, logarithm of the spread
RNG = np.random.default_rng(3)
X = RNG.standard_normal((GROUPS, EACH))
EFFECTS = np.exp(TRUTH[2]) * RNG.standard_normal(GROUPS)
COUNTS = RNG.poisson(np.exp(TRUTH[0] + TRUTH[1] * X + EFFECTS[:, None]))


def rates(effects: Any, p: Any) -> Any:
    """The mean count of each observation."""
    return np.exp(p[0] + p[1] * X + effects[:, None])


def slope(effects: Any, p: Any) -> Any:
    """The derivative of the log density by each effect: zero at the most likely ones."""
    return (COUNTS - rates(effects, p)).sum(axis=1) - effects * np.exp(-2 * p[2])


def likely(p: Any) -> Any:
    """The most likely effects, for given parameters."""
    return root(lambda effects: slope(effects, p), np.zeros(GROUPS), tol=1e-10).x


def surprise(p: Any) -> Any:
    """Minus the logarithm of the likelihood, with the effects integrated out."""
    effects = likely(p)
    at_best = stats.poisson.logpmf(COUNTS, rates(effects, p)).sum()
    at_best = at_best + stats.norm.logpdf(effects, 0.0, np.exp(p[2])).sum()
    curvature = rates(effects, p).sum(axis=1) + np.exp(-2 * p[2])
    return -(at_best + 0.5 * (np.log(2 * np.pi) - np.log(curvature)).sum())


def main() -> Any:
    """Fit the parameters with their errors, and draw the effects of the groups."""
    found = ag.optimize.minimize(surprise, np.zeros(3), method="BFGS")
    errors = np.sqrt(np.diag(np.linalg.inv(ag.func.hessian(surprise)(found.x))))
    fig, ax = plt.subplots(figsize=(4.6, 3.4))
    ax.plot(EFFECTS, likely(found.x), "o", ms=4, color="#2a6fbb")
    ends = np.array([-1.5, 1.5])
    ax.plot(ends, ends, color="#9aa3ad", lw=0.8)
    ax.set(xlabel="true effect of a group", ylabel="found")
    found.x[2], errors[2] = np.exp(found.x[2]), np.exp(found.x[2]) * errors[2]
    text = zip(("offset", "slope", "spread"), found.x, errors, strict=True)
    ax.set_title(", ".join(f"{name} {x:.2f} ± {e:.2f}" for name, x, e in text))
    return fig


if __name__ == "__main__":
    main()
    plt.show()
