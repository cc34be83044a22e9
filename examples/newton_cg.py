"""Minimise with SciPy, given exact gradients and Hessian-vector products.

SciPy's Newton-CG needs the Hessian only in products with a vector. Differentiating the gradient
gives them at the price of a few gradients, however many variables there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize

import arraygrad as ag


def chained_rosenbrock(x: Any) -> Any:
    """A curved valley in many dimensions, with its lowest point, 0, at (1, 1, …, 1)."""
    return ag.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def gradient(x: Any) -> Any:
    """The slope of the valley at `x`, for SciPy: NumPy in, NumPy out."""
    leaf = ag.tensor(x, requires_grad=True)
    return ag.grad(chained_rosenbrock(leaf), leaf).numpy()


def hessian_times(x: Any, direction: Any) -> Any:
    """The Hessian at `x` times a direction."""
    leaf = ag.tensor(x, requires_grad=True)
    slope = ag.grad(chained_rosenbrock(leaf), leaf, create_graph=True)
    return ag.grad(slope, leaf, grad_outputs=direction).numpy()


def main(size: int = 1000) -> OptimizeResult:
    """Minimise in `size` dimensions."""
    result = minimize(
        chained_rosenbrock,
        np.full(size, 0.5),
        jac=gradient,
        hessp=hessian_times,
        method="Newton-CG",
        options={"xtol": 1e-10},
    )
    print(f"{size} variables: {result.nit} steps, {result.nhev} Hessian-vector products")
    print(f"lowest value {result.fun:.2e}, largest distance {np.abs(result.x - 1).max():.2e}")
    return result


if __name__ == "__main__":
    main()
