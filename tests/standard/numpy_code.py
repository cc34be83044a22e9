"""Ten functions of pure NumPy, as they are found in the wild. They know nothing of arraygrad."""

# ruff: noqa: N803, N806

import math

import numpy as np


def kalman_filter(observations, transition, noise, x0):
    """The negative log-likelihood of observations under a linear Gaussian model."""
    n = len(x0)
    mean, cov = x0, np.eye(n)
    H = np.zeros((1, n))
    H[0, 0] = 1.0
    Q = 0.1 * np.eye(n)
    loss = 0.0
    for z in observations:
        mean = transition @ mean
        cov = transition @ cov @ transition.T + Q
        innovation = z - H @ mean
        S = H @ cov @ H.T + noise * np.eye(1)
        K = cov @ H.T @ np.linalg.inv(S)
        mean = mean + K @ innovation
        cov = (np.eye(n) - K @ H) @ cov
        _, logdet = np.linalg.slogdet(S)
        loss += 0.5 * (logdet + innovation @ np.linalg.solve(S, innovation))
    return loss


def runge_kutta(y0, parameters, steps=20, h=0.05):
    """The state of a predator-prey system after some steps of the classical method."""

    def slope(y):
        a, b, c, d = parameters
        prey, predators = y
        return np.stack([a * prey - b * prey * predators, -c * predators + d * prey * predators])

    y = y0
    for _ in range(steps):
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def gaussian_process(log_parameters, X, y):
    """The negative log marginal likelihood with a squared exponential kernel."""
    amplitude, length, noise = np.exp(log_parameters)
    square = np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=-1)
    K = amplitude**2 * np.exp(-0.5 * square / length**2) + noise**2 * np.eye(len(X))
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * np.dot(y, alpha) + np.sum(np.log(np.diag(L))) + 0.5 * len(y) * np.log(2 * np.pi)


def rosenbrock(x):
    """The banana function in any number of dimensions."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


def svd_denoiser(image, threshold):
    """The image with its singular values shrunk towards zero."""
    U, s, Vt = np.linalg.svd(image, full_matrices=False)
    s = np.maximum(s - threshold, 0.0)
    return (U * s) @ Vt


def spline(x, knots, values):
    """A natural cubic spline through some points, evaluated at others."""
    n = len(knots)
    h = np.diff(knots)
    A = np.eye(n)
    for i in range(1, n - 1):
        A[i, i - 1 : i + 2] = [h[i - 1], 2 * (h[i - 1] + h[i]), h[i]]
    slopes = np.diff(values) / h
    right = np.concatenate([[0.0], 6 * np.diff(slopes), [0.0]])
    M = np.linalg.solve(A, right)
    i = np.clip(np.searchsorted(knots, x) - 1, 0, n - 2)
    a, b = (knots[i + 1] - x) / h[i], (x - knots[i]) / h[i]
    return (
        a * values[i]
        + b * values[i + 1]
        + ((a**3 - a) * M[i] + (b**3 - b) * M[i + 1]) * h[i] ** 2 / 6
    )


def softmax_regression(W, b, X, labels):
    """The mean cross-entropy of a linear classifier, with weight decay."""
    logits = X @ W + b
    logits = logits - np.max(logits, axis=1, keepdims=True)
    log_probabilities = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    data = -np.mean(log_probabilities[np.arange(len(labels)), labels])
    return data + 0.01 * np.sum(W * W)


def fourier_filter(signal, width):
    """The signal after a Gaussian low-pass filter."""
    frequencies = np.fft.rfftfreq(len(signal))
    spectrum = np.fft.rfft(signal)
    return np.fft.irfft(spectrum * np.exp(-0.5 * (frequencies / width) ** 2), n=len(signal))


def lennard_jones(positions, epsilon=1.0, sigma=1.0):
    """The energy of a cluster of atoms."""
    i, j = np.triu_indices(len(positions), k=1)
    distance = np.linalg.norm(positions[i] - positions[j], axis=1)
    ratio = (sigma / distance) ** 6
    return 4.0 * epsilon * np.sum(ratio**2 - ratio)


def black_scholes(spot, volatility, rate, strikes, expiry):
    """The prices of European calls."""

    def phi(x):
        # Abramowitz and Stegun 26.2.17
        t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
        poly = t * np.polyval([1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153], t)
        tail = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) * poly
        return np.where(x >= 0, 1.0 - tail, tail)

    d1 = (np.log(spot / strikes) + (rate + volatility**2 / 2) * expiry) / (
        volatility * np.sqrt(expiry)
    )
    d2 = d1 - volatility * np.sqrt(expiry)
    return spot * phi(d1) - strikes * np.exp(-rate * expiry) * phi(d2)
