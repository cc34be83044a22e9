"""Gradients over data that no worker could hold, on a cluster of processes.

ARRAYGRAD_CLUSTER_DATA is how many times the data exceeds the memory of all workers together.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraygrad as ag

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

WORKERS = 2
LIMIT = 200 * 2**20  # bytes, for each worker; it needs almost half of that for itself
TIMES = float(os.environ.get("ARRAYGRAD_CLUSTER_DATA", "2.5"))
PATIENCE = 600  # seconds


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    settings = {
        "distributed.comm.timeouts.connect": "120s",
        "distributed.comm.timeouts.tcp": "120s",
        "distributed.scheduler.worker-ttl": "600s",  # a busy machine is not a dead one
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            memory_limit=LIMIT,
            dashboard_address=None,
            silence_logs="CRITICAL",  # of workers that are killed on purpose
        ) as made,
        distributed.Client(made, timeout="120s") as client,
    ):
        client.wait_for_workers(WORKERS, timeout=PATIENCE)
        yield made
        processes = set(client.run(os.getpid).values())
    deadline = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{process}").exists() for process in processes):
        assert time.monotonic() < deadline, f"{processes} were left behind"
        time.sleep(0.1)


@pytest.fixture
def client(cluster: Any) -> Any:
    found = distributed.default_client()
    found.wait_for_workers(WORKERS, timeout=PATIENCE)
    return found


def processes(client: Any) -> set[int]:
    return set(client.run(os.getpid).values())


def peaks(client: Any) -> list[int]:
    """The most memory that each worker has ever had, in bytes: as its system counts."""
    texts = client.run(Path.read_text, Path("/proc/self/status")).values()
    lines = [line.split() for text in texts for line in text.splitlines()]
    return [int(line[1]) * 1024 for line in lines if line[0] == "VmHWM:"]


# --- the problems --------------------------------------------------------------------------------


class Problem(NamedTuple):
    """A model, lazy data for it, and the same gradient written by hand for NumPy and Dask."""

    data: tuple[Any, ...]
    parameters: dict[str, Any]
    loss: Any  # of parameters and data, by arraygrad
    by_hand: Any  # the loss and its gradients, of an array library, parameters and data
    sample: tuple[Any, ...]  # some of the data, small enough for this process


def rows_for(columns: int, rows_per_block: int) -> int:
    """How many rows of float64 exceed the memory of all workers so many times."""
    size = TIMES * WORKERS * LIMIT
    return -(-int(size) // (8 * columns * rows_per_block)) * rows_per_block


def numbers(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape) / 4


def table(columns: int, rows_per_block: int) -> tuple[Any, Any]:
    """Lazy features and labels."""
    n = rows_for(columns, rows_per_block)
    rng = da.random.default_rng(1)
    x = rng.random((n, columns), chunks=(rows_per_block, columns))
    noise = rng.random(n, chunks=rows_per_block)
    y = (x @ np.linspace(-1, 1, columns) > noise - 0.5).astype(np.float64)
    return x, y


def logistic_regression() -> Problem:
    x, y = table(32, 2**14)

    def loss(p: Any, x: Any, y: Any) -> Any:
        z = x @ p["w"] + p["b"]
        return ag.mean(ag.logaddexp(z, 0.0) - y * z)

    def by_hand(xp: Any, p: Any, x: Any, y: Any) -> Any:
        z = x @ p["w"] + p["b"]
        value = xp.mean(xp.logaddexp(z, 0.0) - y * z)
        error = (1 / (1 + xp.exp(-z)) - y) / len(y)
        return value, {"w": x.T @ error, "b": xp.sum(error, keepdims=True)}

    start = {"w": numbers((32,)), "b": numbers((1,))}
    return Problem((x, y), start, loss, by_hand, (x[: 2**12], y[: 2**12]))


def two_layer_net() -> Problem:
    x, y = table(64, 2**13)

    def loss(p: Any, x: Any, y: Any) -> Any:
        hidden = ag.tanh(x @ p["first"] + p["bias"])
        return ag.mean((hidden @ p["second"] - y) ** 2)

    def by_hand(xp: Any, p: Any, x: Any, y: Any) -> Any:
        hidden = xp.tanh(x @ p["first"] + p["bias"])
        error = hidden @ p["second"] - y
        g = 2 * error / len(y)
        inner = g[:, None] * p["second"] * (1 - hidden**2)
        gradients = {
            "first": x.T @ inner,
            "bias": xp.sum(inner, axis=0),
            "second": hidden.T @ g,
        }
        return xp.mean(error**2), gradients

    start = {"first": numbers((64, 16)), "bias": numbers((16,)), "second": numbers((16,))}
    return Problem((x, y), start, loss, by_hand, (x[: 2**12], y[: 2**12]))


def matrix_factorisation() -> Problem:
    rows, columns = rows_for(8192, 512), 8192
    rng = da.random.default_rng(2)
    truth = rng.random((rows, 4), chunks=(512, 4)) @ rng.random((4, columns), chunks=(4, 1024))
    ratings = truth + rng.random((rows, columns), chunks=(512, 1024))

    def loss(p: Any, r: Any) -> Any:
        return ag.mean((p["left"] @ p["right"].T - r) ** 2) + 1e-3 * ag.mean(p["left"] ** 2)

    def by_hand(xp: Any, p: Any, r: Any) -> Any:
        left, right = p["left"], p["right"]
        error = left @ right.T - r
        g = 2 * error / (r.shape[0] * r.shape[1])
        value = xp.mean(error**2) + 1e-3 * xp.mean(left**2)
        shrink = 2e-3 / (left.shape[0] * left.shape[1]) * left
        return value, {"left": g @ right + shrink, "right": g.T @ left}

    start = {"left": numbers((rows, 4)), "right": numbers((columns, 4))}
    return Problem((ratings,), start, loss, by_hand, (ratings[:600, :1500],))


PROBLEMS = [logistic_regression, two_layer_net, matrix_factorisation]


def lazily(array: Any) -> Any:
    """Parameters in blocks of rows, like the data they belong to."""
    return da.from_array(array, chunks={0: 512 if len(array) > 8192 else 1024})


def lazy_gradients(problem: Problem, data: tuple[Any, ...]) -> tuple[Any, Any]:
    p = {
        name: ag.tensor(lazily(value), requires_grad=True)
        for name, value in problem.parameters.items()
    }
    loss = problem.loss(p, *data)
    return loss, ag.grad(loss, p)


def assert_same(found: Any, wanted: Any) -> None:
    (value, gradients), (right, expected) = found, wanted
    np.testing.assert_allclose(np.asarray(value), right, rtol=1e-9)
    assert gradients.keys() == expected.keys()
    for name, gradient in gradients.items():
        scale = np.max(np.abs(expected[name]))
        np.testing.assert_allclose(
            np.asarray(gradient), expected[name], rtol=1e-7, atol=1e-9 * scale, err_msg=name
        )


# --- the tests -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_data_larger_than_the_workers(client: Any, make: Any) -> None:
    before = processes(client)
    problem = make()
    assert sum(array.nbytes for array in problem.data) >= TIMES * WORKERS * LIMIT
    loss, gradients = ag.compute(*lazy_gradients(problem, problem.data))
    assert np.isfinite(np.asarray(loss))
    assert all(np.any(np.asarray(gradient)) for gradient in gradients.values())
    assert max(peaks(client)) < LIMIT
    assert processes(client) == before  # so no worker was stopped for using too much


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_a_sample_has_the_gradients_of_numpy(client: Any, make: Any) -> None:
    problem = make()
    sample = dask.compute(*problem.sample)
    sizes = {"left": sample[0].shape[0], "right": sample[0].shape[1]}
    parameters = {name: p[: sizes.get(name)] for name, p in problem.parameters.items()}
    small = problem._replace(parameters=parameters)
    found = ag.compute(*lazy_gradients(small, problem.sample))
    assert_same(found, small.by_hand(np, parameters, *sample))


def test_a_worker_that_is_killed_does_no_harm(client: Any, cluster: Any) -> None:
    problem = logistic_regression()
    lazy = lazy_gradients(problem, problem.data)
    parameters = {name: lazily(value) for name, value in problem.parameters.items()}
    (wanted,) = dask.compute(problem.by_hand(da, parameters, *problem.data))
    results: list[Any] = []
    steps = cluster.scheduler.transition_counter
    work = threading.Thread(target=lambda: results.append(ag.compute(*lazy)))
    before = processes(client)
    work.start()
    deadline = time.monotonic() + PATIENCE
    while cluster.scheduler.transition_counter < steps + 500:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(min(before), signal.SIGKILL)
    assert not results  # it is in the middle of it
    work.join(PATIENCE)
    assert not work.is_alive()
    assert_same(results[0], wanted)
    client.wait_for_workers(WORKERS, timeout=PATIENCE)
    assert min(before) not in processes(client)


def test_persisted_data_stays_on_the_workers(client: Any) -> None:
    x, y = table(8, 2**12)
    x, y = ag.persist(x[: 2**16], y[: 2**16])
    w = ag.tensor(da.from_array(numbers((8,))), requires_grad=True)
    distributed.wait([x, y], timeout=PATIENCE)
    held = client.has_what()
    assert sum(map(len, held.values())) == x.npartitions + y.npartitions
    gradient = ag.grad(ag.sum((x @ w - y) ** 2), w).persist()
    rows, labels = dask.compute(x, y)
    wanted = 2 * rows.T @ (rows @ numbers((8,)) - labels)
    np.testing.assert_allclose(gradient.compute().numpy(), wanted, rtol=1e-10)
