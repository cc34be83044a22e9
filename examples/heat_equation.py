"""Find the conductivity of a rod, through a solver that updates its grid in place.

The solver is written as one would write it with NumPy: one array, overwritten at every step. Its
gradient is exact, so the conductivity follows from a few steps of Newton's method on the misfit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import arraygrad as ag


def solve(conductivity: Any, start: Any, steps: int = 200) -> Any:
    """The temperature of a rod, with its ends kept as they are, after a time."""
    u = ag.asarray(start) + 0.0 * conductivity
    for _ in range(steps):
        flow = u[1:] - u[:-1]
        u[1:-1] += 0.4 * conductivity * (flow[1:] - flow[:-1])
    return u


def solve_without_writing(conductivity: Any, start: Any, steps: int = 200) -> Any:
    """The same, by joining a new array at every step."""
    u = ag.asarray(start) + 0.0 * conductivity
    for _ in range(steps):
        flow = u[1:] - u[:-1]
        inside = u[1:-1] + 0.4 * conductivity * (flow[1:] - flow[:-1])
        u = ag.concat([u[:1], inside, u[-1:]])
    return u


def misfit(conductivity: Any, start: Any, measured: Any) -> Any:
    """How far the solution is from a measurement."""
    return ag.sum((solve(conductivity, start) - measured) ** 2)


def main() -> tuple[float, float]:
    """Recover a conductivity; returns what it was and what was found."""
    truth = 0.7
    start = np.exp(-(np.linspace(-3, 3, 61) ** 2))
    measured = solve(np.float64(truth), start).numpy()
    found = np.array(0.3)
    for step in range(20):
        slope = ag.func.grad(misfit)(found, start, measured)
        curvature = ag.func.hessian(misfit)(found, start, measured)
        change = slope / abs(curvature)
        found = np.clip(found - change, 0.05, 1.2)
        print(f"step {step}: conductivity {float(found):.6f}")
        if abs(change) < 1e-10:
            break
    return truth, float(found)


if __name__ == "__main__":
    main()
