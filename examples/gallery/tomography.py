"""A look inside: a slice of a body from its shadows, through a kernel of one's own.

The shadows are sums by NumPy's `bincount`, as a library in C would compute them. Two declarations,
of the kernel and of its adjoint, are all that derivatives of every order need.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag

N, ANGLES = 64, np.linspace(0.0, np.pi, 24, endpoint=False)
Y, X = np.mgrid[:N, :N] - (N - 1) / 2
PLACES = [np.rint(N + X * np.cos(a) + Y * np.sin(a)).astype(int).ravel() for a in ANGLES]


@ag.func.custom(vjp=lambda g: back(g), linear=True)
def shadows(image: Any) -> Any:
    """The sums of an image along parallel lines, from each angle."""
    return np.stack([np.bincount(p, image.ravel(), 2 * N) for p in PLACES])


@ag.func.custom(vjp=lambda g: shadows(g), linear=True)
def back(sums: Any) -> Any:
    """The adjoint: each pixel gathers the sums that it is a part of."""
    return sum(row[p] for row, p in zip(sums, PLACES, strict=True)).reshape(N, N)


def body() -> Any:
    """A disk with two holes, and something dense in it."""
    disks = [(0, 0, 26, 1.0), (-9, 6, 8, -0.7), (11, 8, 6, -0.5), (4, -12, 5, 0.8)]
    return sum(h * (((X - x) ** 2 + (Y - y) ** 2) < r**2) for x, y, r, h in disks)


def misfit(image: Any, seen: Any) -> Any:
    """How far the shadows are from those that were seen, and how much the image varies."""
    steps = np.diff(image[:, :-1], axis=0) ** 2 + np.diff(image[:-1, :], axis=1) ** 2
    return ((shadows(image) - seen) ** 2).sum() / 2 + 2.0 * np.sqrt(steps + 1e-4).sum()


def main() -> Any:
    """Find the image, and draw it beside the true one."""
    truth = body()
    seen = shadows(truth) + np.random.default_rng(0).normal(size=(len(ANGLES), 2 * N))
    start = {"method": "L-BFGS-B", "options": {"maxiter": 150}}
    found = ag.optimize.minimize(lambda image: misfit(image, seen), np.zeros((N, N)), **start)
    fig, axes = plt.subplots(1, 3, figsize=(7.2, 2.6))
    shown = {"true": truth, "shadows": seen, "found": found.x}
    for ax, (name, image) in zip(axes, shown.items(), strict=True):
        ax.imshow(image, cmap="gray", aspect="auto")
        ax.set(title=name, xticks=[], yticks=[])
    return fig


if __name__ == "__main__":
    main()
    plt.show()
