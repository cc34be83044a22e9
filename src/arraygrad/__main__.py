"""`python -m arraygrad`: a tour that computes gradients, and shows the code for each."""

from __future__ import annotations

import argparse
import ast
import contextlib
import platform
import sys
import time
from importlib import metadata
from typing import Any

from . import __version__

# Each step runs statement by statement, as at Python's prompt, and prints the code that it runs.
# All steps share one namespace.
STEPS = [
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
        "Other systems' grad, over the same engine: Lucid gives arrays",
        """
        import arraygrad.compat.lucid as lucid
        a = lucid.tensor([2.0, -1.0, 0.5], requires_grad=True)
        b = lucid.tensor([3.0, 4.0, -2.0], requires_grad=True)
        lucid.autograd.grad((lucid.sum(a * b), lucid.sum(a * a)), (a, b))
        """,
    ),
    (
        "PyTorch gives a tuple, in single precision",
        """
        import arraygrad.compat.torch as torch
        x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
        torch.autograd.grad((x * x).sum(), x)
        """,
    ),
    (
        "sorix keeps the graph unless told otherwise",
        """
        import arraygrad.compat.sorix as sorix
        x = sorix.tensor([1.0, -2.0, 3.0], requires_grad=True)
        y = (x**3).sum()
        sorix.grad(y, x)
        sorix.grad(y, x, retain_graph=False)
        """,
    ),
    (
        "torch for R gives a list, and has no scalars",
        """
        from arraygrad.compat.rtorch import autograd_grad, runif, torch_tensor
        w = torch_tensor(0.5, requires_grad=True)
        b = torch_tensor(0.9, requires_grad=True)
        x = torch_tensor(runif(100))
        loss = ((2 * x + 1) - (w * x + b))**2
        autograd_grad(loss.mean(), [w, b])
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
    for number, (title, source) in enumerate(STEPS, 1):
        heading = f"{number}. {title}"
        print(heading, "-" * len(heading), sep="\n")
        show(source, names)
        print()
    print(f"All of this was computed just now, in {time.perf_counter() - start:.1f} seconds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
