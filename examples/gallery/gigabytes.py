"""Logistic regression on data larger than memory: Dask reads, SciPy's L-BFGS steps.

    main(400, "tcp://10.0.0.1:8786")  # gigabytes, and a cluster; without one, on threads

The data are drawn block by block when they are needed, and never all there at once. Each step is
one pass over them, which computes the loss and its gradient together.
"""

from typing import Any

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
import scipy.optimize
from dask.diagnostics import ProgressBar
from distributed import Client, progress

import arraygrad as ag

TRUTH = np.linspace(-1.0, 1.0, 32)


def data(gigabytes: float) -> tuple[Any, Any]:
    """Features, and labels drawn with the probabilities that `TRUTH` gives them."""
    count = max(int(gigabytes * 2**30 / (8 * TRUTH.size)), 1)
    rng = da.random.default_rng(seed=11)
    x = rng.standard_normal((count, TRUTH.size), chunks=(2**16, -1))  # blocks of 16 MiB
    return x, 1.0 * (rng.random(count, chunks=2**16) < 1 / (1 + da.exp(-(x @ TRUTH))))


def fit(x: Any, y: Any, client: Any = None) -> Any:
    """The weights of least loss: the mean of the negative log-likelihood."""

    def value_and_gradient(vector: Any) -> tuple[float, Any]:
        w = ag.tensor(da.from_array(vector, chunks=-1), requires_grad=True)
        loss = ag.mean(ag.logaddexp(x @ w, 0.0) - y * (x @ w)) + 1e-6 * ag.sum(w * w)
        both = loss, ag.grad(loss, w)  # nothing has been computed yet
        if client is not None:
            both = ag.persist(*both)  # starts on the cluster, and goes on while we watch
            progress(*(tensor.array for tensor in both), notebook=False)
        value, gradient = ag.compute(*both)
        return value.item(), gradient.numpy()

    return scipy.optimize.minimize(value_and_gradient, 0 * TRUTH, jac=True, method="L-BFGS-B")


def main(gigabytes: float = 0.02, scheduler: str | None = None) -> Any:
    """Fit, and draw the weights that were found beside the true ones."""
    with Client(scheduler) if scheduler else ProgressBar() as shown:
        found = fit(*data(gigabytes), shown if scheduler else None)
    fig, ax = plt.subplots(figsize=(4.6, 2.8))
    ax.plot(TRUTH, TRUTH, color="#9aa3ad", lw=0.8)
    ax.plot(TRUTH, found.x, "o", ms=4, color="#2a6fbb")
    ax.set(xlabel="true weight", ylabel="found", title=f"Weights from {gigabytes} GB")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
