"""The best heat sink: a shape of 900 cells, through a sparse solver.

A warm plate loses its heat at the left side only. The gradient of its mean temperature by all cells
costs one more solution of the linear system; finite differences would cost 900.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag
from arraygrad.scipy.sparse import coo_array
from arraygrad.scipy.sparse.linalg import spsolve

N, METAL = 30, 0.4
NODES = np.arange((N + 1) ** 2).reshape(N + 1, N + 1)
CORNERS = [NODES[:-1, :-1], NODES[:-1, 1:], NODES[1:, 1:], NODES[1:, :-1]]
CELLS = np.stack([corner.ravel() for corner in CORNERS], axis=1)
ONE_CELL = np.array([[4, -1, -2, -1], [-1, 4, -1, -2], [-2, -1, 4, -1], [-1, -2, -1, 4]]) / 6
FREE = np.setdiff1d(NODES, NODES[N // 2 - 2 : N // 2 + 3, 0])  # those that are not kept cold


def mean_temperature(metal: Any) -> Any:
    """The mean temperature of the plate, for the part of each cell that is metal."""
    values = (0.001 + 0.999 * metal**3)[:, None, None] * ONE_CELL  # half of a cell is a bad choice
    places = (np.repeat(CELLS, 4, axis=1).ravel(), np.tile(CELLS, 4).ravel())
    system = coo_array((values.reshape(-1), places), shape=(NODES.size, NODES.size)).tocsr()
    heat = np.full(FREE.size, 1.0 / NODES.size)
    return heat @ spsolve(system[FREE, :][:, FREE].tocsc(), heat)


def smoothed(slope: Any) -> Any:
    """The mean of each cell and its neighbours, so that the shape has no chessboards."""
    wide = np.pad(slope.reshape(N, N), 1, mode="edge")
    beside = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    return (wide[1:-1, 1:-1] / 2 + beside / 8).ravel()


def main() -> Any:
    """Move metal to where it cools most, and draw the shape."""
    metal = np.full(N * N, METAL)
    for _ in range(40):
        temperature, slope = ag.func.value_and_grad(mean_temperature)(metal)
        use = np.sqrt(np.maximum(-smoothed(slope), 0.0))
        low, high = 0.0, 1e6
        while high - low > 1e-9 * high:  # the price of metal at which all of it is used
            price = (low + high) / 2
            new = np.clip(metal * use / price, metal - 0.2, metal + 0.2).clip(0.0, 1.0)
            low, high = (price, high) if new.mean() > METAL else (low, price)
        metal = new
    fig, ax = plt.subplots(figsize=(3.6, 3.4))
    ax.imshow(metal.reshape(N, N), cmap="Blues", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], title=f"The best heat sink: temperature {float(temperature):.2f}")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
