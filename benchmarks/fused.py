"""Functions that PyTorch computes by one kernel each, on large arrays: eager mode beside PyTorch.

``python -m benchmarks.fused --threads 2`` prints a table of the time of arraygrad divided by
PyTorch's, for the function, and for the function with its gradient. Both run in turns in one
process; the shortest times are compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import arraygrad as ag
from arraygrad.ops.special.activations import gelu, silu
from arraygrad.ops.special.standardizing import standardize

from .__main__ import measure

Function = Callable[[Any], Any]


def _cross_entropy(x: Any) -> Any:
    places = np.arange(x.shape[0])
    return -ag.mean(ag.special.log_softmax(x, axis=-1)[places, places % x.shape[1]])


def functions(torch: Any) -> dict[str, tuple[Function, Function, tuple[int, ...]]]:
    """Our function, PyTorch's, and the shape of the array."""
    f, special = torch.nn.functional, ag.special
    flat, lines = (1 << 20,), (1024, 1024)
    return {
        "sigmoid": (special.expit, torch.sigmoid, flat),
        "softplus": (special.softplus, f.softplus, flat),
        "SiLU": (silu, f.silu, flat),
        "GELU": (gelu, f.gelu, flat),
        "tanh": (ag.tanh, torch.tanh, flat),
        "exp": (ag.exp, torch.exp, flat),
        "erf": (special.erf, torch.erf, flat),
        "tanh(x) sigmoid(x) + exp(x)": (
            lambda x: ag.tanh(x) * special.expit(x) + ag.exp(x),
            lambda x: torch.tanh(x) * torch.sigmoid(x) + torch.exp(x),
            flat,
        ),
        "softmax": (lambda x: special.softmax(x, axis=-1), lambda x: f.softmax(x, -1), lines),
        "log-softmax": (
            lambda x: special.log_softmax(x, axis=-1),
            lambda x: f.log_softmax(x, -1),
            lines,
        ),
        "log-sum-exp": (
            lambda x: special.logsumexp(x, axis=-1),
            lambda x: torch.logsumexp(x, -1),
            lines,
        ),
        "layer norm": (
            lambda x: standardize(x, axis=-1, eps=1e-5),
            lambda x: f.layer_norm(x, x.shape[-1:]),
            lines,
        ),
        "cross entropy": (
            _cross_entropy,
            lambda x: f.cross_entropy(x, torch.arange(x.shape[0]) % x.shape[1]),
            lines,
        ),
    }


def ratios(dtype: Any, seconds: float) -> dict[str, tuple[float, float]]:
    """Time divided by PyTorch's: of each function, and with its gradient."""
    import torch

    found = {}
    for name, (ours, theirs, shape) in functions(torch).items():
        x = np.random.default_rng(0).normal(size=shape).astype(dtype)
        seed = np.random.default_rng(1).normal(size=np.shape(ours(x))).astype(dtype)
        leaf, other = ag.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
        plain, weights = torch.tensor(x), torch.tensor(seed)
        jobs: dict[str, Callable[[], Any]] = {
            "ours": lambda f=ours, x=x: f(x),
            "theirs": lambda f=theirs, x=plain: f(x),
            "our gradient": lambda f=ours, x=leaf, g=seed: ag.grad(f(x), x, g),
            "their gradient": lambda f=theirs, x=other, g=weights: torch.autograd.grad(f(x), x, g),
        }
        times = {job: min(t) for job, t in measure(jobs, seconds).items()}
        forward = times["ours"] / times["theirs"]
        found[name] = forward, times["our gradient"] / times["their gradient"]
    return found


def main() -> None:
    """Measure, and print the table."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each function")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    ag.set_num_threads(given.threads)
    single = ratios(np.float32, given.seconds)
    double = ratios(np.float64, given.seconds)
    print("| | float32 | and gradient | float64 | and gradient |\n|---|---|---|---|---|")
    for name in single:
        cells = " | ".join(f"{ratio:.2f}" for ratio in (*single[name], *double[name]))
        print(f"| {name} | {cells} |")


if __name__ == "__main__":
    main()
