"""`python -m arraygrad`: a tour that computes gradients, and shows the code for each."""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import platform
import sys
import time
from importlib import metadata
from typing import Any

from . import __version__

# Each step runs statement by statement, as at Python's prompt, and prints the code that it runs.
# All steps share one namespace. Some need a library, which an extra installs.
STEPS: list[tuple[str, ...]] = [
    (
        "A gradient: one tensor in, one gradient out",
        """
        import arraygrad as ag
        x = ag.tensor([1.0, -2.0, 3.0], requires_grad=True)
        ag.grad((x * x).sum(), x)
        """,
    ),
    (
        "Any structure of inputs gives the same structure of gradients",
        """
        model = {"slope": ag.tensor(0.5, requires_grad=True),
                 "offset": ag.tensor(0.9, requires_grad=True)}
        t = ag.linspace(0.0, 1.0, 100)
        error = (model["slope"] * t + model["offset"]) - (2 * t + 1)
        ag.grad((error**2).mean(), model)
        """,
    ),
    (
        "The same function runs on plain NumPy arrays, and gives plain arrays",
        """
        import numpy as np
        def energy(q):
            return ag.sum(ag.cosh(q) / (1 + q**2))
        energy(np.array([0.0, 1.0]))
        q = ag.tensor([0.0, 1.0], requires_grad=True)
        ag.grad(energy(q), q)
        """,
    ),
    (
        "A Hessian-vector product: differentiate a gradient, without ever building the Hessian",
        """
        def rosenbrock(p):
            return (100 * (p[1:] - p[:-1]**2)**2 + (1 - p[:-1])**2).sum()
        p = ag.tensor([-1.0, 1.0, 0.5, 2.0], requires_grad=True)
        slope = ag.grad(rosenbrock(p), p, create_graph=True)
        ag.grad(slope, p, grad_outputs=ag.tensor([1.0, 0.0, 0.0, 0.0]))
        """,
    ),
    (
        "Or transform functions of plain arrays: the Hessian itself",
        """
        ag.func.hessian(rosenbrock)(np.array([-1.0, 1.0, 0.5, 2.0]))
        """,
    ),
    (
        "A whole Jacobian in one sweep, over a batch of cotangents",
        """
        r, phi = (ag.tensor(v, requires_grad=True) for v in (2.0, 0.5))
        xy = ag.stack([r * ag.cos(phi), r * ag.sin(phi)])
        ag.grad(xy, {"r": r, "phi": phi}, grad_outputs=ag.eye(2), is_grads_batched=True)
        """,
    ),
    (
        "Complex numbers: the direction in which a real function grows fastest",
        """
        z = ag.tensor([3.0 + 4.0j, 1.0 - 1.0j], requires_grad=True)
        ag.grad(ag.abs(z).sum(), z)
        """,
    ),
    (
        "Hooks see gradients on their way, and may change them",
        """
        a = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
        b = a**2
        handle = b.register_hook(lambda g: ag.clip(g, -1.0, 1.0))
        ag.grad((b * ag.tensor([0.5, 5.0, -50.0])).sum(), [b, a])
        handle.remove()
        """,
    ),
    (
        "Fit a small neural network: which points lie in a ring?",
        """
        rng = np.random.default_rng(0)
        points = rng.uniform(-2, 2, size=(300, 2))
        inside = abs(np.hypot(points[:, 0], points[:, 1]) - 1.2) < 0.6
        network = {"in": rng.normal(size=(2, 16)), "shift": rng.normal(size=16),
                   "out": 0.1 * rng.normal(size=16), "bias": np.zeros(())}
        def score(network):
            hidden = ag.tanh(points @ network["in"] + network["shift"])
            return hidden @ network["out"] + network["bias"]
        def loss(network):
            s = score(network)
            return ag.mean(ag.logaddexp(s, 0.0) - inside * s)
        for step in range(1001):
            leaves = {name: ag.tensor(w, requires_grad=True) for name, w in network.items()}
            value = loss(leaves)
            slopes = ag.grad(value, leaves)
            network = {name: w - 0.5 * slopes[name].numpy() for name, w in network.items()}
            if step % 250 == 0:
                print(f"step {step:4}: loss {value.item():.4f}")
        print(f"{np.mean((score(network) > 0) == inside):.1%} of the points are on the right side")
        """,
    ),
    (
        "A gradient for each point at once: vmap of grad",
        """
        def height(at):
            return ag.exp(-at[0]**2) * ag.cos(at[1])
        ag.func.vmap(ag.func.grad(height))(np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]))
        """,
    ),
    (
        "Native code: a pendulum of 10,000 steps, and its gradient",
        """
        def swing(angle):
            def step(state, _):
                angle, speed = state
                speed = speed - 0.001 * ag.sin(angle)
                return (angle + 0.001 * speed, speed), None
            return ag.func.scan(step, (angle, 0 * angle), length=10_000)[0][0]
        fast = ag.compile(ag.func.grad(swing))
        fast(np.array(0.5))
        """,
        "llvmlite",
        "compile",
    ),
    (
        "Through SciPy's solvers: how does the end of a decay depend on its rate?",
        """
        from arraygrad.scipy.integrate import solve_ivp
        def end(rate):
            return solve_ivp(lambda t, y: -rate * y, (0, 2), [3.0], rtol=1e-9).y[0, -1]
        ag.func.grad(end)(np.array(0.5)), -6 * np.exp(-1)
        """,
        "scipy",
        "scipy",
    ),
    (
        "Other systems' grad, over the same engine: PyTorch's, Lucid's, sorix's, torch for R's",
        """
        from arraygrad.compat import lucid, rtorch, sorix, torch
        x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
        torch.autograd.grad((x * x).sum(), x)
        x = lucid.tensor([1.0, -2.0, 3.0], requires_grad=True)
        lucid.autograd.grad(lucid.sum(x * x), x)
        x = sorix.tensor([1.0, -2.0, 3.0], requires_grad=True)
        sorix.grad((x * x).sum(), x)
        x = rtorch.torch_tensor([1.0, -2.0, 3.0], requires_grad=True)
        rtorch.autograd_grad((x * x).sum(), x)
        """,
    ),
]


def show(source: str, names: dict[str, Any]) -> None:
    """Print code and run it, a statement at a time; expressions print their value."""
    lines = [line[8:] for line in source.strip("\n").splitlines()]
    for statement in ast.parse("\n".join(lines)).body:
        first, *rest = lines[statement.lineno - 1 : statement.end_lineno]
        print(">>>", first)
        for line in rest:
            print("...", line)
        exec(compile(ast.Interactive([statement]), "<tour>", "single"), names)


def versions() -> str:
    """The versions of arraygrad, of Python, and of the libraries that are installed with it."""
    found = [
        f"arraygrad {__version__}, Python {platform.python_version()} on {platform.platform()}"
    ]
    for name in ("numpy", "scipy", "llvmlite", "torch", "jax", "dask", "mlx", "cupy"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return ", ".join(found)


def main(arguments: list[str] | None = None) -> int:
    """Run the tour."""
    parser = argparse.ArgumentParser(
        prog="python -m arraygrad",
        description="A tour of arraygrad: a few seconds of gradients, each with its code.",
    )
    parser.add_argument("--version", action="version", version=versions())
    parser.parse_args(arguments)
    start = time.perf_counter()
    names: dict[str, Any] = {}
    for number, (title, source, *needs) in enumerate(STEPS, 1):
        heading = f"{number}. {title}"
        print(heading, "-" * len(heading), sep="\n")
        if needs and importlib.util.find_spec(needs[0]) is None:
            print(f"left out, because {needs[0]} is missing: pip install 'arraygrad[{needs[1]}]'")
        else:
            show(source, names)
        print()
    print(f"All of this was computed just now, in {time.perf_counter() - start:.1f} seconds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
