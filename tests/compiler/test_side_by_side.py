"""Arrays side by side, and their gradients: rolled, joined, stacked, padded, along any axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from loops_table import close
from rows import crossed

import arraygrad as ag

SHAPES = [(5,), (40,), (3, 4), (7, 33), (2, 3, 20), (1, 6), (6, 1), (2, 5000)]


def rolled(x: Any, draw: Any) -> Any:
    axis = int(draw.integers(0, x.ndim))
    return ag.roll(x, int(draw.integers(-9, 10)), axis=axis)


def joined(x: Any, draw: Any) -> Any:
    axis = int(draw.integers(0, x.ndim))
    index = (slice(None),) * axis
    n = x.shape[axis]
    cuts = sorted(draw.integers(0, n + 1, 2))
    a, b = x[(*index, slice(0, cuts[0]))], x[(*index, slice(cuts[1], n))]
    parts = [ag.sin(a), b, x[(*index, slice(None, None, -1))]]
    return ag.concat([parts[i] for i in draw.permutation(3)], axis=axis)


def exchanged(x: Any, draw: Any) -> Any:
    """Both halves of an elementwise function of the array, exchanged."""
    axis = int(draw.integers(0, x.ndim))
    index = (slice(None),) * axis
    half = x.shape[axis] // 2
    y = x * 2 + 1
    return ag.concat((y[(*index, slice(half, None))], y[(*index, slice(0, half))]), axis=axis)


def stacked(x: Any, draw: Any) -> Any:
    return ag.stack((x * 2, x, -x), axis=int(draw.integers(0, x.ndim + 1)))


@crossed(move=[rolled, joined, exchanged, stacked], shape=SHAPES)
def test_as_eager(move: Any, shape: tuple[int, ...]) -> None:
    for seed in range(3):

        def f(x: Any, seed: int = seed) -> Any:
            draw = np.random.default_rng(seed)
            y = move(x, draw)
            return y * 0.5 + rolled(y, draw) * ag.sum(y, axis=-1, keepdims=True)

        x = np.random.default_rng(seed).normal(size=shape)
        close(ag.compile(f)(x), f(x), rtol=1e-10)
        g = ag.func.grad(lambda x, f=f: ag.sum(f(x) ** 2))
        close(ag.compile(g)(x), g(x), rtol=1e-9)


def test_infinite_values_stay_on_their_side() -> None:
    x = np.array([[np.inf, -0.0, 1.0], [np.nan, 2.0, -np.inf], [3.0, -1.0, 0.0]])
    for axis in (0, 1):
        found = ag.compile(lambda x, axis=axis: ag.roll(x, 1, axis=axis) * 1.0)(x)
        np.testing.assert_array_equal(found, np.roll(x, 1, axis=axis))
        np.testing.assert_array_equal(np.signbit(found), np.signbit(np.roll(x, 1, axis=axis)))


@crossed(width=[6, 550, 597, 598], dtype=[np.float32, np.float64])
def test_zeros_are_around_a_part(width: int, dtype: Any) -> None:
    # The last vector of a line has elements of the part, zeros, and places after its end.
    part = np.random.default_rng(0).normal(size=(9, 2, width)).astype(dtype)
    x = np.zeros((9, 6, width + 4), dtype)
    found = ag.compile(lambda g: ag.func.vjp(lambda x: x[:, 2:4, 2:-2], x)[1](g)[0])(part)
    np.testing.assert_array_equal(found, np.pad(part, [(0, 0), (2, 2), (2, 2)]))
