"""The Greeks of an Asian option, by Monte Carlo: 20,000 paths, two orders, at 40 prices.

The price is a mean over random paths. `vmap` over the first derivatives and over the second ones
gives the curves. The payoff has a kink; it is rounded off over one unit of money, so that there is
a second derivative.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag

PATHS, DAYS, STRIKE, RATE, YEARS = 20_000, 12, 100.0, 0.02, 1.0
NOISE = np.random.default_rng(7).standard_normal((DAYS, PATHS // 2))
NOISE = np.concatenate([NOISE, -NOISE], axis=1)  # each path and its mirror image


def price(start: Any, volatility: Any) -> Any:
    """What the option costs: the mean of what it pays, today."""
    day = YEARS / DAYS
    steps = (RATE - volatility**2 / 2) * day + volatility * np.sqrt(day) * NOISE
    mean = start * np.exp(np.cumsum(steps, axis=0)).mean(axis=0)
    payoff = ag.special.softplus(mean - STRIKE)
    return np.exp(-RATE * YEARS) * payoff.mean()


def main() -> Any:
    """Draw the price, its first derivatives and a second one, over the price of the share."""
    shares = np.linspace(70.0, 130.0, 40)
    along = {"in_axes": (0, None)}
    delta = ag.func.grad(price, argnums=0)
    curves = {
        "price": ag.func.vmap(price, **along),
        "delta: by the share": ag.func.vmap(delta, **along),
        "gamma: twice by the share": ag.func.vmap(ag.func.grad(delta), **along),
        "vega: by the volatility": ag.func.vmap(ag.func.grad(price, argnums=1), **along),
    }
    fig, axes = plt.subplots(2, 2, figsize=(6.4, 3.6), sharex=True)
    for ax, (name, curve) in zip(axes.flat, curves.items(), strict=True):
        values = np.concatenate([curve(part, 0.25) for part in np.split(shares, 10)])
        ax.plot(shares, values, color="#2a6fbb")
        ax.axvline(STRIKE, color="#9aa3ad", lw=0.8, ls=":")
        ax.set_title(name)
    return fig


if __name__ == "__main__":
    main()
    plt.show()
