"""Models over lazy data of any size: losses for arraygrad, and the same gradients by hand.

Used by `benchmarks.dask_scaling` and by the tests on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import dask.array as da
import numpy as np

import arraygrad as ag


class Problem(NamedTuple):
    """A model, and lazy data for it."""

    data: tuple[Any, ...]
    parameters: dict[str, Any]  # NumPy arrays
    loss: Callable[..., Any]  # of parameters and data
    by_hand: Callable[..., Any]  # the loss and its gradients, of a library, parameters and data

    def lazy_parameters(self) -> dict[str, Any]:
        """The parameters as Dask arrays, in the blocks of the data that they belong to."""
        rows, columns = self.data[0].chunks
        blocks = {"left": rows, "right": columns}
        return {
            name: da.from_array(value, chunks=(blocks.get(name, -1), *[-1] * (value.ndim - 1)))
            for name, value in self.parameters.items()
        }

    def gradients(self) -> tuple[Any, Any]:
        """The loss and its gradients by arraygrad, lazily."""
        leaves = {
            name: ag.tensor(value, requires_grad=True)
            for name, value in self.lazy_parameters().items()
        }
        loss = self.loss(leaves, *self.data)
        return loss, ag.grad(loss, leaves)

    def gradients_by_hand(self) -> tuple[Any, Any]:
        """The same as an expression of Dask arrays."""
        value, gradients = self.by_hand(da, self.lazy_parameters(), *self.data)
        return value, gradients


def _numbers(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape) / 4


def _table(blocks: int, rows: int, columns: int) -> tuple[Any, Any]:
    """Features, and labels that depend on them."""
    rng = da.random.default_rng(1)
    x = rng.random((blocks * rows, columns), chunks=(rows, columns))
    noise = rng.random(blocks * rows, chunks=rows)
    y = (x @ np.linspace(-1, 1, columns) > noise - 0.5).astype(np.float64)
    return x, y


def logistic_regression(blocks: int, rows: int = 2**14, columns: int = 32) -> Problem:
    """One vector of weights; 4 MiB of data to a block."""

    def loss(p: Any, x: Any, y: Any) -> Any:
        z = x @ p["w"] + p["b"]
        return ag.mean(ag.logaddexp(z, 0.0) - y * z)

    def by_hand(xp: Any, p: Any, x: Any, y: Any) -> Any:
        z = x @ p["w"] + p["b"]
        value = xp.mean(xp.logaddexp(z, 0.0) - y * z)
        error = (1 / (1 + xp.exp(-z)) - y) / len(y)
        return value, {"w": x.T @ error, "b": xp.sum(error, keepdims=True)}

    start = {"w": _numbers(columns), "b": _numbers(1)}
    return Problem(_table(blocks, rows, columns), start, loss, by_hand)


def two_layer_net(blocks: int, rows: int = 2**13, columns: int = 64, hidden: int = 16) -> Problem:
    """A hidden layer and squared errors; 4 MiB of data to a block."""

    def loss(p: Any, x: Any, y: Any) -> Any:
        h = ag.tanh(x @ p["first"] + p["bias"])
        return ag.mean((h @ p["second"] - y) ** 2)

    def by_hand(xp: Any, p: Any, x: Any, y: Any) -> Any:
        h = xp.tanh(x @ p["first"] + p["bias"])
        error = h @ p["second"] - y
        g = 2 * error / len(y)
        inner = g[:, None] * p["second"] * (1 - h**2)
        return xp.mean(error**2), {
            "first": x.T @ inner,
            "bias": xp.sum(inner, axis=0),
            "second": h.T @ g,
        }

    start = {
        "first": _numbers(columns, hidden),
        "bias": _numbers(hidden),
        "second": _numbers(hidden),
    }
    return Problem(_table(blocks, rows, columns), start, loss, by_hand)


def matrix_factorisation(blocks: int, rows: int = 512, columns: int = 1024) -> Problem:
    """A matrix as a product of two thin ones, in eight columns of blocks of 4 MiB."""
    shape = -(-blocks // 8) * rows, 8 * columns
    rng = da.random.default_rng(2)
    left = rng.random((shape[0], 4), chunks=(rows, 4))
    right = rng.random((4, shape[1]), chunks=(4, columns))
    ratings = left @ right + rng.random(shape, chunks=(rows, columns))

    def loss(p: Any, r: Any) -> Any:
        return ag.mean((p["left"] @ p["right"].T - r) ** 2) + 1e-3 * ag.mean(p["left"] ** 2)

    def by_hand(xp: Any, p: Any, r: Any) -> Any:
        left, right = p["left"], p["right"]
        error = left @ right.T - r
        g = 2 * error / (r.shape[0] * r.shape[1])
        value = xp.mean(error**2) + 1e-3 * xp.mean(left**2)
        shrink = 2e-3 / (left.shape[0] * left.shape[1]) * left
        return value, {"left": g @ right + shrink, "right": g.T @ left}

    start = {"left": _numbers(shape[0], 4), "right": _numbers(shape[1], 4)}
    return Problem((ratings,), start, loss, by_hand)


PROBLEMS = [logistic_regression, two_layer_net, matrix_factorisation]
