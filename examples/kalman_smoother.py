"""A Kalman smoother that fills arrays made beforehand, and the gradient of its likelihood.

Filter and smoother are written with loops over time that write to `mean[t]` and `cov[t]` and read
`mean[t - 1]`, as they stand in textbooks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import arraygrad as ag


def smooth(noise: Any, observations: Any) -> tuple[Any, Any]:
    """Smoothed positions of a moving point, and the log-likelihood of what was observed.

    Parameters
    ----------
    noise : array of two numbers
        The logarithms of the variances of the motion and of the observations.
    observations : array
        The observed position at each time.
    """
    move = np.array([[1.0, 1.0], [0.0, 1.0]])
    motion = ag.exp(noise[0]) * np.array([[0.25, 0.5], [0.5, 1.0]])
    count = observations.shape[0]
    mean, cov = ag.zeros((count, 2)), ag.zeros((count, 2, 2))
    ahead, ahead_cov = ag.zeros((count, 2)), ag.zeros((count, 2, 2))
    likelihood = 0.0
    for t in range(count):
        if t:
            ahead[t] = move @ mean[t - 1]
            ahead_cov[t] = move @ cov[t - 1] @ move.T + motion
        else:
            ahead_cov[t] = 10.0 * np.eye(2)
        variance = ahead_cov[t, 0, 0] + ag.exp(noise[1])
        surprise = observations[t] - ahead[t, 0]
        gain = ahead_cov[t, :, 0] / variance
        mean[t] = ahead[t] + gain * surprise
        cov[t] = ahead_cov[t] - gain[:, None] * ahead_cov[t, 0]
        likelihood = likelihood - 0.5 * (ag.log(variance) + surprise**2 / variance)
    smoothed = ag.zeros((count, 2))
    smoothed[-1] = mean[-1]
    for t in range(count - 2, -1, -1):
        back = cov[t] @ move.T @ inverse(ahead_cov[t + 1])
        smoothed[t] = mean[t] + back @ (smoothed[t + 1] - ahead[t + 1])
    return smoothed[:, 0], likelihood


def inverse(x: Any) -> Any:
    """The inverse of a two by two matrix, written element by element."""
    turned = ag.zeros((2, 2))
    turned[0, 0], turned[1, 1] = x[1, 1], x[0, 0]
    turned[0, 1], turned[1, 0] = -x[0, 1], -x[1, 0]
    return turned / (x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0])


def main() -> tuple[Any, Any, Any]:
    """Fit the variances; returns the true and the smoothed path, and the logarithms found."""
    rng = np.random.default_rng(0)
    speed = np.cumsum(0.1 * rng.standard_normal(60))
    path = np.cumsum(speed)
    observations = path + rng.standard_normal(60)
    noise = np.zeros(2)
    gradient = ag.func.value_and_grad(lambda noise: -smooth(noise, observations)[1])
    for step in range(20):
        value, slope = gradient(noise)
        noise = np.asarray(noise - 0.08 * slope)
        if step % 10 == 0:
            print(f"step {step}: likelihood {-float(value):.3f}, log variances {noise}")
    return path, np.asarray(ag.asarray(smooth(noise, observations)[0])), noise


if __name__ == "__main__":
    main()
