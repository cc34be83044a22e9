"""Filters and spectra, beyond the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal

import arraygrad as ag
from arraygrad.scipy import signal

_rng = np.random.default_rng(0)


def test_the_median_of_segments_has_a_kink_where_segments_are_equal() -> None:
    """All segments of a periodic signal have the same power.

    Then the difference along a direction is the median of the slopes of the segments, which is not
    linear in the direction: there is no gradient that agrees with all differences. Ours is a mean
    of the gradients of segments.
    """
    x = np.tile(_rng.normal(size=4), 5)
    along = _rng.normal(size=x.size)

    def power(x: Any, average: str = "median") -> Any:
        return scipy.signal.welch(x, nperseg=8, average=average)[1][2]

    difference = (power(x + 1e-6 * along) - power(x - 1e-6 * along)) / 2e-6
    t = ag.tensor(x, requires_grad=True)
    found = ag.grad(signal.welch(t, nperseg=8, average="median")[1][2], t).numpy() @ along
    bias = 1 - 1 / 2 + 1 / 3  # of the median of four segments
    slopes = []
    for start in range(0, 13, 4):
        part = slice(start, start + 8)
        move = [power(x[part] + s * along[part], "mean") for s in (1e-6, -1e-6)]
        slopes.append((move[0] - move[1]) / 2e-6 / bias)
    np.testing.assert_allclose(difference, np.median(slopes), rtol=1e-5)
    assert min(slopes) - 1e-6 <= found <= max(slopes) + 1e-6


def test_the_median_of_segments_away_from_kinks() -> None:
    """Of an odd and an even number of segments."""
    for n in (16, 20):
        x, along = _rng.normal(size=n), _rng.normal(size=n)

        def total(x: Any, module: Any = scipy.signal) -> Any:
            return (module.welch(x, nperseg=8, average="median")[1] * np.arange(5.0)).sum()

        difference = (total(x + 1e-6 * along) - total(x - 1e-6 * along)) / 2e-6
        found = ag.func.grad(lambda x: total(x, signal))(x) @ along
        np.testing.assert_allclose(found, difference, rtol=1e-6)


def test_signals_of_length_zero() -> None:
    b = ag.tensor([1.0, 0.5], requires_grad=True)
    for shape in ((0,), (0, 5), (5, 0)):
        x = ag.tensor(np.zeros(shape), requires_grad=True)
        out = signal.lfilter(b, [1.0, 0.2], x)
        assert out.shape == scipy.signal.lfilter([1.0, 0.5], [1.0, 0.2], np.zeros(shape)).shape
        by_b, by_x = ag.grad(out.sum(), [b, x])
        assert by_b.tolist() == [0.0, 0.0]
        assert by_x.shape == shape
