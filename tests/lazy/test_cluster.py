"""Gradients over data that no worker could hold, on a cluster of processes.

ARRAYGRAD_CLUSTER_DATA is how many times the data exceeds the memory of all workers together.
"""

from __future__ import annotations

import os
import runpy
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import Row, over

import arraygrad as ag

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from benchmarks.dask_problems import PROBLEMS, logistic_regression  # noqa: E402  (needs Dask)

WORKERS = 2
LIMIT = 320 * 2**20  # bytes, for each worker; it may need 200 MB of that for itself
TIMES = float(os.environ.get("ARRAYGRAD_CLUSTER_DATA", "1.6"))
PATIENCE = 600  # seconds
EXAMPLES = Path(__file__).parents[2] / "examples"


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
            dashboard_address=":0",  # another test may have a cluster at the usual port
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


def blocks() -> int:
    """How many blocks of 4 MiB exceed the memory of all workers so many times."""
    return -(-int(TIMES * WORKERS * LIMIT) // 2**22)


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


def test_ops_are_found_on_workers(client: Any) -> None:
    offsets = np.arange(3.0)

    # The rule refers to the op, which no pickle could follow: workers only compute.
    @ag.func.custom(vjp=lambda g, x: g * (growth(x) - offsets), batch="elementwise")
    def growth(x: Any) -> Any:
        return np.exp(x) + offsets

    values = np.random.default_rng(0).normal(size=(4, 3))
    found: list[Any] = []
    for array in (values, dask.array.from_array(values, chunks=(2, 3))):
        x = ag.tensor(array, requires_grad=True)
        # Of these, importing arraygrad alone declares none.
        functions = (growth, ag.special.i0, ag.fft.rfft, ag.linalg.svdvals, ag.special.softmax)
        loss = sum(ag.sum(ag.abs(function(x)) ** 2) for function in functions)
        found.append(ag.compute(loss, ag.grad(loss, x)))
    for result, expected in zip(found[1], found[0], strict=True):
        np.testing.assert_allclose(np.asarray(result), np.asarray(expected.detach()), rtol=1e-10)


@over("make", [Row("problems", make.__name__, make) for make in PROBLEMS])
def test_data_larger_than_the_workers(client: Any, make: Any) -> None:
    before = processes(client)
    problem = make(blocks())
    assert sum(array.nbytes for array in problem.data) >= TIMES * WORKERS * LIMIT
    loss, gradients = ag.compute(*problem.gradients())
    assert np.isfinite(np.asarray(loss))
    assert all(np.any(np.asarray(gradient)) for gradient in gradients.values())
    assert max(peaks(client)) < LIMIT
    assert processes(client) == before  # so no worker was stopped for using too much


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_a_sample_has_the_gradients_of_numpy(client: Any, make: Any) -> None:
    problem = make(16, rows=256)
    found = ag.compute(*problem.gradients())
    assert_same(found, problem.by_hand(np, problem.parameters, *dask.compute(*problem.data)))


def test_a_worker_that_is_killed_does_no_harm(client: Any, cluster: Any) -> None:
    problem = logistic_regression(blocks() // 3)
    lazy = problem.gradients()
    (wanted,) = dask.compute(problem.gradients_by_hand())
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


def test_the_example_shows_its_progress(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    example = runpy.run_path(str(EXAMPLES / "gallery" / "gigabytes.py"))
    found = example["fit"](*example["data"](0.02), client)
    assert found.success
    np.testing.assert_allclose(found.x, example["TRUTH"], atol=0.1)
    assert capsys.readouterr().out.count("100% Completed") >= found.nfev


def test_persisted_data_stays_on_the_workers(client: Any) -> None:
    problem = logistic_regression(16, rows=256)
    data = ag.persist(*problem.data)
    distributed.wait(data, timeout=PATIENCE)
    held = {key for keys in client.has_what().values() for key in keys}  # some by both workers
    blocks = set(dask.core.flatten([array.__dask_keys__() for array in data]))
    assert len(blocks) == 32
    assert blocks <= held
    loss, gradients = ag.persist(*problem._replace(data=data).gradients())
    values = dask.compute(*data)
    assert_same(ag.compute(loss, gradients), problem.by_hand(np, problem.parameters, *values))
