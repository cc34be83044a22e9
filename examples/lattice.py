"""The forward-backward algorithm on a lattice, and back-substitution, as loops that fill arrays.

The gradient of the logarithm of the total probability with respect to the scores is what the
backward pass computes by hand: the probability of each state at each time. That makes a good test.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import arraygrad as ag


def forward(scores: Any, moves: Any) -> Any:
    """For each time and state, the log-weight of all ways there. Both arguments are logarithms."""
    times, states = scores.shape
    alpha = ag.zeros((times, states))
    alpha[0] = scores[0]
    for t in range(1, times):
        for s in range(states):
            alpha[t, s] = scores[t, s] + ag.special.logsumexp(alpha[t - 1] + moves[:, s])
    return alpha


def backward(scores: Any, moves: Any) -> Any:
    """For each time and state, the log-weight of all ways on from there."""
    times, states = scores.shape
    beta = ag.zeros((times, states))
    for t in range(times - 2, -1, -1):
        for s in range(states):
            beta[t, s] = ag.special.logsumexp(moves[s] + scores[t + 1] + beta[t + 1])
    return beta


def total(scores: Any, moves: Any) -> Any:
    """The log-weight of all ways through the lattice."""
    return ag.special.logsumexp(forward(scores, moves)[-1])


def back_substitution(upper: Any, right: Any) -> Any:
    """Solve a triangular system, last unknown first, each written where it belongs."""
    x = ag.zeros(right.shape)
    for i in range(right.shape[0] - 1, -1, -1):
        x[i] = (right[i] - upper[i, i + 1 :] @ x[i + 1 :]) / upper[i, i]
    return x


def main() -> float:
    """Compare the gradient with the backward pass; returns the largest difference."""
    rng = np.random.default_rng(0)
    scores, moves = rng.standard_normal((12, 4)), rng.standard_normal((4, 4))
    by_hand = forward(scores, moves) + backward(scores, moves) - total(scores, moves)
    gradient = ag.func.grad(total)(scores, moves)
    difference = float(np.max(np.abs(gradient - np.exp(by_hand.numpy()))))
    print(f"probabilities of {scores.size} states, by gradient and by hand: {difference:.1e} apart")
    return difference


if __name__ == "__main__":
    main()
