"""A lesson: backpropagation in a small network, by hand and by `grad`.

The network has two hidden layers and tells two spirals apart. For the last matrix, the chain rule
is written out; its numbers are those of `grad`. Then `grad` trains the network.
"""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag

RNG = np.random.default_rng(0)
TURN = np.sqrt(RNG.uniform(0.05, 1.0, 200)) * 3 * np.pi
ARM = np.repeat([0.0, 1.0], 100)
POINTS = np.stack([TURN * np.cos(TURN + np.pi * ARM), TURN * np.sin(TURN + np.pi * ARM)], axis=1)
POINTS = POINTS / 9 + 0.01 * RNG.standard_normal(POINTS.shape)
SIZES = (2, 48, 48, 1)


def score(weights: Any, points: Any) -> Any:
    """Positive for the second arm."""
    for matrix, offset in weights[:-1]:
        points = np.tanh(points @ matrix + offset)
    matrix, offset = weights[-1]
    return (points @ matrix + offset)[:, 0]


def loss(weights: Any) -> Any:
    """The cross entropy."""
    s = score(weights, POINTS)
    return (ag.special.softplus(s) - ARM * s).mean()


def by_hand(weights: Any) -> Any:
    """The gradient by the last matrix: the chain rule, written out."""
    hidden = POINTS
    for matrix, offset in weights[:-1]:
        hidden = np.tanh(hidden @ matrix + offset)
    by_score = (1 / (1 + np.exp(-score(weights, POINTS))) - ARM) / len(ARM)
    return hidden.T @ by_score[:, None]


def main() -> Any:
    """Compare the two gradients, train, and draw what the network says."""
    pairs = itertools.pairwise(SIZES)
    weights = [(2.0 * RNG.standard_normal(p) / np.sqrt(p[0]), np.zeros(p[1])) for p in pairs]
    np.testing.assert_allclose(by_hand(weights), ag.func.grad(loss)(weights)[-1][0], rtol=1e-10)
    adam = ag.optim.adam(0.01)
    state, step = adam.init(weights), ag.compile(ag.func.value_and_grad(loss))
    for _ in range(600):
        value, slope = step(weights)
        change, state = adam.update(slope, state, weights)
        weights = ag.optim.apply(weights, change)
    line = np.linspace(-1.15, 1.15, 100)
    grid = np.stack(np.meshgrid(line, line), axis=-1)
    fig, ax = plt.subplots(figsize=(3.6, 3.4))
    side = score(weights, grid.reshape(-1, 2)).reshape(100, 100) > 0
    ax.imshow(side, extent=(-1.15, 1.15, -1.15, 1.15), origin="lower", cmap="coolwarm", alpha=0.2)
    ax.scatter(*POINTS.T, c=ARM, s=8, cmap="coolwarm")
    ax.set_title(f"Two spirals; loss {float(value):.4f}")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
