"""A pendulum is swung up: 400 pushes of a weak motor, through a compiled loop.

`func.scan` is the loop; `ag.compile` makes one native program of it and of its gradient.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import arraygrad as ag

STEP, STEPS, STRENGTH = 0.04, 400, 0.4  # the motor cannot hold the pendulum at the side


def swing(pushes: Any) -> Any:
    """The angles of the pendulum; it hangs at 0, and stands at π."""

    def step(state: Any, push: Any) -> Any:
        angle, speed = state
        speed = speed + STEP * (STRENGTH * ag.tanh(push) - ag.sin(angle) - 0.05 * speed)
        angle = angle + STEP * speed
        return (angle, speed), (angle, speed)

    _, path = ag.func.scan(step, (ag.asarray(0.0), ag.asarray(0.0)), pushes)
    return path


def cost(pushes: Any) -> Any:
    """How far the pendulum is from standing still at its end, and how much was pushed."""
    angles, speeds = swing(pushes)
    end = 1 + ag.cos(angles[-50:]) + speeds[-50:] ** 2
    return ag.sum(end) + 0.01 * ag.sum(pushes**2)


def main() -> Any:
    """Find the pushes, and draw them with the angle."""
    value_and_slope = ag.compile(ag.func.value_and_grad(cost))
    first = 0.5 * np.sin(np.arange(STEPS) * STEP)
    found = minimize(value_and_slope, first, jac=True, method="L-BFGS-B", tol=1e-12)
    times = STEP * np.arange(STEPS)
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(5.6, 3.2), sharex=True)
    top.plot(times, np.asarray(swing(found.x)[0]), color="#2a6fbb")
    for standing in (-np.pi, np.pi):
        top.axhline(standing, color="#9aa3ad", lw=0.8, ls=":")
    top.set_title(f"The angle; cost {found.fun:.2f}")
    bottom.fill_between(times, STRENGTH * np.tanh(found.x), color="#d1661c", step="mid", lw=0)
    bottom.set_title("What the motor does")
    bottom.set_xlabel("t")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
