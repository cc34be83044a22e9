"""Three bodies on one curve: an orbit that closes, found through an ODE solver.

The body in the middle flies one way; the others fly half as fast against it. A solver of equations
finds the speed and the period for which all bodies return. Its Jacobian goes through `solve_ivp`.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag
from arraygrad.scipy.integrate import solve_ivp
from arraygrad.scipy.optimize import least_squares

PLACES = np.array([[-0.97000436, 0.24308753], [0.97000436, -0.24308753], [0.0, 0.0]])


def motion(t: Any, state: Any) -> Any:
    """The derivative of all places and speeds."""
    places, speeds = state[:6].reshape(3, 2), state[6:]
    apart = places[None, :, :] - places[:, None, :]
    distance = np.sqrt((apart**2).sum(axis=2) + np.eye(3))
    pulls = (apart / distance[:, :, None] ** 3).sum(axis=1)
    return np.concatenate([speeds, pulls.reshape(-1)])


def start(unknown: Any) -> Any:
    """The first state, for the speed of the body in the middle."""
    middle = unknown[:2]
    return np.concatenate([PLACES.ravel(), -middle / 2, -middle / 2, middle])


def gap(unknown: Any) -> Any:
    """How far the bodies are from their start after the period, the last unknown."""
    first = start(unknown)
    flight = solve_ivp(motion, (0.0, unknown[2]), first, method="DOP853", rtol=1e-9, atol=1e-9)
    return flight.y[:, -1] - first


def main() -> Any:
    """Close the orbit, and draw it."""
    guess = np.array([-0.93, -0.87, 6.3])
    found = least_squares(gap, guess, jac=ag.func.jacobian(gap), ftol=1e-14)
    times = np.linspace(0.0, found.x[2], 300)
    flight = solve_ivp(motion, (0.0, found.x[2]), start(found.x), t_eval=times, rtol=1e-9)
    fig, ax = plt.subplots(figsize=(5.6, 2.6))
    ax.plot(flight.y[0], flight.y[1], color="#2a6fbb")
    ax.plot(*PLACES.T, "o", color="#d1661c")
    ax.quiver(*PLACES.T, *start(found.x)[6:].reshape(3, 2).T, color="#d1661c", width=0.004)
    ax.set(aspect="equal", ylim=(-0.5, 0.5))
    ax.set_title(f"Period {found.x[2]:.4f}, speed ({found.x[0]:.4f}, {found.x[1]:.4f})")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
