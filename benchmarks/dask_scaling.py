"""What gradients of Dask arrays cost: tasks, building, running; and what a cluster adds.

    python -m benchmarks.dask_scaling

writes docs/figures/dask.json and docs/figures/dask.svg, and the tables in docs/dask.md. With
--quick it measures less, prints the tables, and writes nothing.

What one thread does is measured in processor time, which other programs do not add to.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# As on a worker, where each thread has a core of its own. Read when NumPy is first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import dask
import numpy as np
from dask.base import collections_to_expr
from dask.callbacks import Callback

import arraygrad as ag

from .dask_problems import PROBLEMS, Problem, logistic_regression

DOCS = Path(__file__).parents[1] / "docs"
Measured = dict[str, Any]


def collections(result: tuple[Any, Any]) -> list[Any]:
    """The Dask arrays of a loss and its gradients."""
    loss, gradients = result
    return [getattr(x, "array", x) for x in (loss, *gradients.values())]


def tasks(result: tuple[Any, Any]) -> int:
    """How many tasks are run for it, after Dask has fused what it can."""
    return len(collections_to_expr(collections(result)).optimize().__dask_graph__())


def best(
    job: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest of several times, in seconds: what else the machine does only adds to it."""
    times = []
    for _ in range(repeats):
        start = clock()
        job()
        times.append(clock() - start)
    return min(times)


def in_turns(jobs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Processor times of several jobs, run one after the other again and again."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(repeats + 1):
        for name, job in jobs.items():
            gc.collect()
            start = time.process_time()
            job()
            if turn:
                times[name].append(time.process_time() - start)
    return times


# --- beside Dask code written by hand ------------------------------------------------------------


def beside_hand_written(blocks: int, repeats: int) -> Measured:
    """Tasks, and the time to build and to run, over data in memory, on one thread."""
    table = {}
    for make in PROBLEMS:
        problem = make(blocks)
        ours, theirs = tasks(problem.gradients()), tasks(problem.gradients_by_hand())
        # In memory, so that making the data takes no time on either side.
        problem = problem._replace(data=dask.persist(*problem.data, scheduler="threads"))

        def run(build: Callable[[], tuple[Any, Any]]) -> Callable[[], Any]:
            return lambda: dask.compute(*collections(build()), scheduler="synchronous")

        times = in_turns(
            {"ours": run(problem.gradients), "theirs": run(problem.gradients_by_hand)}, repeats
        )
        pairs = [a / b for a, b in zip(times["ours"], times["theirs"], strict=True)]
        table[make.__name__] = {
            "tasks": [ours, theirs],
            "task ratio": ours / theirs,
            "seconds": [min(times["ours"]), min(times["theirs"])],
            "time ratio": statistics.median(pairs),
        }
    return {"blocks": blocks, "problems": table}


# --- building ------------------------------------------------------------------------------------


def building(counts: list[int], repeats: int) -> Measured:
    """The time to write down, and then to optimise, the graph of a gradient."""
    rows = []
    for blocks in counts:
        problem = logistic_regression(blocks, rows=16, columns=4)
        written = best(problem.gradients, repeats, time.process_time)
        by_hand = best(problem.gradients_by_hand, repeats, time.process_time)
        arrays = collections(problem.gradients())
        fuse = lambda a=arrays: collections_to_expr(a).optimize().__dask_graph__()  # noqa: E731
        fused = best(fuse, 2, time.process_time)
        rows.append([blocks, written, by_hand, fused])
    # The exponent of the growth: 1 is linear.
    first = counts[-1] // 32
    logs = np.log([[row[0], row[1], row[3]] for row in rows if row[0] >= first])
    slopes = [float(np.polyfit(logs[:, 0], logs[:, i], 1)[0]) for i in (1, 2)]
    return {"rows": rows, "exponents": slopes, "exponents from": first}


# --- what is held --------------------------------------------------------------------------------


class Most(Callback):  # type: ignore[misc]
    """Notes the most bytes of results that were there at once."""

    def __init__(self) -> None:
        self.bytes = 0
        super().__init__(posttask=self.look)

    def look(self, key: Any, result: Any, graph: Any, state: Any, worker: Any) -> None:
        held = sum(getattr(value, "nbytes", 0) for value in state["cache"].values())
        self.bytes = max(self.bytes, held)


def holding(counts: list[int]) -> Measured:
    """The most bytes held at once on one thread, in blocks of the data, for three losses."""
    rows = []
    for blocks in counts:
        problem = logistic_regression(blocks)
        mean = problem.loss

        def root(p: Any, x: Any, y: Any, mean: Any = mean) -> Any:
            return ag.sqrt(mean(p, x, y))

        def centred(p: Any, x: Any, y: Any, mean: Any = mean) -> Any:
            return mean(p, x - ag.mean(ag.asarray(x), axis=0), y)

        row: list[float] = [blocks]
        for loss in (mean, root, centred):
            with Most() as most:
                ag.compute(*problem._replace(loss=loss).gradients(), scheduler="synchronous")
            row.append(most.bytes / problem.data[0].blocks[0].nbytes)
        rows.append(row)
    return {"rows": rows}


# --- on a cluster --------------------------------------------------------------------------------


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    import distributed

    with (
        dask.config.set({"distributed.scheduler.worker-ttl": "600s"}),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit="2GiB"
        ) as made,
        distributed.Client(made, timeout="120s") as client,
    ):
        client.wait_for_workers(workers, timeout=300)
        for _ in range(2):  # so that every worker has imported what it needs
            ag.compute(*logistic_regression(4 * workers, rows=4).gradients())
        yield client


def run(problem: Problem) -> Callable[[], Any]:
    return lambda: ag.compute(*problem.gradients())


def waiting(blocks: int, seconds: float) -> Problem:
    """A problem whose blocks take no work but a given time, as if each had a processor."""
    problem = logistic_regression(blocks, rows=4, columns=4)
    x, y = problem.data
    slow = x.map_blocks(_wait, seconds, dtype=x.dtype, meta=np.empty((0, 0)))
    return problem._replace(data=(slow, y))


def _wait(block: Any, seconds: float) -> Any:
    time.sleep(seconds)
    return block


def per_task(workers: int, counts: list[int], repeats: int) -> Measured:
    """What a task costs on a cluster when there is nothing to compute: time against tasks.

    The scheduler and the client are in this process, so its processor time is what cannot be
    shared among workers.
    """
    rows = []
    with cluster(workers):
        for blocks in counts:
            problem = logistic_regression(blocks, rows=4, columns=4)
            times = []
            for _ in range(repeats):
                start = time.perf_counter(), time.process_time()
                ag.compute(*problem.gradients())
                times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
            seconds, serial = map(min, zip(*times, strict=True))
            rows.append([blocks, tasks(problem.gradients()), seconds, serial])
    numbers = np.array(rows)
    slope, start = np.polyfit(numbers[:, 1], numbers[:, 3], 1)
    return {"rows": rows, "seconds per task": slope, "seconds to start": max(start, 0.0)}


def _sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def traffic(counts: list[int]) -> Measured:
    """The bytes that go from worker to worker for one gradient over growing data."""
    rows = []
    with cluster(2) as client:
        for blocks in counts:
            problem = logistic_regression(blocks, rows=2**12)
            before = sum(client.run(_sent).values())
            ag.compute(*problem.gradients())
            sent = sum(client.run(_sent).values()) - before
            rows.append([blocks, problem.data[0].nbytes, sent])
    return {"rows": rows}


def against_blocks(counts: list[int], size: int, repeats: int) -> Measured:
    """The same data, in more and more blocks, on two workers."""
    rows = []
    with cluster(2):
        for blocks in counts:
            problem = logistic_regression(blocks, rows=size // 32 // 8 // blocks)
            rows.append([blocks, best(run(problem), repeats)])
    return {"bytes": size, "rows": rows}


def against_workers(counts: list[int], blocks: int, seconds: float, repeats: int) -> Measured:
    """Blocks that take a fixed time each, on more and more workers."""
    rows = []
    for workers in counts:
        with cluster(workers):
            rows.append([workers, best(run(waiting(blocks, seconds)), repeats)])
    return {"blocks": blocks, "seconds": seconds, "rows": rows}


# --- on paper ------------------------------------------------------------------------------------


def predicted(
    workers: int, blocks: int, block_seconds: float, found: Measured
) -> tuple[float, float]:
    """The time of a gradient, and of the scheduler's part in it.

    Workers and the scheduler work at the same time, so the slower of them counts; then come the
    levels of the sum over blocks, each a few hops.
    """
    k = found["per task"]["rows"][-1][1] / found["per task"]["rows"][-1][0]
    overhead = found["per task"]["seconds per task"]
    scheduler = blocks * k * overhead
    work = math.ceil(blocks / workers) * block_seconds
    levels = math.ceil(math.log(max(blocks, 2), 4))
    return max(work, scheduler) + found["per task"]["seconds to start"] + levels * overhead * 4, (
        scheduler
    )


def on_paper(found: Measured) -> Measured:
    """One gradient over 4,000 blocks of some seconds each, on up to 1,000 workers."""
    rows = []
    for block_seconds in (1.0, 10.0):
        for workers in (1, 10, 100, 1000):
            total, scheduler = predicted(workers, 4000, block_seconds, found)
            alone, _ = predicted(1, 4000, block_seconds, found)
            rows.append([block_seconds, workers, total, scheduler, alone / total / workers])
    return {"blocks": 4000, "rows": rows}


# --- telling -------------------------------------------------------------------------------------


def tables(found: Measured) -> str:
    """The results as they stand in docs/dask.md."""
    hand = found["beside hand-written"]
    text = [
        "| gradient of | tasks | by hand | ratio | ratio of processor times |",
        "|---|---|---|---|---|",
    ]
    for name, row in hand["problems"].items():
        ours, theirs = row["tasks"]
        ratios = f"{row['task ratio']:.2f} | {row['time ratio']:.2f}"
        text.append(f"| {name.replace('_', ' ')} | {ours:,} | {theirs:,} | {ratios} |")
    built = found["building"]
    text += ["", "| blocks | write down | by hand | Dask's optimisation |", "|---|---|---|---|"]
    for blocks, *seconds in built["rows"]:
        text.append(f"| {blocks:,} | " + " | ".join(_time(s) for s in seconds) + " |")
    written, fused = built["exponents"]
    many = built["exponents from"]
    task = found["per task"]
    text += [
        "",
        f"From {many:,} blocks on, time grows like the number of blocks to the power {written:.2f} "
        f"(write down) and {fused:.2f} (optimise).",
    ]
    text += [
        "",
        "| most that is held at once, in blocks of data | mean loss | root of it | "
        "data centred first |",
        "|---|---|---|---|",
    ]
    for blocks, *held in found["holding"]["rows"]:
        text.append(f"| {blocks} blocks | " + " | ".join(f"{h:.3g}" for h in held) + " |")
    text += ["", "| blocks | data | sent between two workers |", "|---|---|---|"]
    for blocks, size, sent in found["traffic"]["rows"]:
        text.append(f"| {blocks} | {size / 2**20:.0f} MiB | {sent / 2**20:.2g} MiB |")
    text += [
        "",
        f"On a cluster, each task takes {_time(task['seconds per task'])} of the scheduler's and "
        f"the client's processor time, and a gradient {_time(task['seconds to start'])} more to "
        "get started.",
        "",
        f"| blocks of {found['against blocks']['bytes'] / 2**30:.2g} GiB, 2 workers | time |",
        "|---|---|",
    ]
    text += [f"| {blocks:,} | {_time(s)} |" for blocks, s in found["against blocks"]["rows"]]
    waits = found["against workers"]
    blocks, each = waits["blocks"], waits["seconds"]
    text += ["", f"| workers, {blocks} blocks of {_time(each)} | time | ideal |", "|---|---|---|"]
    text += [
        f"| {workers} | {_time(s)} | {_time(math.ceil(blocks / workers) * each)} |"
        for workers, s in waits["rows"]
    ]
    text += [
        "",
        f"| on paper: {found['on paper']['blocks']:,} blocks of | workers | time | "
        "scheduler's part | efficiency |",
        "|---|---|---|---|---|",
    ]
    for each, workers, total, scheduler, efficiency in found["on paper"]["rows"]:
        parts = f"{_time(total)} | {_time(scheduler)} | {efficiency:.0%}"
        text.append(f"| {each:g} s | {workers:,} | {parts} |")
    return "\n".join(text) + "\n"


def _time(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:,.0f} s"


def draw(found: Measured, path: Path) -> None:
    """The measured curves, and those on paper."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "arraygrad"
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    built = np.array(found["building"]["rows"])
    for column, label in (
        (1, "write down"),
        (2, "write down, by hand"),
        (3, "Dask's optimisation"),
    ):
        axes[0].loglog(built[:, 0], built[:, column], "o-", label=label)
    axes[0].set(title="Before anything runs", xlabel="blocks", ylabel="seconds")
    cut = np.array(found["against blocks"]["rows"])
    size = found["against blocks"]["bytes"] / 2**30
    axes[1].loglog(cut[:, 0], cut[:, 1], "o-", label=f"{size:.2g} GiB, 2 workers")
    empty = np.array(found["per task"]["rows"])
    axes[1].loglog(empty[:, 0], empty[:, 2], "s--", label="blocks with nothing in them")
    axes[1].set(title="One gradient", xlabel="blocks", ylabel="seconds")
    waits = found["against workers"]
    seen = np.array(waits["rows"])
    each, blocks = waits["seconds"], waits["blocks"]
    axes[2].loglog(seen[:, 0], seen[:, 1], "o-", label=f"measured, {blocks} blocks of {each} s")
    many = np.unique(np.logspace(0, 3, 60).astype(int))
    for seconds in (1.0, 10.0):
        line = [predicted(int(w), 4000, seconds, found)[0] for w in many]
        axes[2].loglog(many, line, "--", label=f"on paper, 4,000 blocks of {seconds:g} s")
    axes[2].set(title="More workers", xlabel="workers", ylabel="seconds")
    for ax in axes:
        ax.legend(fontsize="small")
        ax.grid(alpha=0.3)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="less of everything; write nothing")
    parser.add_argument("--redraw", action="store_true", help="from the figures of the last run")
    options = parser.parse_args()
    store = DOCS / "figures" / "dask.json"
    if options.redraw:
        found = json.loads(store.read_text())
        found["on paper"] = on_paper(found)
    else:
        few = options.quick
        found = {
            "beside hand-written": beside_hand_written(16 if few else 64, 3 if few else 15),
            "building": building([16, 64, 256] if few else [2**k for k in range(4, 15)], 5),
            "holding": holding([8, 16] if few else [16, 64]),
            "traffic": traffic([8, 16] if few else [16, 64, 256]),
            "per task": per_task(2, [8, 32] if few else [25, 50, 100, 200], 2),
            "against blocks": against_blocks(
                [4, 16] if few else [2, 4, 8, 16, 64, 256], 2**26 if few else 2**30, 3
            ),
            "against workers": against_workers(
                [1, 2] if few else [1, 2, 4, 8], 16 if few else 32, 1.0, 1 if few else 2
            ),
        }
        found["on paper"] = on_paper(found)
    text = tables(found)
    print(text)
    if options.quick:
        return
    store.parent.mkdir(exist_ok=True)
    store.write_text(json.dumps(found, indent=1) + "\n")
    draw(found, DOCS / "figures" / "dask.svg")
    page = DOCS / "dask.md"
    before, _, rest = page.read_text().partition("<!-- figures -->\n")
    _, _, after = rest.partition("<!-- end of figures -->\n")
    page.write_text(f"{before}<!-- figures -->\n{text}<!-- end of figures -->\n{after}")


if __name__ == "__main__":
    main()
