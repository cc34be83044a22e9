"""A network that obeys an equation: a program in the way of JAX.

With the imports of JAX, and optax for `ag.optim`, it is a program for JAX. The network learns how
a string with fixed ends swings, from the wave equation alone.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import arraygrad as ag
import arraygrad as jnp
from arraygrad.func import grad, value_and_grad, vmap

KEYS, SIZES = ag.random.split(ag.random.key(0), 4), ((2, 32), (32, 32), (32, 1))


def height(params: Any, t: Any, x: Any) -> Any:
    """The height of the string: a sine at first, at rest, and never moved at its ends."""
    first, second, (w, b) = params
    h = jnp.tanh(jnp.tanh(jnp.stack([t, x]) @ first[0] + first[1]) @ second[0] + second[1])
    return jnp.sin(jnp.pi * x) + t**2 * x * (1 - x) * (h @ w + b)[0]


def residual(params: Any, t: Any, x: Any) -> Any:
    """What the wave equation lacks at one point: two second derivatives of the network."""
    by_time = grad(grad(height, argnums=1), argnums=1)(params, t, x)
    return by_time - grad(grad(height, argnums=2), argnums=2)(params, t, x)


def loss(params: Any, t: Any, x: Any) -> Any:
    """The mean square of what the equation lacks, over many points."""
    return jnp.mean(vmap(residual, in_axes=(None, 0, 0))(params, t, x) ** 2)


def main() -> Any:
    """Train, and draw the string at some times, beside the exact solution."""
    t, x = ag.random.uniform(KEYS[3], (2, 200))
    pairs = zip(KEYS, SIZES, strict=False)
    params: Any = [(ag.random.normal(k, s) / s[0] ** 0.5, jnp.zeros(s[1])) for k, s in pairs]
    adam, step = ag.optim.adam(ag.optim.cosine(1e-2, 1500)), ag.compile(value_and_grad(loss))
    state = adam.init(params)
    for _ in range(1500):
        value, slope = step(params, t, x)
        change, state = adam.update(slope, state, params)
        params = ag.optim.apply(params, change)
    fig, ax = plt.subplots(figsize=(5.6, 2.8))
    line = np.linspace(0, 1, 31)
    for now in np.linspace(0, 1, 5):
        ax.plot(line, vmap(height, in_axes=(None, None, 0))(params, now, line), color="#2a6fbb")
        ax.plot(line, np.cos(np.pi * now) * np.sin(np.pi * line), ".", color="#d1661c")
    ax.set_title(f"A string: the network (lines), the exact solution (dots); loss {value:.3f}")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
