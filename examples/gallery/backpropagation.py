"""A lesson: backpropagation in a small network, by hand and by `grad`.

The network tells two spirals apart. For its last matrix, the chain rule is written out beside it.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag

RNG = np.random.default_rng(0)
TURN = np.sqrt(RNG.uniform(0.05, 1.0, 200)) * 3 * np.pi
ARM = np.repeat([0.0, 1.0], 100)
POINTS = TURN[:, None] / 9 * np.cos(TURN[:, None] + np.pi * ARM[:, None] - [0, np.pi / 2])
SHAPES = ((2, 48), (48, 48), (48, 1))


def network(weights: Any, points: Any) -> tuple[Any, Any]:
    """What the last layer sees, and its score, which is positive for the second arm."""
    for matrix, offset in weights[:-1]:
        points = np.tanh(points @ matrix + offset)
    return points, (points @ weights[-1][0] + weights[-1][1])[:, 0]


def loss(weights: Any) -> Any:
    """The cross entropy."""
    _, score = network(weights, POINTS)
    return (ag.special.softplus(score) - ARM * score).mean()


def by_hand(weights: Any) -> Any:
    """The gradient by the last matrix: the chain rule, written out."""
    hidden, score = network(weights, POINTS)
    return hidden.T @ (1 / (1 + np.exp(-score)) - ARM)[:, None] / len(ARM)


def main() -> Any:
    """Compare the two gradients, train, and draw what the network says."""
    weights = [(2.0 * RNG.standard_normal(s) / np.sqrt(s[0]), np.zeros(s[1])) for s in SHAPES]
    np.testing.assert_allclose(by_hand(weights), ag.func.grad(loss)(weights)[-1][0], rtol=1e-10)
    adam, step = ag.optim.adam(0.01), ag.compile(ag.func.value_and_grad(loss))
    state = adam.init(weights)
    for _ in range(600):
        value, slope = step(weights)
        change, state = adam.update(slope, state, weights)
        weights = ag.optim.apply(weights, change)
    x, y = np.mgrid[-1.15:1.15:100j, -1.15:1.15:100j]
    fig, ax = plt.subplots(figsize=(3.6, 3.4))
    _, side = network(weights, np.column_stack([x.ravel(), y.ravel()]))
    ax.pcolormesh(x, y, side.reshape(x.shape) > 0, cmap="coolwarm", alpha=0.2, rasterized=True)
    ax.scatter(*POINTS.T, c=ARM, s=8, cmap="coolwarm")
    ax.set_title(f"Two spirals; loss {float(value):.4f}")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
