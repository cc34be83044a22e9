"""What is measured. A workload gives, for each system, a function that does the whole job once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Job = Callable[[], Any]


def _multiply_add(tensor: Any, grad: Callable[[Any, Any], Any], values: Any, steps: int) -> Job:
    """`z = z * y + y`, over and over, and the gradient of its sum."""

    def job() -> Any:
        y = tensor(values)
        z = y
        for _ in range(steps):
            z = z * y + y
        return grad(z.sum(), y)

    return job


def _systems() -> dict[str, tuple[Any, Any]]:
    """For each installed system: how to make a leaf, how to differentiate."""
    import arraygrad as ag

    found: dict[str, tuple[Any, Any]] = {
        "arraygrad": (lambda a: ag.tensor(a, requires_grad=True), ag.grad)
    }
    try:
        import torch
    except ImportError:
        return found
    torch.set_num_threads(2)
    found["torch"] = (
        lambda a: torch.tensor(a, requires_grad=True),
        lambda y, x: torch.autograd.grad(y, x)[0],
    )
    return found


def chain(steps: int) -> dict[str, Job]:
    """A chain of small ops on four float64 elements: the cost of recording and sweeping."""
    values = np.full(4, 0.5)
    return {
        name: _multiply_add(tensor, grad, values, steps)
        for name, (tensor, grad) in _systems().items()
    }


WORKLOADS: dict[str, Callable[[], dict[str, Job]]] = {
    "chain of 100 multiply-adds": lambda: chain(100),
    "chain of 50,000 multiply-adds": lambda: chain(50_000),
}
