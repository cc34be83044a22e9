"""Writes over arrays that cannot be written: JAX's are replaced, with the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag


def written(x: Any) -> tuple[Any, ...]:
    """Writes by index, by view and by operator, and a value that depends on all of them."""
    y = x * 2
    y[0] = x[1] * 10
    y += x
    tail = y[1:]
    tail *= x[1:]
    y[np.array([0, 0])] = x[:2] * 3
    states = ag.zeros_like(x)
    for t in range(2):
        states[t + 1] = states[t] * 0.5 + y[t]
    return y, tail, states, (y * y).sum() + tail.sum() + (states**2).sum()


def test_replaced_arrays_give_what_written_ones_do() -> None:
    jnp = pytest.importorskip("jax.numpy")
    values = np.array([1.0, 2.0, 3.0], np.float32)
    expected = ag.tensor(values, requires_grad=True)
    found = ag.tensor(jnp.asarray(values), requires_grad=True)
    ours, theirs = written(expected), written(found)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(np.asarray(b.detach().array), a.detach().numpy(), rtol=1e-6)
    gradient = ag.grad(theirs[-1], found)
    assert isinstance(gradient.array, type(found.array))
    np.testing.assert_allclose(
        np.asarray(gradient.array), ag.grad(ours[-1], expected).numpy(), rtol=1e-6
    )
