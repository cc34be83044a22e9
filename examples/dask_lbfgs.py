"""Logistic regression on data larger than memory: Dask reads, SciPy's L-BFGS steps.

    python examples/dask_lbfgs.py --gigabytes 4             # on the threads of this process
    python examples/dask_lbfgs.py --gigabytes 4 --workers 2  # on a cluster on this machine
    python examples/dask_lbfgs.py --gigabytes 400 --scheduler tcp://10.0.0.1:8786

The data are drawn block by block when they are needed, and never all there at once; a real program
would read them from files at that place. Each step of L-BFGS is one pass over them, which computes
the loss and its gradient together. Needs `pip install 'arraygrad[dask,scipy]'`.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import Any

import dask.array as da
import numpy as np
import scipy.optimize
from dask.diagnostics import ProgressBar

import arraygrad as ag

FEATURES = 32
ROWS = 2**16  # in a block: 16 MiB
TRUTH = np.linspace(-1.0, 1.0, FEATURES)


def data(gigabytes: float) -> tuple[Any, Any]:
    """Features, and labels drawn with the probabilities that `TRUTH` gives them."""
    count = max(int(gigabytes * 2**30 / (8 * FEATURES)), 1)
    rng = da.random.default_rng(seed=11)
    x = rng.standard_normal((count, FEATURES), chunks=(ROWS, FEATURES))
    y = rng.random(count, chunks=ROWS) < 1 / (1 + da.exp(-(x @ TRUTH)))
    return x, y.astype(np.float64)


def loss_of(w: Any, x: Any, y: Any) -> Any:
    """The mean of the negative log-likelihood, and a little for large weights."""
    score = x @ w
    return ag.mean(ag.logaddexp(score, 0.0) - y * score) + 1e-6 * ag.sum(w * w)


def fit(x: Any, y: Any, client: Any = None) -> Any:
    """The weights of least loss, found by SciPy."""

    def value_and_gradient(vector: Any) -> tuple[float, Any]:
        w = ag.tensor(da.from_array(vector, chunks=-1), requires_grad=True)
        loss = loss_of(w, x, y)
        both = loss, ag.grad(loss, w)  # nothing has been computed yet
        if client is not None:
            from distributed import progress

            both = ag.persist(*both)  # starts on the cluster, and goes on while we watch
            progress(*(tensor.array for tensor in both), notebook=False)
        value, gradient = ag.compute(*both)
        return value.item(), gradient.numpy()

    start = np.zeros(x.shape[1])
    return scipy.optimize.minimize(value_and_gradient, start, jac=True, method="L-BFGS-B")


def main(gigabytes: float = 0.02, workers: int = 0, scheduler: str | None = None) -> Any:
    """Fit, and say how far from the truth the weights are."""
    x, y = data(gigabytes)
    print(f"{x.nbytes / 2**30:.2f} GiB in {x.npartitions} blocks")
    with ExitStack() as stack:
        client = None
        if workers or scheduler:
            from distributed import Client

            local = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
            client = stack.enter_context(Client(scheduler, **({} if scheduler else local)))
            print(f"dashboard: {client.dashboard_link}")
        else:
            stack.enter_context(ProgressBar())
        found = fit(x, y, client)
    print(f"\n{found.message}: {found.nit} iterations, {found.nfev} passes over the data")
    print(f"largest error of a weight: {np.max(np.abs(found.x - TRUTH)):.4f}")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=0, help="processes of a local cluster")
    parser.add_argument("--scheduler", help="the address of a cluster that is there already")
    options = parser.parse_args()
    main(options.gigabytes, options.workers, options.scheduler)
